package reactive_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// limited returns a workflow of a step a with a timing, of b that needs it, and of an independent step.
func limited(t testing.TB, timing, rest string) *plan.Plan {
	return load(t, `
kind: Workflow
name: w
`+rest+`
steps:
  - parallel:
      steps:
        - sequential: {steps: [{operation: a, timing: {`+timing+`}}, {operation: b}]}
        - {operation: free}`)
}

func TestWhatAFinalTimeoutDoes(t *testing.T) {
	for _, test := range []struct {
		on, a, b, free string
		run            reactive.RunStatus // at the end
	}{
		{"fail", "failed", "aborted", "running", reactive.RunStepTimeout},
		{"skip", "skipped", "running", "running", reactive.RunCompleted},
		{"abort_workflow", "failed", "aborted", "aborted", reactive.RunStepTimeout},
	} {
		for limit, timing := range map[string]string{"an attempt": "timeout: PT5S", "all attempts": "total_timeout: PT5S"} {
			t.Run(fmt.Sprint(test.on, " ", limit), func(t *testing.T) {
				lived(t, limited(t, timing+", on_timeout: "+test.on, ""), func(t *testing.T, s *driver) {
					s.advance(4)
					require.Equal(t, reactive.Running, s.root.Status(s.node("a")))
					s.advance(5)
					for key, want := range map[string]string{"a": test.a, "b": test.b, "free": test.free} {
						require.Equal(t, want, s.root.Status(s.node(key)).String(), key)
					}
					require.Equal(t, reactive.CodeTimeout, s.root.Failure(s.node("a")).Code)
					s.receive(6, responded("a", 1, "too late"))
					require.Nil(t, s.root.Output(s.node("a")))
					s.receive(7, responded("free", 1, nil), responded("b", 1, nil))
					require.Equal(t, test.run, s.root.RunStatus())
				})
			})
		}
	}
}

func TestATimeoutIsRetriedFirst(t *testing.T) {
	lived(t, limited(t, "timeout: PT5S, on_timeout: skip, retry: {max_attempts: 2, backoff: PT3S}", ""), func(t *testing.T, s *driver) {
		v := s.node("a")
		s.advance(5)
		require.Equal(t, reactive.Failed, s.root.Status(v))
		require.True(t, s.root.Pending(v))
		require.Equal(t, reactive.Waiting, s.root.Status(s.node("b")))
		s.advance(8)
		require.Equal(t, reactive.Running, s.root.Status(v))
		require.EqualValues(t, 2, s.root.Attempts(v))
		s.advance(13)
		require.Equal(t, reactive.Skipped, s.root.Status(v))
	})
}

// At one instant, an answer precedes a timer, and a step's timer precedes the deadline.
func TestAnAnswerGoesBeforeATimerOfItsInstant(t *testing.T) {
	p := limited(t, "timeout: PT5S", "deadline: PT5S")
	t.Run("the answer", func(t *testing.T) {
		lived(t, p, func(t *testing.T, s *driver) {
			s.receive(5, responded("a", 1, "just in time"))
			require.Equal(t, reactive.Completed, s.root.Status(s.node("a")))
			require.Equal(t, reactive.RunDeadlineExceeded, s.root.RunStatus(), "free runs")
		})
	})
	t.Run("the step's own timer", func(t *testing.T) {
		lived(t, p, func(t *testing.T, s *driver) {
			s.advance(5)
			require.Equal(t, reactive.Failed, s.root.Status(s.node("a")))
			require.Equal(t, reactive.Aborted, s.root.Status(s.node("free")))
			require.Equal(t, reactive.RunDeadlineExceeded, s.root.RunStatus())
		})
	})
	t.Run("an answer that ends the run", func(t *testing.T) {
		lived(t, p, func(t *testing.T, s *driver) {
			s.receive(1, responded("a", 1, nil))
			s.receive(2, responded("b", 1, nil))
			s.receive(5, responded("free", 1, nil))
			require.Equal(t, reactive.RunCompleted, s.root.RunStatus())
		})
	})
}

// A deadline counts from the first request, through pauses, and late processing does not extend it.
func TestADeadlineCountsFromTheFirstRequest(t *testing.T) {
	lived(t, limited(t, "timeout: PT1H", "deadline: PT10S"), func(t *testing.T, s *driver) {
		require.Equal(t, instant(10), s.root.NextDue())
		s.receive(1, journal.Event{Type: journal.RunPaused})
		s.now = 60 // no process was running then
		s.settle()
		require.Equal(t, reactive.RunDeadlineExceeded, s.root.RunStatus())
		closed := s.journal[len(s.journal)-2]
		require.Equal(t, journal.RunDeadlineExceeded, closed.Type)
		require.Equal(t, instant(10), closed.Detail.Due, "the instant that was meant")
		require.Equal(t, instant(60), closed.At)
		require.Equal(t, reactive.Aborted, s.root.Status(s.node("a")))
		require.Zero(t, s.root.NextDue())
	})
}

// TestABackoffCountsFromTheInstantThatWasMeant: downtime of a process does not extend a backoff, and overdue timers fire at
// once.
func TestABackoffCountsFromTheInstantThatWasMeant(t *testing.T) {
	lived(t, limited(t, "timeout: PT5S, retry: {max_attempts: 3, backoff: PT10S}", ""), func(t *testing.T, s *driver) {
		s.now = 12 // the timeout at 5 is processed now
		s.settle()
		require.Equal(t, reactive.Failed, s.root.Status(s.node("a")))
		require.Equal(t, instant(15), s.root.NextDue())
		s.now = 40 // the retry at 15 is processed now
		s.settle()
		require.Equal(t, reactive.Running, s.root.Status(s.node("a")))
		require.Equal(t, instant(45), s.root.NextDue(), "an attempt has its whole time from its request on")
	})
}

func TestARetryThatWouldComeTooLateIsNotMade(t *testing.T) {
	for name, p := range map[string]*plan.Plan{
		"at the deadline":             limited(t, "retry: {max_attempts: 3, backoff: PT5S}", "deadline: PT6S"),
		"at the end of all attempts":  limited(t, "total_timeout: PT6S, retry: {max_attempts: 3, backoff: PT5S}", ""),
		"when the callee wants it so": limited(t, "total_timeout: PT6S, retry: {max_attempts: 3}", ""),
	} {
		t.Run(name, func(t *testing.T) {
			lived(t, p, func(t *testing.T, s *driver) {
				e := failedWith("a", 1, "busy", true)
				e.Detail.RetryAt = instant(6)
				s.receive(1, e)
				require.Equal(t, reactive.Failed, s.root.Status(s.node("a")))
				require.False(t, s.root.Pending(s.node("a")))
				require.Equal(t, "busy", s.root.Failure(s.node("a")).Code, "it keeps its failure")
				require.Equal(t, reactive.Aborted, s.root.Status(s.node("b")))
			})
		})
	}
}

// TestTheTotalTimeoutRunsThroughBackoffs: it ends a step with a pending retry.
func TestTheTotalTimeoutRunsThroughBackoffs(t *testing.T) {
	for on, want := range map[string]string{"fail": "failed", "skip": "skipped"} {
		p := limited(t, "total_timeout: PT9S, on_timeout: "+on+", retry: {max_attempts: 9, backoff: PT8S}", "max_concurrency: 1")
		lived(t, p, func(t *testing.T, s *driver) {
			s.receive(0, failedWith("a", 1, "busy", true)) // again at 8, but its slot is taken then
			require.Equal(t, reactive.Running, s.root.Status(s.node("free")))
			s.advance(8)
			require.True(t, s.root.Pending(s.node("a")))
			s.advance(9)
			require.Equal(t, want, s.root.Status(s.node("a")).String())
			require.False(t, s.root.Pending(s.node("a")))
			require.Equal(t, reactive.CodeTimeout, s.root.Failure(s.node("a")).Code)
		})
	}
}

// A manual retry has its whole time, also in a rebuilt root.
func TestAManualRetryHasItsWholeTime(t *testing.T) {
	lived(t, limited(t, "total_timeout: PT9S", ""), func(t *testing.T, s *driver) {
		s.receive(1, failedWith("a", 1, "broken", false))
		s.receive(5, journal.Event{Type: journal.NodeRetried, Node: "a"})
		require.Equal(t, instant(14), s.root.NextDue())
		s.advance(13)
		require.Equal(t, reactive.Running, s.root.Status(s.node("a")))
		s.advance(14)
		require.Equal(t, reactive.CodeTimeout, s.root.Failure(s.node("a")).Code)
	})
}

// Jitter is the same in every replay, differs between steps, and stays below the backoff.
func TestJitterIsTheSameInEveryReplay(t *testing.T) {
	const timing = "timing: {retry: {max_attempts: 2, backoff: PT1H, jitter: 0.5}}"
	p := load(t, `
kind: Workflow
name: w
steps: [{parallel: {steps: [{operation: a, `+timing+`}, {operation: b, `+timing+`}]}}]`)
	var seen [][2]int64
	lived(t, p, func(t *testing.T, s *driver) {
		s.receive(1, failedWith("a", 1, "busy", true))
		a := s.root.NextDue()
		s.receive(1, failedWith("b", 1, "busy", true))
		first := s.root.NextDue()
		s.advance((first - instant(0)) / int64(time.Second)) // one of them
		s.advance(s.now + 1)
		seen = append(seen, [2]int64{a, s.root.NextDue()})
		for _, due := range seen[len(seen)-1] {
			require.Greater(t, due, instant(1+1800))
			require.LessOrEqual(t, due, instant(1+3600))
		}
		require.NotEqual(t, a, s.root.NextDue())
	})
	require.Len(t, seen, 2)
	require.Equal(t, seen[0], seen[1])
}

func TestACancelledRunHasNoTimers(t *testing.T) {
	lived(t, limited(t, "timeout: PT5S, retry: {max_attempts: 2, backoff: PT3S}", "deadline: PT1H"), func(t *testing.T, s *driver) {
		require.NotZero(t, s.root.NextDue())
		s.receive(1, failedWith("a", 1, "busy", true), journal.Event{Type: journal.RunCancelled})
		require.Zero(t, s.root.NextDue())
		require.Zero(t, s.root.Timers())
		require.Equal(t, reactive.RunAborted, s.root.RunStatus())
		_, ok := s.root.Fire(instant(10_000))
		require.False(t, ok)
	})
}
