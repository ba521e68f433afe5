package lists_test

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

var quiet = slog.New(slog.DiscardHandler)

func engineOn(t testing.TB, store journal.Store) *coordinator.Engine {
	e, err := coordinator.New(t.Context(), store, coordinator.Config{Logger: quiet})
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Shutdown(context.Background()) })
	return e
}

func opened(t testing.TB, dir string) *disk.Store {
	s, err := disk.Open(dir, disk.Config{Logger: quiet})
	require.NoError(t, err)
	return s
}

// Opening reads no head of a run that has ended or sleeps until a message comes; a list reads only the heads of its page.
func TestOpeningAndListsReadWhatTheyNeed(t *testing.T) {
	const runs, open = 5_000, 500
	dir := t.TempDir()
	s := opened(t, dir)
	journaltest.Many(t, s, runs, open)
	require.LessOrEqual(t, s.Work().IndexWritten, int64(runs*4+open))
	require.NoError(t, s.Close())

	s = opened(t, dir)
	e := engineOn(t, s)
	require.Zero(t, s.Work().HeadsRead, "no run moves")
	require.Zero(t, s.Work().BlobsRead)
	for text, found := range map[string]int{"label.team:7": 50, "status:failed": 5, "waits:person": 100, "workflow:\"workflow 3\"": 100} {
		before, n := s.Work().HeadsRead, 0
		for head, err := range e.Find(t.Context(), text) {
			require.NoError(t, err)
			require.NotEmpty(t, head.Run)
			if n++; n == 100 {
				break
			}
		}
		require.Equal(t, found, n, text)
		require.LessOrEqual(t, s.Work().HeadsRead-before, int64(128), text)
	}
}

// An engine that only answers a command does not search for runs to drive.
func TestACommandLooksForNoRuns(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	journaltest.Many(t, s, 300, 200)
	require.NoError(t, s.Close())
	s = opened(t, dir)
	e, err := coordinator.New(t.Context(), s, coordinator.Config{Logger: quiet, NotesOnly: true})
	require.NoError(t, err)
	defer e.Shutdown(context.Background())
	require.Zero(t, s.Work().HeadsRead)
}

// An append that does not change the run's places in lists writes no key of an index.
func TestAppendsWriteFewKeys(t *testing.T) {
	s := opened(t, t.TempDir())
	defer s.Close()
	h := journal.Head{Run: "r", Name: "w", Status: "running", Started: 1, Open: true}
	event := []journal.Event{{Type: journal.CallRequested}}
	for seq := range uint64(50) {
		h.Updated, h.Done = int64(seq), int(seq)
		_, err := s.Append(t.Context(), "r", seq, event, h)
		require.NoError(t, err)
	}
	require.EqualValues(t, 3, s.Work().IndexWritten)
	require.EqualValues(t, 1, s.Work().IndexMade, "those of the first head")
	h.Status, h.Open = "completed", false
	_, err := s.Append(t.Context(), "r", 50, event, h)
	require.NoError(t, err)
	require.EqualValues(t, 5, s.Work().IndexWritten, "one list to another")
}

const letter = `
kind: Workflow
name: letter
operations:
  letter: {wait: {message: letter}}
steps: [{id: post, operation: letter}]
output: "{{ steps.post.output }}"`

func start(t *testing.T, e *coordinator.Engine, opts ...coordinator.Option) *coordinator.Run {
	w, err := template.Parse("letter.yaml", []byte(letter))
	require.NoError(t, err)
	run, err := e.Start(t.Context(), w, nil, opts...)
	require.NoError(t, err)
	return run
}

func waiting(t *testing.T, e *coordinator.Engine, run string) journal.Head {
	place := journal.Place("")
	for {
		for head, err := range e.Find(t.Context(), "waits:message "+run) {
			require.NoError(t, err)
			return head
		}
		for c, err := range e.Changes(t.Context(), place) {
			require.NoError(t, err)
			place = c.Place
		}
		require.NoError(t, t.Context().Err())
	}
}

// The head has the awaited message, the progress of the run, and its end.
func TestTheHeadSaysWhatIsAwaited(t *testing.T) {
	e := engineOn(t, memory.New())
	run := start(t, e, coordinator.WithID("r1"), coordinator.WithLabels(map[string]string{"team": "a"}))
	h := waiting(t, e, "r1")
	require.Equal(t, []journal.Wait{{Kind: journal.WaitMessage, Name: "letter", Step: "post"}}, h.Waits)
	require.Equal(t, []any{"Workflow", 0, 1, 0}, []any{h.Kind, h.Done, h.Total, h.Failed})
	require.NoError(t, run.Send(t.Context(), "letter", "x"))
	_, err := run.Wait(t.Context())
	require.NoError(t, err)
	for h, err := range e.Find(t.Context(), "label.team:a status:completed") {
		require.NoError(t, err)
		require.Equal(t, []any{1, 1, 0, h.Updated}, []any{h.Done, h.Total, h.Failed, h.Ended})
		require.Empty(t, h.Waits)
	}
}

// A repeated start finds the run, and a repeated message is not taken twice.
func TestKeysMakeRepeatsHarmless(t *testing.T) {
	e := engineOn(t, memory.New())
	run := start(t, e, coordinator.WithKey("order 17"))
	require.Equal(t, run.ID(), start(t, e, coordinator.WithKey("order 17")).ID())
	require.NotEqual(t, run.ID(), start(t, e, coordinator.WithKey("order 18")).ID())
	for range 3 {
		require.NoError(t, run.Send(t.Context(), "another", "x", coordinator.WithKey("m1")))
	}
	messages := 0
	for event, err := range run.Events(t.Context(), 1) {
		require.NoError(t, err)
		if event.Type == journal.MessageReceived {
			messages++
		}
	}
	require.Equal(t, 1, messages)
	for _, id := range []string{"def", "blob", ".", "..", "a/b", "#x", "a b"} {
		w, err := template.Parse("letter.yaml", []byte(letter))
		require.NoError(t, err)
		_, err = e.Start(t.Context(), w, nil, coordinator.WithID(id))
		require.ErrorContains(t, err, "run id: ")
	}
}

func TestWhatHasEndedIsDeleted(t *testing.T) {
	e := engineOn(t, memory.New())
	run := start(t, e, coordinator.WithID("r1"))
	require.ErrorIs(t, e.Delete(t.Context(), "r1"), coordinator.ErrNotPossible)
	require.NoError(t, run.Cancel(t.Context(), ""))
	_, err := run.Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, e.Delete(t.Context(), "r1"))
	for range e.Find(t.Context(), "") {
		t.Fatal("there is a run")
	}
	_, err = e.Run(t.Context(), "r1")
	require.ErrorIs(t, err, journal.ErrDeleted)
	w, err := template.Parse("letter.yaml", []byte(letter))
	require.NoError(t, err)
	_, err = e.Start(t.Context(), w, nil, coordinator.WithID("r1"))
	require.ErrorIs(t, err, journal.ErrDeleted, "its id is not free")
}

// BenchmarkLargeFolder opens a folder with SLUICE_RUNS runs, one in a hundred waiting, and lists 100 of them.
func BenchmarkLargeFolder(b *testing.B) {
	runs, err := strconv.Atoi(os.Getenv("SLUICE_RUNS"))
	if err != nil {
		runs = 100_000
	}
	dir := b.TempDir()
	s := opened(b, dir)
	began := time.Now()
	journaltest.Many(b, s, runs, runs/100)
	b.Logf("made %d runs in %v", runs, time.Since(began))
	require.NoError(b, s.Close())
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			e, err := coordinator.New(b.Context(), opened(b, dir), coordinator.Config{Logger: quiet})
			require.NoError(b, err)
			require.NoError(b, e.Shutdown(context.Background()))
		}
	})
	s = opened(b, dir)
	defer s.Close()
	for _, text := range []string{"label.team:7", "status:failed", "waits:person"} {
		q, err := query.Parse(text, time.Now())
		require.NoError(b, err)
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				n := 0
				for _, err := range q.Each(b.Context(), s, "") {
					require.NoError(b, err)
					if n++; n == 100 {
						break
					}
				}
			}
		})
	}
}
