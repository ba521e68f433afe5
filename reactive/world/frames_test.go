package world_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// framesWorld has a machine that records each frame of a stream and its end.
const framesWorld = `
kind: World
name: frames
types:
  Open: {record: {id: text}}
effects:
  stream: {params: {record: {id: text}}, receipt: text}
machines:
  reader:
    key: text
    state: {record: {log: list<text>}}
    event: [Open, Frame]
    emits: [stream]
    lifecycle: entity
    rules:
      - {event: Open, set: {log: []}, emit: [{effect: stream, params: {id: "{{ key }}"}}]}
      - {event: Frame, set: {log: "{{ concat(state.log, [string(event.number) + event.kind + event.payload]) }}"}}
      - {event: stream, set: {log: "{{ concat(state.log, ['end ' + event.payload]) }}"}}
routing: {subscriptions: [{event: Open, machine: reader, key_field: id}]}
`

// TestFrames: a repeated number is journaled but not delivered, a gap is accepted, the end settles, and a frame after it is
// late. A call that is made again after a crash repeats its frames, which are not delivered twice.
func TestFrames(t *testing.T) {
	for _, restart := range []string{"no", "replayed", "restored"} {
		t.Run(restart, func(t *testing.T) {
			d := drive(t, framesWorld)
			require.NoError(t, d.send("Open", map[string]any{"id": "a"}, ""))
			open := d.root.OpenCalls()
			require.Len(t, open, 1)
			req, making := open[0], int32(1)
			report := func(number int32) error {
				e := decide.Reported(req, making, number, "p", "x")
				e.Node = d.root.Key(req.Node)
				return d.take(e)
			}
			log := func() string {
				c, ok := world.Of(d.root).Cell("reader[a]")
				require.True(t, ok)
				var list []string
				for _, x := range c.State.(map[string]any)["log"].([]any) {
					list = append(list, x.(string))
				}
				return strings.Join(list, " ")
			}
			require.NoError(t, report(1))
			require.NoError(t, report(2))
			require.Equal(t, "1px 2px", log())
			stepped := world.Of(d.root).Tally().Stepped
			require.NoError(t, report(2))
			require.Equal(t, "1px 2px", log())
			require.Equal(t, stepped, world.Of(d.root).Tally().Stepped)
			require.Equal(t, journal.CallReported, d.events[len(d.events)-1].Type, "it is journaled")
			if restart != "no" {
				var root *reactive.Root
				var err error
				if e := d.snapshot(); restart == "restored" {
					root, err = d.restored(&e)
				} else {
					root = d.replayed()
				}
				require.NoError(t, err)
				require.Equal(t, d.digest(d.root), d.digest(root))
				d.use(root)
				again := d.root.OpenCalls()
				require.Len(t, again, 1)
				require.Equal(t, "reader[a].stream@3.0", d.root.Key(again[0].Node))
				req, making = again[0], 2
				require.NoError(t, report(1))
				require.NoError(t, report(2))
				require.Equal(t, "1px 2px", log())
			}
			require.Zero(t, world.Of(d.root).Tally().Gaps)
			require.NoError(t, report(4))
			require.Equal(t, "1px 2px 4px", log())
			require.Equal(t, 1, world.Of(d.root).Tally().Gaps, "it is accepted, and counted")
			require.Equal(t, 4, world.LastFrame(world.Of(d.root), "reader[a].stream@3.0"))
			counted := "it has reported 3 times, the last time \"p\" at 2026-01-01T00:00:00Z; repeated: 1; missing: 1"
			if making == 2 {
				counted = strings.Replace(counted, "repeated: 1", "repeated: 3", 1)
			}
			require.Equal(t, counted, d.root.Reports(req.Node).Text())
			require.Contains(t, d.explained("reader[a]"), counted)
			e := decide.Ending(req, call.Result{Output: "done"})
			e.Node = d.root.Key(req.Node)
			d.turn(decide.Item{Event: e})
			require.Equal(t, "1px 2px 4px end done", log())
			c, _ := world.Of(d.root).Cell("reader[a]")
			require.Empty(t, c.Intents)
			require.Equal(t, counted, d.explained("reader[a].stream@3.0"), "also at the end")
			before := len(d.events)
			require.Error(t, d.take(func() journal.Event {
				e := decide.Reported(req, making, 5, "p", "x")
				e.Node = "reader[a].stream@3.0"
				return e
			}()))
			require.Len(t, d.events, before, "it is late")
			require.Equal(t, "1px 2px 4px end done", log())
		})
	}
}

// explained returns the texts of the reasons for the status of a part of the world, as of its journal.
func (d *driver) explained(name string) string {
	x := inspect.NewExplainer("r", name, decide.NewRoot(d.plan))
	for i := range d.events {
		e := d.events[i]
		x.Apply(&e)
	}
	why, err := x.Explain(name)
	require.NoError(d.t, err)
	return textsOf(why.Reasons)
}

func textsOf(reasons []explain.Reason) string {
	var texts []string
	for _, r := range reasons {
		texts = append(texts, r.Text, textsOf(r.Reasons))
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}
