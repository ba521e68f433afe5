package ledger_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
)

// owner is the host of a ledger of independent steps: it starts nothing, and derives nothing.
type owner struct{}

func (owner) Key(v int32) string        { return fmt.Sprint("s", v) }
func (owner) Before(v, u int32) bool    { return v < u }
func (owner) Use(int32) (int32, uint64) { return 0, 0 }
func (owner) Requested(int32, uint64)   {}
func (owner) Started(int32)             {}
func (owner) Want(int32)                {}
func (owner) Again(int32)               {}
func (owner) Unwant(int32)              {}

// book is a ledger of a started run, and the sequence of its last event.
type book struct {
	ledger.Keeper
	seq uint64
}

func open(t require.TestingT, w *template.Workflow) *book {
	checked, err := template.Check(w, template.Known{Lenient: true})
	require.NoError(t, err)
	p, err := plan.Compile(checked)
	require.NoError(t, err)
	b := &book{Keeper: ledger.NewLedger(p, signals.NewBank(p.Wiring, func(int32) {}), owner{})}
	for v := range b.Len() {
		b.Node(v).Status = ledger.Idle
	}
	require.Equal(t, ledger.Applied, b.Begin(b.next(&journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: "r"}}})))
	return b
}

// beside makes a workflow of concurrent steps s0, s1, ….
func beside(steps ...*template.Step) *template.Workflow {
	all := &template.Parallel{}
	for i, s := range steps {
		s.ID, s.Operation = fmt.Sprint("s", i), "op"
		all.Steps = append(all.Steps, s)
	}
	return &template.Workflow{Name: "w", Steps: []template.Node{all}}
}

func (b *book) next(e *journal.Event) *journal.Event {
	b.seq++
	e.Seq = b.seq
	b.Advance(e)
	return e
}

// step applies an event about a step, and derives the status that the ledger needs.
func (b *book) step(v int32, e journal.Event) ledger.Effect {
	e.Node = owner{}.Key(v)
	out := b.Step(v, b.next(&e))
	n := b.Node(v)
	n.Status = map[ledger.Fact]ledger.Status{
		ledger.Requested: ledger.Running, ledger.Responded: ledger.Completed, ledger.Errored: ledger.Failed,
		ledger.Stopped: ledger.Aborted, ledger.Dropped: ledger.Skipped,
	}[n.Fact]
	if n.Fact == ledger.NoFact {
		n.Status = ledger.Idle
	}
	return out
}

// Only the first end of the newest attempt counts. An end that precedes its request waits for it.
func TestTheFirstEndOfTheNewestAttemptCounts(t *testing.T) {
	b := open(t, beside(&template.Step{}))
	request := func(attempt int32) journal.Event {
		return journal.Event{Type: journal.CallRequested, Attempt: attempt}
	}
	answer := func(attempt int32, v any) journal.Event {
		return journal.Event{Type: journal.CallResponded, Attempt: attempt, Value: v}
	}
	for i, c := range []struct {
		event  journal.Event
		want   ledger.Effect
		status ledger.Status
	}{
		{request(1), ledger.Applied, ledger.Running},
		{request(1), ledger.Duplicate, ledger.Running},
		{request(2), ledger.Applied, ledger.Running},
		{answer(1, "old"), ledger.Late, ledger.Running},
		{answer(2, "new"), ledger.Applied, ledger.Completed},
		{answer(2, "again"), ledger.Late, ledger.Completed},
		{answer(3, "early"), ledger.Unbound, ledger.Completed},
		{answer(3, "twice"), ledger.Duplicate, ledger.Completed},
		{request(1), ledger.Duplicate, ledger.Completed},
		{request(3), ledger.Applied, ledger.Completed},
	} {
		require.Equal(t, c.want, b.step(0, c.event), "event %d", i)
		require.Equal(t, c.status, b.Status(0), "event %d", i)
	}
	require.Equal(t, "early", b.Look(0).Output)
	require.EqualValues(t, 3, b.Attempts(0))
	require.True(t, b.Retryable(0))
}

// Bytes counts the values of all events, including values of failures and metadata of calls.
func TestBytesCountsEveryValue(t *testing.T) {
	b := open(t, beside(&template.Step{}))
	require.Zero(t, b.Bytes())
	b.step(0, journal.Event{Type: journal.CallRequested, Attempt: 1, Value: "0123456789"})
	one := b.Bytes()
	require.Greater(t, one, 10)
	b.step(0, journal.Event{Type: journal.CallError, Attempt: 1, Detail: &journal.Detail{
		About: map[string]any{"a": "0123456789"}, Failure: &journal.Failure{Code: "x", Details: "0123456789"}}})
	require.Greater(t, b.Bytes(), 3*one)
	before := b.Bytes()
	b.step(0, journal.Event{Type: journal.CallError, Attempt: 1, Value: make(chan int)})
	require.Equal(t, before, b.Bytes(), "what is no value fails when it is read")
}

func TestAPauseHasTwoCauses(t *testing.T) {
	b := open(t, beside(&template.Step{}))
	by := func(kind journal.Type, cause string) *journal.Event {
		return b.next(&journal.Event{Type: kind, Detail: &journal.Detail{Cause: cause}})
	}
	require.Equal(t, ledger.Late, b.Pause(by(journal.RunResumed, "")))
	require.Equal(t, ledger.Applied, b.Pause(by(journal.RunPaused, "")))
	require.Equal(t, ledger.Late, b.Pause(by(journal.RunPaused, "")))
	require.Equal(t, ledger.Applied, b.Pause(by(journal.RunPaused, "parent")))
	require.Equal(t, ledger.Applied, b.Pause(by(journal.RunResumed, "")))
	require.Equal(t, []bool{true, false, true}, []bool{b.Paused(), b.Stopped(), b.PausedFromAbove()})
	require.Equal(t, ledger.Applied, b.Pause(by(journal.RunResumed, "parent")))
	require.False(t, b.Paused())
	require.Equal(t, ledger.Late, b.Reopen(), "it has not finished")
	b.Close(b.next(&journal.Event{Type: journal.RunCancelled}))
	require.Equal(t, ledger.Late, b.Pause(by(journal.RunPaused, "")), "it is closed")
}

// A report with an earlier number is a repetition. Expressions read the newest hundred.
func TestReportsAreNumbered(t *testing.T) {
	b := open(t, beside(&template.Step{}))
	report := func(attempt, number int32) ledger.Effect {
		return b.step(0, journal.Event{Type: journal.CallReported, Attempt: attempt, At: int64(number),
			Detail: &journal.Detail{Count: number, Name: fmt.Sprint("k", number), Making: 4}})
	}
	require.Equal(t, ledger.Late, report(1, 1), "nothing was requested")
	b.step(0, journal.Event{Type: journal.CallRequested, Attempt: 1})
	req := b.Request(0, 1)
	require.EqualValues(t, 1, b.Making(req))
	for n := range int32(120) {
		require.Equal(t, ledger.Applied, report(1, n+1))
	}
	require.Equal(t, ledger.Duplicate, report(1, 120))
	require.Equal(t, 121, b.Reported(req))
	require.EqualValues(t, 5, b.Making(req))
	require.Equal(t, ledger.Reports{Count: 120, Repeated: 1, Kind: "k120", At: 120}, b.Reports(0))
	seen, err := b.ReportsOf(0)
	require.NoError(t, err)
	require.Len(t, seen, 100)
	require.Equal(t, int64(21), seen.([]any)[0].(map[string]any)["number"])
	b.step(0, journal.Event{Type: journal.CallRequested, Attempt: 2})
	require.Equal(t, ledger.Late, report(1, 121))
	require.Zero(t, b.Reported(req))
	seen, err = b.ReportsOf(0)
	require.NoError(t, err)
	require.Empty(t, seen)
	require.Empty(t, b.Reports(0).Text())
	for _, number := range []int32{1, 2, 2, 6, 4, 7} {
		report(2, number)
	}
	reports := b.Reports(0)
	require.Equal(t, ledger.Reports{Count: 4, Repeated: 2, Missing: 3, Kind: "k7", At: 7}, reports)
	require.Equal(t, `it has reported 4 times, the last time "k7" at 1970-01-01T00:00:00Z; repeated: 2; missing: 3`, reports.Text())
}
