package bulk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// mortal is a store whose process dies right after a number of writes: the last is durable, but no caller receives its acknowledgement.
type mortal struct {
	*memory.Store
	left   atomic.Int64 // writes until the process dies; negative: it is dead
	writes atomic.Int64
}

var errDead = errors.New("the process is dead")

func (s *mortal) write(do func() error) error {
	left := s.left.Add(-1)
	if left < 0 {
		return errors.Join(errDead, journal.ErrReadOnly)
	}
	s.writes.Add(1)
	err := do()
	if left == 0 {
		return errors.Join(errDead, journal.ErrReadOnly)
	}
	return err
}

func (s *mortal) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (last uint64, err error) {
	err = s.write(func() error {
		last, err = s.Store.Append(ctx, stream, after, events, head)
		return err
	})
	return last, err
}

func (s *mortal) Delete(ctx context.Context, stream string, t journal.Tombstone) error {
	return s.write(func() error { return s.Store.Delete(ctx, stream, t) })
}

func (s *mortal) Close() error { return nil }

const immortal = 1 << 40

// charge fails until a bank is back.
type charge struct{ back atomic.Bool }

func (c *charge) operation() coordinator.Operation {
	return operation.Define("charge", func(context.Context, any) (any, error) {
		if c.back.Load() {
			return 1, nil
		}
		return nil, errors.New("the bank is away")
	})
}

const pay = `{kind: Workflow, name: pay, steps: [{parallel: {steps: [{id: x, operation: charge}, {id: y, operation: charge}]}}]}`

// stage is a store with runs of all kinds, and the engine on it.
func stage(t *testing.T) (*mortal, *coordinator.Engine, *charge) {
	s, c := &mortal{Store: memory.New()}, &charge{}
	s.left.Store(immortal)
	e := engineOn(t, s, c.operation())
	bulk.SetSlice(e.Acts, 2)
	started(t, e, waiting, "open", 3)
	started(t, e, waiting, "paused", 2)
	started(t, e, waiting, "over", 2)
	started(t, e, pay, "failed", 3)
	for i := range 3 {
		r, err := e.Run(t.Context(), fmt.Sprintf("failed%d", i))
		require.NoError(t, err)
		_, err = r.Wait(t.Context())
		require.NoError(t, err)
	}
	for i := range 2 {
		r, err := e.Run(t.Context(), fmt.Sprintf("paused%d", i))
		require.NoError(t, err)
		require.NoError(t, r.Pause(t.Context(), ""))
		r, err = e.Run(t.Context(), fmt.Sprintf("over%d", i))
		require.NoError(t, err)
		require.NoError(t, r.Cancel(t.Context(), ""))
		_, err = r.Wait(t.Context())
		require.NoError(t, err)
	}
	c.back.Store(true)
	return s, e, c
}

// commandsOf counts the events of an act in the journals of all runs. The events of a run that the act has started count for the repeated
// run.
func commandsOf(t *testing.T, s journal.Store) map[string]int {
	counts := map[string]int{}
	runs := []string{}
	for head, err := range s.Heads(t.Context(), "") {
		require.NoError(t, err)
		runs = append(runs, head.Run)
	}
	for _, prefix := range []string{"open", "paused", "over", "failed"} {
		for i := range 3 {
			if run := fmt.Sprintf("%s%d", prefix, i); !slices.Contains(runs, run) {
				runs = append(runs, run)
			}
		}
	}
	for _, run := range runs {
		of := run
		for e, err := range s.Read(t.Context(), run, 1) {
			if errors.Is(err, journal.ErrDeleted) {
				counts[run] = -1
				break
			}
			require.NoError(t, err)
			if e.Type == journal.RunStarted && e.Detail.Start.From != nil {
				of = e.Detail.Start.From.Run
			}
			if e.Detail != nil && e.Detail.ID == journal.BulkStream(1) && e.Type != journal.RunReopened { // which follows from the command
				counts[fmt.Sprintf("%s %s %s", of, e.Type, e.Node)]++
			}
		}
	}
	return counts
}

// actOf returns an act with the verb on the runs of the stage.
func actOf(t *testing.T, verb string) bulk.Act {
	act := bulk.Act{Verb: verb, Where: "-parent:x", Expect: 10, Actor: "ann"}
	switch verb {
	case "rerun":
		act.Rerun = &coordinator.Rerun{Failed: true}
	case "move":
		act.Workflow = parse(t, waitingMore)
	}
	return act
}

// unnamed is a report without the ids of new runs, which differ from act to act.
func unnamed(report map[string]bulk.Outcome) map[string]bulk.Outcome {
	plain := map[string]bulk.Outcome{}
	for run, o := range report {
		if o.New != "" {
			o.New = "new"
		}
		plain[run] = o
	}
	return plain
}

// A process that dies right after any write of an act leaves nothing half done. The next engine goes on: the act has, and reports, the
// same effect on each run as without a crash, once; or it has no effect at all.
func TestACrashAfterAnyWriteLeavesNothingHalfDone(t *testing.T) {
	for _, verb := range bulk.Verbs() {
		t.Run(verb, func(t *testing.T) {
			act := actOf(t, verb)
			s, e, _ := stage(t)
			before := s.writes.Load()
			id, err := e.BeginBulk(t.Context(), act)
			require.NoError(t, err)
			_, err = e.AwaitBulk(t.Context(), id)
			require.NoError(t, err)
			want, wanted := reportOf(t, e, id), commandsOf(t, s)
			require.NotEmpty(t, wanted)
			writes := int(s.writes.Load() - before)
			require.Greater(t, writes, 5)
			nothing, whole := 0, 0
			for n := 1; n <= writes; n++ {
				s, e, c := stage(t)
				s.left.Store(int64(n))
				if _, err := e.BeginBulk(t.Context(), act); err == nil {
					_, _ = e.AwaitBulk(t.Context(), 1)
				}
				ended, cancel := context.WithCancel(t.Context())
				cancel()
				_ = e.Shutdown(ended)
				s.left.Store(immortal)
				e = engineOn(t, s, c.operation())
				got, err := e.AwaitBulk(t.Context(), 1)
				if errors.Is(err, bulk.ErrNotFound) {
					require.Empty(t, commandsOf(t, s))
					continue // only the definition of its workflow is durable
				}
				require.NoError(t, err)
				require.True(t, got.Over(), "crash after write %d: %+v", n, got)
				if got.State == bulk.Abandoned {
					nothing++
					require.Empty(t, commandsOf(t, s))
					continue
				}
				whole++
				require.Equal(t, bulk.Completed, got.State)
				require.Equal(t, wanted, commandsOf(t, s), "crash after write %d", n)
				require.Equal(t, unnamed(want), unnamed(reportOf(t, e, 1)), "crash after write %d", n)
				require.Zero(t, got.Left())
			}
			require.Positive(t, nothing)
			require.Positive(t, whole)
		})
	}
}

// A stopped act asks no more runs, and reports those that it has asked, also if its process has died in between.
func TestAStoppedActSaysWhatItHasDone(t *testing.T) {
	for n := 4; n <= 8; n++ {
		s, e, c := stage(t)
		s.left.Store(int64(n))
		if _, err := e.BeginBulk(t.Context(), bulk.Act{Verb: "cancel", Where: "-parent:x", Expect: 10}); err == nil {
			_, _ = e.AwaitBulk(t.Context(), 1)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_ = e.Shutdown(ended)
		s.left.Store(immortal)
		e, err := coordinator.New(t.Context(), s, coordinator.Config{NotesOnly: true, Operations: []coordinator.Operation{c.operation()}})
		require.NoError(t, err)
		before := commandsOf(t, s)
		got, err := e.StopBulk(t.Context(), 1, "bob")
		require.NoError(t, err)
		require.True(t, got.Over())
		require.Equal(t, before, commandsOf(t, s), "it asks no more")
		done := 0
		for _, o := range reportOf(t, e, 1) {
			if o.Result == bulk.Done {
				done++
			}
		}
		require.Equal(t, len(before), done, "crash after write %d", n)
		require.Equal(t, got.Done, done)
		_, err = e.StopBulk(t.Context(), 1, "bob")
		require.ErrorIs(t, err, bulk.ErrAct)
		require.NoError(t, e.Shutdown(t.Context()))
	}
}

// The reason that an act does not go on is logged, and returned to every waiter, even one that begins to wait afterwards.
func TestAnActThatFailsSaysWhyToAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		s := &mortal{Store: memory.New()}
		s.left.Store(immortal)
		e, err := coordinator.New(t.Context(), s, coordinator.Config{Logger: slog.New(slog.NewTextHandler(&lines, nil))})
		require.NoError(t, err)
		bulk.SetSlice(e.Acts, 1)
		started(t, e, waiting, "w", 3)
		s.left.Store(4) // act, choice, a command, its record: the next command dies
		id, err := e.BeginBulk(t.Context(), bulk.Act{Verb: "pause", Where: "w", Expect: 3})
		require.NoError(t, err)
		synctest.Wait()
		for range 2 {
			status, err := e.AwaitBulk(t.Context(), id)
			require.ErrorIs(t, err, errDead)
			require.Equal(t, bulk.Suspended, status.State)
		}
		require.Contains(t, lines.String(), `msg="an act on many runs cannot go on"`)
		require.Contains(t, lines.String(), errDead.Error())
		s.left.Store(immortal)
		require.NoError(t, e.Shutdown(t.Context()))
	})
}
