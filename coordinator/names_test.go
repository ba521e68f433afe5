package coordinator_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/httpapi/tokens"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/coordinator/workers/door"
	"github.com/sluiceflow/sluice/coordinator/workers/wire"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// unseen has characters that are invisible, or change the visible text, with their names in refusals.
var unseen = map[string]string{
	"\x00": "U+0000", "\n": "U+000A", "\x1b": "U+001B", "\u0085": "U+0085", "\u00a0": "U+00A0", "\u200b": "U+200B", "\u202e": "U+202E",
	"\u2066": "U+2066", "\ufeff": "U+FEFF", "\U000e0041": "U+E0041", "\xff": "UTF-8",
}

// named is an engine that receives names.
type named struct {
	*coordinator.Engine
	t          *testing.T
	run, world *coordinator.Run
	tokens     *tokens.Keep
}

func (n *named) start(opts ...coordinator.Option) error {
	_, err := n.Start(n.t.Context(), parse(n.t, `{kind: Workflow, name: w, steps: [{operation: echo}]}`), nil, opts...)
	return err
}

func (n *named) load(format string, args ...any) error {
	_, err := kinds.Load("w.yaml", fmt.Appendf(nil, format, args...), template.Known{})
	return err
}

func (n *named) message(name, id string) error {
	_, err := n.world.SendMessage(n.t.Context(), cells.Message{Name: name, ID: id, Payload: map[string]any{"id": "a", "n": 1}})
	return err
}

// cancelled returns a context that has ended: a request that is not refused does not wait.
func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// names are all names that people and programs set, each with the text that identifies it in a refusal, and a function that sets it.
var names = []struct {
	what, place string
	give        func(n *named, name string) error
}{
	{"id of a run", "run id:", func(n *named, name string) error { return n.start(coordinator.WithID(name)) }},
	{"key of a run", "key ", func(n *named, name string) error { return n.start(coordinator.WithKey(name)) }},
	{"label", "label ", func(n *named, name string) error {
		return n.start(coordinator.WithLabels(map[string]string{name: "x"}))
	}},
	{"actor of a start", "actor ", func(n *named, name string) error { return n.start(coordinator.WithActor(name)) }},
	{"actor of a command", "actor ", func(n *named, name string) error { return n.run.As(name).Pause(n.t.Context(), "") }},
	{"message", "message ", func(n *named, name string) error { return n.run.Send(n.t.Context(), name, nil) }},
	{"key of a message", "key ", func(n *named, name string) error {
		return n.run.Send(n.t.Context(), "go", nil, coordinator.WithKey(name))
	}},
	{"message of a world", "message ", func(n *named, name string) error { return n.message(name, "") }},
	{"id of a message of a world", `id of message "Add":`, func(n *named, name string) error { return n.message("Add", name) }},
	{"label of a query", "column ", func(n *named, name string) error {
		_, err := query.Parse(fmt.Sprintf("label.%s:x", name), time.Now())
		return err
	}},
	{"label of a list", "label ", func(_ *named, name string) error { return new(query.Query).WithLabel(name, "x") }},
	{"worker", "worker ", func(n *named, name string) error {
		_, err := door.Door{Hub: n.Workers(), Any: true}.Take(cancelled(n.t), &wire.TakeBody{Worker: name, Operations: []string{"x"}})
		return err
	}},
	{"token", "tokens: a name has", func(n *named, name string) error {
		_, err := n.tokens.Create(name, "viewer", time.Now(), time.Time{})
		return err
	}},
	{"workflow", "w.yaml:1:", func(n *named, name string) error {
		return n.load(`{kind: Workflow, name: %q, steps: [{operation: echo}]}`, name)
	}},
	{"step", "w.yaml:1:", func(n *named, name string) error {
		return n.load(`{kind: Workflow, name: w, steps: [{id: %q, operation: echo}]}`, name)
	}},
	{"message that is awaited", "w.yaml:1:", func(n *named, name string) error {
		return n.load(`{kind: Workflow, name: w, operations: {wait: {wait: {message: %q}}}, steps: [{operation: wait}]}`, name)
	}},
	{"participant", "w.yaml:1:", func(n *named, name string) error {
		return n.load(`{kind: Workflow, name: w, steps: [{operation: echo, target: {resolve: static, participants: [%q]}}]}`, name)
	}},
}

// TestNamesCanBeSeen: no name that people and programs set has invisible characters. The refusal identifies the name, shows it, and has a
// remedy; and nothing is journaled.
func TestNamesCanBeSeen(t *testing.T) {
	n := &named{t: t, Engine: newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}, Workers: []byte("a key for leases of these tests 32")})}
	var err error
	n.tokens = tokens.Of(t.TempDir())
	n.run, err = n.Start(t.Context(), parse(t, `{kind: Workflow, name: w, operations: {wait: {wait: {message: go}}}, steps: [{operation: wait}]}`), nil)
	require.NoError(t, err)
	checked, err := kinds.Load("count.yaml", []byte(countWorld), template.Known{})
	require.NoError(t, err)
	n.world, err = n.Start(t.Context(), checked.Workflow, nil)
	require.NoError(t, err)
	runs := func() (list []journal.Head) {
		for head, err := range n.Runs(t.Context(), "") {
			require.NoError(t, err)
			list = append(list, head)
		}
		return list
	}
	before := runs()
	for _, name := range names {
		for character, shown := range unseen {
			if strings.HasPrefix(name.place, "w.yaml") && character == "\xff" {
				continue // an escape of YAML is a character
			}
			if name.what == "label of a query" && strings.TrimSpace(character) == "" {
				continue // the term ends there
			}
			given := "pay" + character + "ments"
			err := name.give(n, given)
			require.Error(t, err, "%s %q", name.what, given)
			if character != "\xff" || !strings.Contains(err.Error(), "is not UTF-8") { // that text identifies the name itself
				require.Contains(t, err.Error(), name.place, "%s %q", name.what, given)
			}
			require.NotContains(t, err.Error(), given, "%s: it is shown as it is", name.what)
			require.Contains(t, err.Error(), "pay", name.what)
			if name.what != "token" && name.what != "workflow" && character != "\xff" { // their names are restricted further
				require.Regexp(t, `remove the character `+regexp.QuoteMeta(shown)+`|has no spaces`, err.Error(), name.what)
			}
		}
	}
	require.Equal(t, before, runs(), "nothing was journaled")
}

// TestAWaitForAMessageThatCannotBeSent fails: no message can have that name, or no name.
func TestAWaitForAMessageThatCannotBeSent(t *testing.T) {
	e := newEngine(t, coordinator.Config{})
	w := parse(t, `{kind: Workflow, name: w, operations: {wait: {wait: {message: "{{ input }}"}}}, steps: [{operation: wait, input: "{{ input }}"}]}`)
	for name, says := range map[any]string{"a\u200bb": "remove the character U+200B", "": "the name of the message is empty", nil: "the name of the message is null"} {
		result := run(t, e, w, name)
		require.ErrorContains(t, result.Err(), says)
	}
}

// TestTheKeyOfACellIsData: it may be any text. The address of the cell has control characters as numbers.
func TestTheKeyOfACellIsData(t *testing.T) {
	e := newEngine(t, coordinator.Config{})
	checked, err := kinds.Load("count.yaml", []byte(countWorld), template.Known{})
	require.NoError(t, err)
	r, err := e.Start(t.Context(), checked.Workflow, nil)
	require.NoError(t, err)
	for key, address := range map[string]string{"a\x00b": "sum[a%00b]", "a\n b": "sum[a%0A%20b]", "naïve": "sum[naïve]"} {
		sent, err := r.SendMessage(t.Context(), cells.Message{Name: "Add", Payload: map[string]any{"id": key, "n": 1}})
		require.NoError(t, err)
		require.Equal(t, []string{address}, sent.Cells)
		state, err := r.Cell(t.Context(), address)
		require.NoError(t, err)
		require.Equal(t, map[string]any{"n": int64(1)}, state.State)
	}
}
