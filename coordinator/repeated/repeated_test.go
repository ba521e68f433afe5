package repeated_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/repeated"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/value"
)

// TestAKeyBelongsToItsFirstMessage: a message with the key of an earlier one counts as the earlier one if it is the same; otherwise it is
// refused, with the number, the name and the key of the earlier one.
func TestAKeyBelongsToItsFirstMessage(t *testing.T) {
	type message struct{ Name, Payload string }
	e, w := engine(t), hears(t)
	rapid.Check(t, func(t *rapid.T) {
		run, err := e.Start(t.Context(), w, nil)
		require.NoError(t, err)
		first := map[string]message{} // by key
		seqs := map[string]uint64{}
		for range rapid.IntRange(1, 12).Draw(t, "messages") {
			key := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "key")
			m := message{rapid.SampledFrom([]string{"paid", "sent"}).Draw(t, "name"), rapid.SampledFrom([]string{`1`, `{"a": [1], "b": 2}`, `null`, `""`}).Draw(t, "payload")}
			payload, err := value.ParseInput(json.RawMessage(m.Payload))
			require.NoError(t, err)
			err = repeated.Send(t.Context(), run, key, m.Name, payload, func() error {
				return run.Send(t.Context(), m.Name, payload, coordinator.WithKey(key))
			})
			was, known := first[key]
			switch {
			case key == "" || known && was == m:
				require.NoError(t, err)
			case known:
				require.ErrorIs(t, err, repeated.ErrOther)
				e := at(t, run, seqs[key])
				require.Equal(t, []string{was.Name, key}, []string{e.Detail.Name, e.Detail.ID})
				require.True(t, strings.Contains(err.Error(), `"`+was.Name+`"`) && strings.Contains(err.Error(), `"`+key+`"`), err)
			default:
				require.NoError(t, err)
				first[key] = m
				seqs[key], err = run.Last(t.Context())
				require.NoError(t, err)
			}
		}
	})
}

// TestAnIdBelongsToItsFirstMessageToAWorld: the same message in any spelling has the receipt of the first; any other is refused, also one
// that the world would not take.
func TestAnIdBelongsToItsFirstMessageToAWorld(t *testing.T) {
	e := engine(t)
	c, err := kinds.Load("test.yaml", []byte(`{kind: World, name: w, types: {Add: {record: {id: text, tags: set<text>, memo: option<text>}}, Sub: {record: {id: text}}},
  machines: {m: {key: text, state: {record: {n: nat}}, event: [Add, Sub], emits: [], rules: [{event: Add, set: {n: 1}}]}},
  routing: {subscriptions: [{event: Add, machine: m, key_field: id}, {event: Sub, machine: m, key_field: id}]}}`), template.Known{})
	require.NoError(t, err)
	run, err := e.Start(t.Context(), c.Workflow, nil)
	require.NoError(t, err)
	send := func(name, payload, id string) (cells.Sent, error) {
		v, err := value.ParseInput(json.RawMessage(payload))
		require.NoError(t, err)
		return repeated.SendToWorld(t.Context(), run, cells.Message{Name: name, Payload: v, ID: id})
	}
	first, err := send("Add", `{"id": "a", "tags": ["y", "x", "y"]}`, "k")
	require.NoError(t, err)
	taken := first
	for _, same := range []string{`{"id": "a", "tags": ["y", "x", "y"]}`, `{"id": "a", "tags": ["x", "y"], "memo": null}`} {
		again, err := send("Add", same, "k")
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
	for _, m := range [][2]string{{"Add", `{"id": "b", "tags": ["x", "y"]}`}, {"Add", `{"id": "a"}`}, {"Sub", `{"id": "a"}`}, {"Nothing", `null`}} {
		_, err := send(m[0], m[1], "k")
		require.ErrorIs(t, err, repeated.ErrOther, m)
		require.ErrorContains(t, err, `#2, the message "Add" with the id "k"`)
	}
	for range 2 { // without an id, each is another message
		before := first.Seq
		first, err = send("Add", `{"id": "a", "tags": []}`, "")
		require.NoError(t, err)
		require.Greater(t, first.Seq, before)
	}
	for range 3 {
		_, err := run.Snapshot(t.Context())
		require.NoError(t, err)
		_, err = send("Add", `{"id": "a", "tags": []}`, "")
		require.NoError(t, err)
	}
	gone, err := run.Trim(t.Context(), 1, false)
	require.NoError(t, err)
	require.Equal(t, uint64(2), gone.From)
	again, err := send("Sub", `{"id": "a"}`, "k") // what the first one was is not known any more
	require.NoError(t, err)
	require.Equal(t, taken, again)
}

// TestAStartWithAKeyIsKnownByItsContent: after a restart, only the journal shows whether a run was started before.
func TestAStartWithAKeyIsKnownByItsContent(t *testing.T) {
	e := engine(t)
	_, err := e.Start(t.Context(), hears(t), value.Value(int64(7)), coordinator.WithID("r"), coordinator.WithLabels(map[string]string{"team": "a"}))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		id    string
		start repeated.Start
		want  bool
		err   error
	}{
		"the same":         {"r", repeated.Start{Name: "hears", Input: json.RawMessage(`7`), Labels: map[string]string{"team": "a"}}, true, nil},
		"no run":           {"s", repeated.Start{Name: "hears", Input: json.RawMessage(`7`)}, false, nil},
		"another workflow": {"r", repeated.Start{Name: "other", Input: json.RawMessage(`7`), Labels: map[string]string{"team": "a"}}, false, repeated.ErrOther},
		"another input":    {"r", repeated.Start{Name: "hears", Input: json.RawMessage(`8`), Labels: map[string]string{"team": "a"}}, false, repeated.ErrOther},
		"no input":         {"r", repeated.Start{Name: "hears", Labels: map[string]string{"team": "a"}}, false, repeated.ErrOther},
		"other labels":     {"r", repeated.Start{Name: "hears", Input: json.RawMessage(`7`)}, false, repeated.ErrOther},
		"unreadable input": {"r", repeated.Start{Name: "hears", Input: json.RawMessage(`{`)}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			was, err := repeated.Started(t.Context(), e, c.id, c.start)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.want, was)
		})
	}
}

func engine(t *testing.T) *coordinator.Engine {
	e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.Background())) })
	return e
}

// hears returns a workflow that waits for a message that is never sent.
func hears(t *testing.T) *template.Workflow {
	w, err := template.Parse("test.yaml", []byte(`{kind: Workflow, name: hears, operations: {hear: {wait: {message: never}}}, steps: [{operation: hear}]}`))
	require.NoError(t, err)
	return w
}

// at returns an event of a run.
func at(t *rapid.T, run *coordinator.Run, seq uint64) journal.Event {
	for e, err := range run.Events(t.Context(), seq) {
		require.NoError(t, err)
		return e
	}
	return journal.Event{}
}
