package archive_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/archive"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// export returns runs of a store as a file.
func export(t require.TestingT, store journal.Store, runs ...string) []byte {
	var file bytes.Buffer
	w := archive.NewWriter(&file, len(runs))
	for _, run := range runs {
		require.NoError(t, w.Run(context.Background(), store, run, nothing))
	}
	require.NoError(t, w.Close())
	return file.Bytes()
}

// nothing is the Contents of worlds without content.
func nothing(*journal.Start, []journal.Event) ([]journal.Hash, error) { return nil, nil }

// load appends the runs of a file to a store.
func load(store journal.Store, file []byte) error {
	ctx := context.Background()
	blobs := map[string]any{}
	for item, err := range archive.NewReader(bytes.NewReader(file)).Items() {
		if err != nil {
			return err
		}
		for _, s := range []*archive.Stored{item.Definition, item.Value} {
			if s == nil {
				continue
			}
			blobs[s.Stream] = s.Value
			if _, err := store.Append(ctx, s.Stream, 0, []journal.Event{{Type: journal.ContentStored, Value: s.Value}}, journal.Head{}); err != nil {
				return err
			}
		}
		if e := item.Event; e != nil {
			if item.Blob != (journal.Hash{}) {
				e.Value = blobs[item.Blob.Stream()]
			}
			if _, err := store.Append(ctx, item.Run, e.Seq-1, []journal.Event{*e}, journal.Head{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// drawEvents draws a journal: a start with the given workflow, and events of every type with all fields.
func drawEvents(t *rapid.T, run, workflow string) []journal.Event {
	events := []journal.Event{{At: 1, Type: journal.RunStarted, Value: drawValue(t), Detail: &journal.Detail{Start: &journal.Start{
		Run: run, Workflow: workflow, Children: map[string]string{"x/y": workflow}, Seed: []byte{0, 255, 7}, Engine: 4,
		Labels: map[string]string{"a": "<b>&\u2028"}, Identity: &journal.Identity{ID: "ann", Scopes: []string{"s"}, Resources: drawValue(t)},
	}}}}
	for n := rapid.IntRange(0, 5).Draw(t, "events"); n > 0; n-- {
		e := journal.Event{At: rapid.Int64().Draw(t, "at"), Node: rapid.String().Draw(t, "node"), Attempt: rapid.Int32().Draw(t, "attempt"),
			Type:  rapid.SampledFrom([]journal.Type{journal.CallRequested, journal.CallError, journal.CellStepped, journal.WorldSnapshotted}).Draw(t, "type"),
			Value: drawValue(t)}
		if rapid.Bool().Draw(t, "detail") {
			e.Detail = &journal.Detail{
				Failure:     &journal.Failure{Code: "c", Message: rapid.String().Draw(t, "message"), Details: drawValue(t), Retryable: true, Step: "s"},
				Participant: "p", Participants: []string{"p", "q"}, Timer: "retry", State: "failed", Name: "n", Actor: "a", Reason: "r", Key: "k",
				Received: rapid.Int64().Draw(t, "received"), Due: rapid.Int64().Draw(t, "due"), RetryAt: rapid.Int64().Draw(t, "retry at"),
				Count: 7, About: drawValue(t), Making: 2, Work: true, Cause: "u", ID: "i", Cells: []string{"order[1]"},
			}
		}
		events = append(events, e)
	}
	return events
}

func drawValue(t *rapid.T) any {
	return rapid.OneOf(
		rapid.Just[any](nil), rapid.Just[any](int64(1)<<60+1), rapid.Just[any](""), rapid.Just[any](false),
		rapid.Just[any](map[string]any{}), rapid.Just[any]([]any{nil, 1.5, 1e300, int64(-1)}),
		rapid.Map(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{1 << 63, -1 << 63, 1e20, -1e21, 1e-7})), func(f float64) any { return f }),
		rapid.Map(rapid.String(), func(s string) any { return map[string]any{s: []any{s, "\x00\u2029</script>"}} }),
		rapid.Map(rapid.IntRange(30_000, 40_000), func(n int) any { return strings.Repeat("x", n) }),
	).Draw(t, "value")
}

// drawRun returns a store with a definition and a run, and the id of the run.
func drawRun(t *rapid.T) (journal.Store, string) {
	ctx := context.Background()
	store := memory.New()
	document := map[string]any{"kind": "Workflow", "name": "<w>"}
	hash, _, err := journal.HashOf(document)
	require.NoError(t, err)
	name := strings.TrimPrefix(hash.Stream(), "blob/")
	_, err = store.Append(ctx, journal.DefinitionStream(name), 0, []journal.Event{{Type: journal.ContentStored, Value: document}}, journal.Head{})
	require.NoError(t, err)
	_, err = store.Append(ctx, "r", 0, drawEvents(t, "r", name), journal.Head{})
	require.NoError(t, err)
	return store, "r"
}

// encoded returns the events of a run as the journal encodes them.
func encoded(t require.TestingT, store journal.Store, run string) (data []byte) {
	var codec journal.Codec
	for e, err := range store.Read(context.Background(), run, 1) {
		require.NoError(t, err)
		data, err = codec.Append(data, &e)
		require.NoError(t, err)
	}
	return data
}

// An imported journal has the bytes of the exported one, and is exported as the same bytes again.
func TestWhatIsReadIsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store, run := drawRun(t)
		file := export(t, store, run)
		again := memory.New()
		require.NoError(t, load(again, file))
		require.Equal(t, encoded(t, store, run), encoded(t, again, run))
		require.Equal(t, string(file), string(export(t, again, run)))
	})
}

// A file that was cut, or with a changed byte, is refused, and the error names the line.
func TestWhatWasChangedIsRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store, run := drawRun(t)
		file := export(t, store, run)
		at := rapid.IntRange(0, len(file)-1).Draw(t, "at")
		if rapid.Bool().Draw(t, "cut") {
			file = file[:at]
		} else {
			bit := byte(1) << rapid.IntRange(0, 7).Draw(t, "bit")
			file = bytes.Clone(file)
			file[at] ^= bit
		}
		err := load(memory.New(), file)
		require.ErrorIs(t, err, archive.ErrRefused)
		require.Contains(t, err.Error(), "line ")
	})
}

func TestRefusals(t *testing.T) {
	const first = `{"sluice":"runs","version":1,"runs":1}` + "\n"
	for _, c := range []struct{ file, fault string }{
		{"", "line 1: the file is empty"},
		{"[]\n", "line 1: this is no line of exported runs: it holds a JSON array"},
		{"{\"kind\":\"Workflow\"}\n", `line 1: this is no line of exported runs: unknown field "kind"`},
		{"{\"run\":\"r\"}\n", "line 1: a file of exported runs begins with"},
		{"{\"sluice\":\"runs\",\"version\":2}\n", "line 1: the file has version 2 of the format, and this version of Sluice reads 1"},
		{first, "line 2: the file ends here, and has been cut short: one run is missing"},
		{first + "{\"run\":\"r\"}\n", "line 3: the file ends here, and has been cut short: run r has no end"},
		{first + "{\"run\":\"r\"}\n{\"run\":\"s\"}\n", "line 3: a run ends before the next one begins"},
		{first + "{\"end\":\"r\"}\n", "line 2: a run ends before the next one begins"},
		{first + "{\"run\":\"r\"}\n{\"end\":\"r\"}\n", "line 3: run r has no events"},
		{"{\"Sluice\":\"runs\",\"version\":1}\n", `line 1: the line was changed; it should be {"sluice":"runs","version":1}`},
		{first + "{\"run\":\"r\"}\n{}\n", "line 3: the line holds nothing that belongs to a run"},
		{first + "{\"run\":\"r\"}\n{\"blob\":\"00\",\"data\":\"AA==\"}\n", `line 3: "00" is no SHA-256 in hexadecimal digits`},
		{first + "{\"run\":\"r\"}\n{\"event\":{\"seq\":2,\"at\":\"2026-01-01T00:00:00Z\",\"type\":\"run.paused\"}}\n", "line 3: event 2 follows event 0"},
		{first + "{\"run\":\"r\"}\n{\"event\":{\"seq\":1,\"at\":\"2026-01-01T00:00:00Z\",\"type\":\"run.paused\"}}\n", "line 3: run r does not begin with its start"},
		{first + "{\"run\":\"r\"}\n{\"event\":{\"seq\":1,\"at\":\"0001-01-01T00:00:00Z\",\"type\":\"run.paused\"}}\n", "line 3: this is no line of exported runs: 0001-01-01T00:00:00Z is not an instant that a journal holds"},
		{first + "{\"run\":\"r\"}\n{\"event\":{\"seq\":1,\"at\":\"2026-01-01T00:00:00Z\",\"type\":\"run.flown\"}}\n", `"run.flown"`},
		{"{\"sluice\":\"runs\",\"version\":1,\"sha256\":\"0\"}\n", "line 1: the line was changed; it should be"},
		{first + "{\"run\":\"r\",\"events\":1}\n", "line 2: the line was changed; it should be"},
		{"{\"sluice\":\"runs\",\"version\":1}\nx", "line 2: there is more after the last run"},
	} {
		err := load(memory.New(), []byte(c.file))
		require.ErrorIs(t, err, archive.ErrRefused, c.file)
		require.Contains(t, err.Error(), c.fault, c.file)
	}
}

// A definition or a large value is written once, for any number of runs.
func TestContentIsWrittenOnce(t *testing.T) {
	ctx := context.Background()
	store := memory.New()
	document := map[string]any{"kind": "Workflow"}
	hash, _, err := journal.HashOf(document)
	require.NoError(t, err)
	name := strings.TrimPrefix(hash.Stream(), "blob/")
	_, err = store.Append(ctx, journal.DefinitionStream(name), 0, []journal.Event{{Type: journal.ContentStored, Value: document}}, journal.Head{})
	require.NoError(t, err)
	var runs []string
	for i := range 3 {
		run := fmt.Sprint("r", i)
		start := journal.Event{Type: journal.RunStarted, Value: strings.Repeat("x", 1<<20), Detail: &journal.Detail{Start: &journal.Start{Run: run, Workflow: name}}}
		_, err = store.Append(ctx, run, 0, []journal.Event{start}, journal.Head{})
		require.NoError(t, err)
		runs = append(runs, run)
	}
	file := export(t, store, runs...)
	require.Equal(t, 1, bytes.Count(file, []byte(`{"definition":`)))
	require.Equal(t, 1, bytes.Count(file, []byte(`{"blob":`)))
	require.Less(t, len(file), 2<<20)
	require.NoError(t, load(memory.New(), file))
}
