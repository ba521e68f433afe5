package machine_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/machine"
)

// section returns the code of a section of the package's documentation.
func section(t *testing.T, title string) string {
	source, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(source), "\n// # "+title+"\n")
	require.True(t, ok)
	text, _, _ := strings.Cut(rest, "\n// # ")
	var code strings.Builder
	for line := range strings.Lines(text) {
		if line, ok := strings.CutPrefix(line, "//\t"); ok {
			code.WriteString(line)
		}
	}
	return code.String()
}

// keysDocument is the document that explains the keys, without the other spellings after it.
func keysDocument(t *testing.T) string {
	text, _, ok := strings.Cut(section(t, "Keys"), "schemas ")
	require.True(t, ok)
	return text
}

func load(t testing.TB, text string) *machine.World {
	checked, err := machine.Load("w.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(t, err)
	world, ok := machine.Of(checked.Workflow)
	require.True(t, ok)
	return world
}

// The document of all keys loads, and each key with the default value may be left out.
func TestTheDocumentOfAllKeys(t *testing.T) {
	text := keysDocument(t)
	checked, err := machine.Load("keys.yaml", []byte(text), template.Known{})
	require.NoError(t, err)
	requireRoundTrip(t, checked)
	hash, err := checked.Workflow.Hash()
	require.NoError(t, err)
	for _, line := range []string{"    payload: .*\n", "    lifecycle: .*\n", "    context: .*\n", "    fan_in: .*\n"} {
		short := regexp.MustCompile(line).ReplaceAllString(text, "")
		require.Less(t, len(short), len(text), line)
		without, err := machine.Load("short.yaml", []byte(short), template.Known{})
		require.NoError(t, err)
		other, err := without.Workflow.Hash()
		require.NoError(t, err)
		if strings.Contains(line, "payload") || strings.Contains(line, "fan_in") {
			require.NotEqual(t, hash, other, line) // these are written out
			continue
		}
		require.Equal(t, hash, other, line)
	}
	world, _ := machine.Of(checked.Workflow)
	require.Equal(t, []string{"pay", "ship", "timer"}, world.Machine("order").Emits)
	require.Equal(t, 8, world.Effect("pay").Max)
	require.Equal(t, "warehouse.ship", world.Effect("ship").Executor)
	require.Equal(t, "pay", world.Effect("pay").Executor)
	require.Equal(t, &machine.Implementation{Name: "ledger", Version: "3"}, world.Machine("ledger").Go)
}

// The failures are the ones in the table of the documentation.
func TestTheTableOfFailures(t *testing.T) {
	var codes []string
	for line := range strings.Lines(section(t, "Failures")) {
		codes = append(codes, strings.Fields(line)[0])
	}
	require.Equal(t, []string{machine.CodeEffectUndeclared, machine.CodeParamsInvalid, machine.CodeOutputInvalid,
		machine.CodeLimitExceeded, machine.CodeStepFailed, machine.CodeStepPanicked, machine.CodeStepImpure, machine.CodeTimeout}, codes)
	require.Contains(t, section(t, "Failures"), "64 effects and timers, 256 messages, 1 MiB")
	require.Equal(t, []int{64, 256, 1 << 20}, []int{machine.EmittedMax, machine.RaisedMax, machine.OutputMax})

	page, err := os.ReadFile("../../docs/world.md")
	require.NoError(t, err)
	var listed []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| [^|]* \\|$").FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, row[1])
	}
	require.Equal(t, append([]string{"failed", "waiting", "running", "completed"}, codes...), listed)
	for what, limit := range map[string]int{"effects and timers": machine.EmittedMax, "messages": machine.RaisedMax, "bytes of its output": machine.OutputMax} {
		require.Contains(t, string(page), fmt.Sprintf("| %s | %d |\n", what, limit))
	}
}

// Both spellings of a world have one document.
func TestBothSpellingsAreOneWorld(t *testing.T) {
	ours := `
kind: World
name: w
types: {Ping: {record: {id: text, list: list<int>}}}
effects: {e: {params: unit, receipt: option<Ping>}}
machines:
  b: {key: text, state: Ping, event: [Ping, Receipt], emits: [timer, e], context: true, annotations: text,
      rules: [{event: Ping, emit: [{timer: t, for: PT60S}]}, {event: e, complete: true, delete: false}]}
  a: {state: {record: {n: nat}}, event: [Ping], emits: []}
routing: {subscriptions: [{event: Ping, machine: a}, {event: Ping, machine: b, key_field: id}]}
`
	theirs := `
x-free: 1
routing: {subscriptions: [{event: Ping, workflow: a}, {event: {ref: Ping}, op: b, key_field: id}]}
workflows:
  a: {state: {record: {n: {nat: {}}}}, event: Ping, effects_emitted: [], lifecycle: process}
  b: {key_schema: {text: {}}, state: {ref: Ping}, event: [sys/EffectReceiptEnvelope@1, {ref: Ping}], effects_emitted: [e, timer],
      context: sys/WorkflowContext@1, annotations: {text: {}},
      rules: [{event: Ping, emit: [{for: PT1M, timer: t}], complete: false}, {event: e, complete: true}]}
effects: {e: {receipt: {option: {ref: Ping}}, params: {unit: {}}, operation: e}}
schemas: {Ping: {record: {list: {list: {int: {}}}, id: {text: {}}}}}
name: w
kind: World
`
	first, second := load(t, ours), load(t, theirs)
	require.Equal(t, first.Document(), second.Document())
	for i, m := range first.Machines {
		require.Equal(t, m.Hash, second.Machines[i].Hash)
	}
}

// The hash of a machine or an effect changes with its meaning, also with a type that it only names.
func TestHashesBindTypes(t *testing.T) {
	world := func(inner, params string) *machine.World {
		return load(t, `
kind: World
name: w
types: {Inner: `+inner+`, Outer: {record: {in: list<Inner>}}}
effects: {e: {params: `+params+`, receipt: unit, http: {url: "http://127.0.0.1/a"}}, f: {params: text, receipt: unit}}
machines: {a: {state: Outer, event: [], emits: [e]}, b: {state: text, event: [], emits: [f]}}
`)
	}
	first := world("text", "Outer")
	require.Regexp(t, `^sha256:[0-9a-f]{64}$`, first.Effect("e").Hash)
	other := world("int", "Outer")
	require.NotEqual(t, first.Effect("e").Hash, other.Effect("e").Hash)
	require.NotEqual(t, first.Machine("a").Hash, other.Machine("a").Hash)
	require.Equal(t, first.Effect("f").Hash, other.Effect("f").Hash)
	require.Equal(t, first.Machine("b").Hash, other.Machine("b").Hash)
	require.NotEqual(t, first.Effect("e").Hash, world("text", "Inner").Effect("e").Hash)
}
