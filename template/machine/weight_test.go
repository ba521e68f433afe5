package machine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/machine"
)

// TestAllThatAStepGivesIsWeighed: the size of the event of an activation has a bound, for bytes in any part of it.
func TestAllThatAStepGivesIsWeighed(t *testing.T) {
	w := load(t, `
kind: World
name: w
types: {Far: {record: {id: text}}}
effects: {pay: {params: text, receipt: unit}}
machines:
  m: {key: text, state: text, event: [Far], emits: [pay, timer], annotations: text, go: {name: m, version: "1"}}
  n: {key: text, state: text, event: [Far], emits: []}
routing: {subscriptions: [{event: Far, machine: m, key_field: id}, {event: Far, machine: n, key_field: id}]}
`)
	in := &machine.Input{Machine: w.Machine("m"), Key: "k"}
	effects := func(e machine.GivenEffect) *machine.Given {
		g := &machine.Given{State: "s"}
		for range 50 {
			g.Emitted = append(g.Emitted, e)
		}
		return g
	}
	for name, give := range map[string]func(text string) *machine.Given{
		"params": func(text string) *machine.Given { return effects(machine.GivenEffect{Effect: "pay", Params: text}) },
		"issuer": func(text string) *machine.Given {
			return effects(machine.GivenEffect{Effect: "pay", Params: "", Issuer: text})
		},
		"key": func(text string) *machine.Given {
			return effects(machine.GivenEffect{Effect: "pay", Params: "", Key: text})
		},
		"timer": func(text string) *machine.Given { return effects(machine.GivenEffect{Timer: text}) },
		"state": func(text string) *machine.Given { return &machine.Given{State: strings.Repeat(text, 50)} },
		"note": func(text string) *machine.Given {
			return &machine.Given{State: "s", Noted: true, Note: strings.Repeat(text, 50)}
		},
		"addresses": func(text string) *machine.Given {
			g := &machine.Given{State: "s"}
			for range 250 { // each with a payload and two addresses of a fifteenth
				g.Raised = append(g.Raised, machine.GivenEvent{Name: "Far", Value: map[string]any{"id": text[:len(text)/15]}})
			}
			return g
		},
	} {
		_, failure := w.Check(in, give(strings.Repeat("x", 20_000)))
		require.Nil(t, failure, name)
		_, failure = w.Check(in, give(strings.Repeat("x", 22_000)))
		require.NotNil(t, failure, name)
		require.Equal(t, machine.CodeLimitExceeded, failure.Code, name)
	}
}

func TestTheKeyOfACellHasABound(t *testing.T) {
	w := load(t, `
kind: World
name: w
types: {Go: {record: {id: text}}}
machines: {m: {key: text, state: unit, event: [Go], emits: []}}
routing: {subscriptions: [{event: Go, machine: m, key_field: id}]}
`)
	const head = 3 // bytes of the encoding before such a text
	_, err := w.Route("Go", map[string]any{"id": strings.Repeat("x", machine.KeyBytesMax-head)})
	require.NoError(t, err)
	_, err = w.Route("Go", map[string]any{"id": strings.Repeat("x", machine.KeyBytesMax-head+1)})
	require.EqualError(t, err, `/id: is the key of machine "m" and must have at most 4096 bytes`)
}
