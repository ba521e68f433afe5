package reactive_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

var (
	yes  = map[string]any{"ok": true}
	no   = map[string]any{"ok": false}
	what = map[string]any{"ok": "perhaps"}
)

// bySource, byAnswer and byPerson are fulfillments with each source of decisions; the consequences are inserted.
const (
	match    = "result_match: {path: /ok, fulfilled_values: [true], not_fulfilled_values: [false]}"
	bySource = "policy: external_decision, decision_source: {kind: automatic, operation: verify}, " + match
	byAnswer = "policy: output_match, " + match
	byPerson = "policy: requester_confirmation"
)

// tasks returns a workflow of a step a with a fulfillment, of b and c that need it, c in a conditional that reads it, and of an
// independent step.
func tasks(t require.TestingT, fulfillment, rest string) *plan.Plan {
	tb, ok := t.(testing.TB)
	require.True(t, ok)
	return load(tb, `
kind: Workflow
name: w
`+rest+`
steps:
  - parallel:
      steps:
        - sequential: {steps: [{operation: a, fulfillment: {`+fulfillment+`}}, {operation: b}]}
        - conditional: {id: gate, test: "{{ steps.a.status == 'completed' }}", then: [{operation: c}], else: [{operation: d}]}
        - {operation: free}`)
}

// lived runs a test twice: live, and with the root rebuilt from its journal after every event.
func lived(t *testing.T, p *plan.Plan, test func(t *testing.T, s *driver)) {
	for name, crash := range map[string]bool{"live": false, "recovered": true} {
		t.Run(name, func(t *testing.T) {
			s := newDriver(t, p)
			s.crash = func() bool { return crash }
			test(t, s.start())
		})
	}
}

// see compares the statuses of steps, as in `a=completed b=running`, with the run's.
func see(t *testing.T, s *driver, run reactive.RunStatus, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for key := range want {
		got[key] = s.root.Status(s.node(key)).String()
	}
	require.Equal(t, want, got)
	require.Equal(t, run, s.root.RunStatus())
}

type statuses = map[string]string

func TestAnUndecidedTaskHoldsWhatNeedsIt(t *testing.T) {
	for _, test := range []struct{ name, fulfillment string }{
		{"by a person", byPerson}, {"by an operator", "policy: external_decision, decision_source: {kind: operator}"}, {"only by a person", "policy: never"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lived(t, tasks(t, test.fulfillment, ""), func(t *testing.T, s *driver) {
				s.receive(1, responded("a", 1, yes))
				see(t, s, reactive.RunRunning, statuses{"a": "completed", "b": "waiting", "gate": "waiting", "c": "waiting", "free": "running"})
				require.Equal(t, call.Undecided, s.root.Fulfillment(s.node("a")))
				require.False(t, s.root.Final(s.node("a")))
				s.receive(2, responded("free", 1, nil))
				see(t, s, reactive.RunWaiting, statuses{"a": "completed", "b": "waiting", "gate": "waiting"})
				require.True(t, s.root.Decidable(s.node("a")))
				s.receive(3, person("a", 1, true))
				see(t, s, reactive.RunRunning, statuses{"a": "completed", "b": "running", "gate": "completed", "c": "running", "d": "skipped"})
				require.Equal(t, call.Fulfilled, s.root.Fulfillment(s.node("a")))
				s.receive(4, responded("b", 1, nil), responded("c", 1, nil))
				require.Equal(t, reactive.RunCompleted, s.root.RunStatus())
			})
		})
	}
}

func TestAnAnswerCanDecideAtOnce(t *testing.T) {
	for name, fulfillment := range map[string]string{"auto": "policy: auto", "output_match": byAnswer} {
		lived(t, tasks(t, fulfillment, ""), func(t *testing.T, s *driver) {
			s.receive(1, responded("a", 1, yes))
			see(t, s, reactive.RunRunning, statuses{"a": "completed", "b": "running", "c": "running"})
			require.Equal(t, call.Fulfilled, s.root.Fulfillment(s.node("a")), name)
		})
	}
}

// TestWhatADecisionLeadsTo covers every source and every action, for a refusal and for a decision that cannot be read.
func TestWhatADecisionLeadsTo(t *testing.T) {
	ends := map[string]struct {
		a, b, c, d string
		run        reactive.RunStatus
	}{
		"fail":           {"failed", "aborted", "skipped", "running", reactive.RunRunning},
		"skip":           {"skipped", "running", "skipped", "running", reactive.RunRunning},
		"abort_workflow": {"failed", "aborted", "aborted", "aborted", reactive.RunFailed},
		"pause":          {"completed", "waiting", "waiting", "waiting", reactive.RunPaused},
	}
	for source, fulfillment := range map[string]string{"answer": byAnswer, "source": bySource, "person": byPerson} {
		for action, want := range ends {
			for code, answer := range map[string]any{"not_fulfilled": no, "decision_error": what} {
				if source == "person" && code == "decision_error" {
					continue // a person decides yes or no
				}
				t.Run(fmt.Sprint(source, " ", code, " ", action), func(t *testing.T) {
					p := tasks(t, fmt.Sprintf("%s, on_not_fulfilled: %s, on_error: %s", fulfillment, action, action), "")
					lived(t, p, func(t *testing.T, s *driver) {
						switch source {
						case "answer":
							s.receive(1, responded("a", 1, answer))
						case "source":
							s.receive(1, responded("a", 1, nil))
							s.receive(2, decided("a", 1, 1, answer))
						case "person":
							s.receive(1, responded("a", 1, nil))
							s.receive(2, person("a", 1, false))
						}
						see(t, s, want.run, statuses{"a": want.a, "b": want.b, "c": want.c, "d": want.d})
						state := call.NotFulfilled
						if code == "decision_error" {
							state = call.Broken
						}
						require.Equal(t, state, s.root.Fulfillment(s.node("a")))
						if want.a != "completed" {
							require.Equal(t, code, s.root.Failure(s.node("a")).Code)
							require.Nil(t, s.root.Output(s.node("a")), "it has no output any more")
						}
						if action == "abort_workflow" {
							require.Equal(t, code, s.root.Finished().Detail.Failure.Code)
							require.Empty(t, s.flying)
						}
					})
				})
			}
		}
	}
}

func TestAFailedCallHasNoTask(t *testing.T) {
	lived(t, tasks(t, bySource, ""), func(t *testing.T, s *driver) {
		s.receive(1, failedWith("a", 1, "broken", false))
		see(t, s, reactive.RunRunning, statuses{"a": "failed", "b": "aborted"})
		require.Equal(t, call.NoTask, s.root.Fulfillment(s.node("a")))
	})
}

func TestAPauseEndsByAnExplicitDecision(t *testing.T) {
	p := tasks(t, bySource+", on_not_fulfilled: pause", "")
	paused := func(t *testing.T, s *driver) {
		s.receive(1, responded("a", 1, yes))
		s.receive(2, decided("a", 1, 1, no))
		s.receive(3, responded("free", 1, nil))
		see(t, s, reactive.RunPaused, statuses{"a": "completed", "b": "waiting", "free": "completed"})
		require.True(t, s.root.Decidable(s.node("a")))
		require.Equal(t, call.NotFulfilled, s.root.Fulfillment(s.node("a")))
	}
	t.Run("fulfilled after all", func(t *testing.T) {
		lived(t, p, func(t *testing.T, s *driver) {
			paused(t, s)
			s.receive(4, override("a", 1, true))
			see(t, s, reactive.RunRunning, statuses{"a": "completed", "b": "running", "c": "running"})
			require.Equal(t, yes, s.root.Output(s.node("a")))
			require.Equal(t, call.Fulfilled, s.root.Fulfillment(s.node("a")))
		})
	})
	t.Run("not at all", func(t *testing.T) {
		lived(t, p, func(t *testing.T, s *driver) {
			paused(t, s)
			s.receive(4, override("a", 1, false))
			see(t, s, reactive.RunRunning, statuses{"a": "failed", "b": "aborted", "d": "running"})
		})
	})
	t.Run("beside that of a person, which ends in its own way", func(t *testing.T) {
		lived(t, p, func(t *testing.T, s *driver) {
			paused(t, s)
			s.receive(4, journal.Event{Type: journal.RunPaused})
			s.receive(5, override("a", 1, true))
			see(t, s, reactive.RunPaused, statuses{"b": "ready", "c": "ready"})
			s.receive(6, journal.Event{Type: journal.RunResumed})
			see(t, s, reactive.RunRunning, statuses{"b": "running", "c": "running"})
		})
	})
}

// TestAResumeDoesNotDecide: a pause caused by a task ends with the decision of that task, without further effects.
func TestAResumeDoesNotDecide(t *testing.T) {
	lived(t, tasks(t, byAnswer+", on_not_fulfilled: pause", ""), func(t *testing.T, s *driver) {
		s.receive(1, responded("a", 1, no))
		require.Equal(t, []reactive.Effect{reactive.Late}, s.receive(2, journal.Event{Type: journal.RunResumed}))
		require.True(t, s.root.Paused())
		s.receive(3, override("a", 1, true))
		require.False(t, s.root.Paused())
		s.receive(4, journal.Event{Type: journal.RunPaused})
		require.True(t, s.root.Paused(), "a pause after that counts")
	})
}

// TestATimerIsForItsOwnAttempt: the remaining time of a decision does not shorten the time of the next attempt.
func TestATimerIsForItsOwnAttempt(t *testing.T) {
	p := tasks(t, "policy: external_decision, decision_source: {kind: automatic, operation: verify, timing: {timeout: PT10S}}, "+match, "")
	lived(t, p, func(t *testing.T, s *driver) {
		s.receive(1, responded("a", 1, nil)) // asked at 1, until 11
		s.receive(2, decided("a", 1, 1, no))
		s.receive(3, journal.Event{Type: journal.NodeRetried, Node: "a"})
		s.receive(9, responded("a", 2, nil)) // asked at 9, until 19
		s.advance(18)
		require.Equal(t, call.Undecided, s.root.Fulfillment(s.node("a")))
		s.advance(19)
		require.Equal(t, call.Broken, s.root.Fulfillment(s.node("a")))
	})
}

func TestADecisionSourceMayAskForPatience(t *testing.T) {
	p := tasks(t, "policy: external_decision, on_error: retry, decision_source: {kind: automatic, operation: verify, timing: {retry: {max_attempts: 2, backoff: PT1S}}}, "+match, "")
	lived(t, p, func(t *testing.T, s *driver) {
		s.receive(1, responded("a", 1, nil))
		e := undecidable("a", 1, 1)
		e.Detail.RetryAt = instant(9)
		s.receive(2, e)
		s.advance(8)
		require.NotContains(t, s.calls(s.root.OpenCalls()), "a#1?")
		s.advance(9)
		require.Contains(t, s.calls(s.root.OpenCalls()), "a#1?2")
	})
}

func TestADecisionIsAskedForAgain(t *testing.T) {
	p := tasks(t, `policy: external_decision, on_error: retry, decision_source: {kind: automatic, operation: verify,
      timing: {timeout: PT10S, retry: {max_attempts: 3, backoff: PT5S, backoff_multiplier: 2}}}, `+match, "")
	t.Run("after its backoff, and then goes on", func(t *testing.T) {
		lived(t, p, func(t *testing.T, s *driver) {
			s.receive(1, responded("a", 1, nil))
			require.Contains(t, s.calls(s.root.OpenCalls()), "a#1?1")
			s.receive(2, decided("a", 1, 1, what))
			see(t, s, reactive.RunRunning, statuses{"a": "completed", "b": "waiting"})
			s.advance(6)
			require.NotContains(t, s.calls(s.root.OpenCalls()), "a#1?")
			s.advance(7)
			require.Contains(t, s.calls(s.root.OpenCalls()), "a#1?2")
			require.Equal(t, []reactive.Effect{reactive.Late}, s.receive(8, decided("a", 1, 1, yes)), "an answer to the call before")
			s.receive(9, decided("a", 1, 2, yes))
			see(t, s, reactive.RunRunning, statuses{"a": "completed", "b": "running"})
		})
	})
	t.Run("until its attempts are used up; the step itself is not called again", func(t *testing.T) {
		lived(t, p, func(t *testing.T, s *driver) {
			s.receive(1, responded("a", 1, nil))
			s.receive(2, undecidable("a", 1, 1)) // again at 7
			s.advance(17)                        // times out at 17: again at 27
			require.NotContains(t, s.calls(s.root.OpenCalls()), "a#1?")
			s.advance(27)
			require.Contains(t, s.calls(s.root.OpenCalls()), "a#1?3")
			s.receive(28, decided("a", 1, 3, what))
			see(t, s, reactive.RunRunning, statuses{"a": "failed", "b": "aborted", "d": "running"})
			require.Equal(t, "decision_error", s.root.Failure(s.node("a")).Code)
			require.Equal(t, call.Broken, s.root.Fulfillment(s.node("a")))
			require.EqualValues(t, 1, s.root.Attempts(s.node("a")))
		})
	})
	t.Run("but a refusal is an answer", func(t *testing.T) {
		lived(t, p, func(t *testing.T, s *driver) {
			s.receive(1, responded("a", 1, nil))
			s.receive(2, decided("a", 1, 1, no))
			see(t, s, reactive.RunRunning, statuses{"a": "failed", "b": "aborted"})
			require.Equal(t, "not_fulfilled", s.root.Failure(s.node("a")).Code)
		})
	})
	t.Run("not at or after the deadline", func(t *testing.T) {
		p := tasks(t, `policy: external_decision, on_error: retry, decision_source: {kind: automatic, operation: verify,
      timing: {retry: {max_attempts: 3, backoff: PT5S}}}`, "deadline: PT7S")
		lived(t, p, func(t *testing.T, s *driver) {
			s.receive(1, responded("a", 1, nil))
			s.receive(2, undecidable("a", 1, 1))
			see(t, s, reactive.RunRunning, statuses{"a": "failed", "b": "aborted"})
		})
	})
}

func TestADecisionHasItsOwnTime(t *testing.T) {
	text := `
kind: Workflow
name: w
steps:
  - operation: a
    timing: {timeout: PT6S}
    fulfillment: {policy: external_decision, decision_source: {kind: automatic, operation: verify%s}, on_error: skip, ` + match + `}
  - operation: b`
	for own, limit := range map[string]int64{"": 6, ", timing: {timeout: PT2S}": 2, ", timing: {timeout: PT20S}": 20} {
		lived(t, load(t, fmt.Sprintf(text, own)), func(t *testing.T, s *driver) {
			s.receive(5, responded("a", 1, nil))
			s.advance(5 + limit - 1)
			see(t, s, reactive.RunRunning, statuses{"a": "completed", "b": "waiting"})
			require.Equal(t, []reactive.Effect{reactive.Late}, s.receive(5+limit, decided("a", 1, 2, yes)), "the source was not asked a second time")
			see(t, s, reactive.RunRunning, statuses{"a": "skipped", "b": "running"})
			require.Equal(t, []reactive.Effect{reactive.Late}, s.receive(60, decided("a", 1, 1, yes)), "too late")
			see(t, s, reactive.RunRunning, statuses{"a": "skipped", "b": "running"})
		})
		lived(t, load(t, fmt.Sprintf(text, own)), func(t *testing.T, s *driver) {
			s.receive(5, responded("a", 1, nil))
			s.receive(5+limit, decided("a", 1, 1, yes))
			see(t, s, reactive.RunRunning, statuses{"a": "completed", "b": "running"})
		})
	}
}

func TestADecisionThatCannotBeAskedIsAnError(t *testing.T) {
	p := tasks(t, `policy: external_decision, on_error: skip, decision_source: {kind: automatic, operation: verify,
      input: {commit: {from: /steps/a/output/commit}}}, `+match, "")
	lived(t, p, func(t *testing.T, s *driver) {
		s.receive(1, responded("a", 1, map[string]any{"other": 1}))
		see(t, s, reactive.RunRunning, statuses{"a": "skipped", "b": "running"})
		require.Equal(t, "decision_error", s.root.Failure(s.node("a")).Code)
		require.NotContains(t, s.calls(s.root.OpenCalls()), "?")
	})
}

// TestDecisionsThatNobodyWaitsForChangeNothing: decisions about tasks that are unknown, not yet open, decided already, or
// not for a person.
func TestDecisionsThatNobodyWaitsForChangeNothing(t *testing.T) {
	asked := journal.Event{Type: journal.DecisionRequested, Node: "a", Attempt: 1, Detail: &journal.Detail{Count: 1}}
	fired := journal.Event{Type: journal.TimerFired, Node: "a", Attempt: 1, Detail: &journal.Detail{Timer: "decision", Count: 1}}
	tests := []struct {
		name, fulfillment string
		before            []journal.Event
		late              []journal.Event
	}{
		{"while the call runs", byPerson, nil, []journal.Event{
			person("a", 1, true), decided("a", 1, 1, yes), asked, fired, person("b", 0, true), person("free", 1, true),
			person("nobody", 1, true), decided("nobody", 1, 1, yes), person("gate", 1, true), person("a", 0, true),
		}},
		{"of another attempt, or by a source that is not asked", byPerson, []journal.Event{responded("a", 1, yes)}, []journal.Event{
			person("a", 2, true), person("a", 0, true), decided("a", 1, 1, yes), asked, fired,
		}},
		{"of another number", bySource, []journal.Event{responded("a", 1, yes)}, []journal.Event{
			decided("a", 1, 0, yes), decided("a", 1, 2, yes), decided("a", 2, 1, yes), asked, fired,
		}},
		{"when it is decided", byPerson, []journal.Event{responded("a", 1, yes), person("a", 1, true)}, []journal.Event{
			person("a", 1, true), person("a", 1, false), decided("a", 1, 1, no), asked, fired,
		}},
		{"when it has failed", bySource, []journal.Event{responded("a", 1, yes), decided("a", 1, 1, no)}, []journal.Event{
			person("a", 1, true), decided("a", 1, 1, yes), decided("a", 1, 2, yes), asked, fired,
		}},
		{"when its pause has ended", byAnswer + ", on_not_fulfilled: pause", []journal.Event{responded("a", 1, no), override("a", 1, true)}, []journal.Event{
			person("a", 1, false), override("a", 1, true), override("a", 1, false),
		}},
		{"when its call has failed", byPerson, []journal.Event{failedWith("a", 1, "broken", false)}, []journal.Event{
			person("a", 1, true), decided("a", 1, 1, yes), asked,
		}},
		{"of an automatic task", "policy: auto", []journal.Event{responded("a", 1, no)}, []journal.Event{person("a", 1, false), asked, decided("a", 1, 1, no)}},
		{"when the run has been cancelled", byPerson, []journal.Event{responded("a", 1, no), {Type: journal.RunCancelled}}, []journal.Event{
			person("a", 1, true), person("a", 1, false),
		}},
		{"when the run has ended", byPerson, []journal.Event{
			responded("a", 1, yes), person("a", 1, false), responded("free", 1, nil), responded("d", 1, nil),
		}, []journal.Event{person("a", 1, true), person("d", 1, true)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			lived(t, tasks(t, test.fulfillment, ""), func(t *testing.T, s *driver) {
				at := int64(1)
				for _, e := range test.before {
					require.Equal(t, []reactive.Effect{reactive.Applied}, s.receive(at, e))
					at++
				}
				for _, e := range test.late {
					before := full(s.root)
					require.NotEqual(t, reactive.Applied, s.apply(e), "%+v", e)
					require.Equal(t, before, full(s.root), "%+v", e)
				}
			})
		})
	}
}

// TestTasksKeepTheirPromises draws events in any order: no step that needs a task starts before the task is fulfilled or
// abandoned, the open calls are the open calls of the journal, duplicates change nothing, and a rebuilt root is equal.
func TestTasksKeepTheirPromises(t *testing.T) {
	actions := []string{"fail", "pause", "skip", "abort_workflow"}
	sources := map[string]string{
		"source": `policy: external_decision, decision_source: {kind: automatic, operation: verify, timing: {timeout: PT4S, retry: {max_attempts: 3, backoff: PT2S}}}, ` + match,
		"answer": byAnswer, "person": byPerson,
	}
	plans := map[string]*plan.Plan{}
	for source, fulfillment := range sources {
		for _, no := range actions {
			for _, broken := range append(actions, "retry") {
				text := fmt.Sprintf("%s, on_not_fulfilled: %s, on_error: %s", fulfillment, no, broken)
				plans[source+no+broken] = tasks(t, text, "deadline: PT40S")
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p := plans[rapid.SampledFrom([]string{"source", "source", "answer", "person"}).Draw(t, "source")+
			rapid.SampledFrom(actions).Draw(t, "no")+rapid.SampledFrom(append(actions, "retry", "retry")).Draw(t, "broken")]
		x := &taskRun{driver: newDriver(t, p), t: t}
		x.crash = func() bool {
			x.states = append(x.states, full(x.root))
			return rapid.IntRange(0, 3).Draw(t, "crash") == 0
		}
		x.start()
		for range rapid.IntRange(1, 15).Draw(t, "events") {
			x.receive(x.now+rapid.Int64Range(0, 3).Draw(t, "pause"), x.draw())
			x.check()
		}
		root := reactive.New(p)
		for i, e := range stored(t, x.journal) {
			root.Apply(&e)
			require.Equal(t, x.states[i], full(root), "replayed up to %d", i+1)
		}
	})
}

type taskRun struct {
	*driver
	t      *rapid.T
	states []string
}

// draw returns an event that may arrive: mostly one that a call waits for.
func (x *taskRun) draw() journal.Event {
	answer := rapid.SampledFrom([]map[string]any{yes, no, what}).Draw(x.t, "answer")
	attempt := x.root.Attempt(x.node("a"))
	number := rapid.Int32Range(0, 3).Draw(x.t, "number")
	if open := x.root.OpenCalls(); len(open) > 0 && rapid.IntRange(0, 4).Draw(x.t, "open") > 0 {
		req := rapid.SampledFrom(open).Draw(x.t, "call")
		if req.Decision == 0 {
			return responded(x.root.Key(req.Node), req.Attempt, answer)
		}
		number = req.Decision
	}
	switch rapid.IntRange(0, 9).Draw(x.t, "event") {
	case 0, 1, 2, 3:
		return decided("a", attempt, number, answer)
	case 4:
		return undecidable("a", attempt, number)
	case 5, 6:
		return person("a", attempt, rapid.Bool().Draw(x.t, "fulfilled"))
	case 7:
		return failedWith("a", attempt, "broken", false)
	case 8:
		return journal.Event{Type: journal.NodeAborted, Node: rapid.SampledFrom([]string{"a", "b", "free"}).Draw(x.t, "aborted")}
	}
	if x.root.Decidable(x.node("a")) {
		return override("a", attempt, rapid.Bool().Draw(x.t, "after all"))
	}
	if a := x.node("a"); x.root.Finished() == nil && (x.root.Retryable(a) || x.root.Undecided(a)) {
		return journal.Event{Type: journal.NodeRetried, Node: "a", Detail: &journal.Detail{Work: rapid.Bool().Draw(x.t, "work")}}
	}
	return decided("a", attempt, number, answer)
}

func (x *taskRun) check() {
	a := x.node("a")
	status, task := x.root.Status(a), x.root.Fulfillment(a)
	released := status == reactive.Skipped || status == reactive.Completed && task == call.Fulfilled
	for _, key := range []string{"b", "c"} {
		if s := x.root.Status(x.node(key)); x.root.Attempts(a) == 1 && (s == reactive.Running || s == reactive.Completed) {
			require.True(x.t, released, "%s is %s while a is %s, %s", key, s, status, task)
		}
	}
	if x.root.Finished() == nil {
		held := status == reactive.Completed && task != call.Fulfilled
		require.Equal(x.t, held, status == reactive.Completed && !x.root.Final(a), "a is %s, %s", status, task)
		require.Equal(x.t, held && task != call.Undecided, x.root.Paused(), "the run is paused by the decision about a, and by nothing else")
	}
	e := x.journal[len(x.journal)-1]
	if e.Attempt > 0 && e.Type != journal.DecisionOverridden {
		before := full(x.root)
		require.NotEqual(x.t, reactive.Applied, x.apply(e), "%s again", e.Type)
		require.Equal(x.t, before, full(x.root), "%s again", e.Type)
	}
}

// TestHowOftenAnybodyLooksChangesNothing: a decision that is no longer requested loses its place in the queue, even if it is
// later requested again.
func TestHowOftenAnybodyLooksChangesNothing(t *testing.T) {
	p := load(t, `
kind: Workflow
name: w
steps:
  - parallel:
      steps:
        - {operation: a, fulfillment: {`+bySource+`}}
        - {operation: b, fulfillment: {`+bySource+`}}`)
	for _, looks := range []bool{false, true} {
		root := reactive.New(p)
		for i, e := range []journal.Event{
			{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: "r"}}},
			{Type: journal.CallRequested, Node: "a", Attempt: 1}, {Type: journal.CallRequested, Node: "b", Attempt: 1},
			responded("a", 1, yes), person("a", 1, false), responded("b", 1, yes),
			{Type: journal.NodeRetried, Node: "a"}, {Type: journal.CallRequested, Node: "a", Attempt: 2}, responded("a", 2, yes),
		} {
			e.Seq, e.At = uint64(i+1), instant(1)
			require.Equal(t, reactive.Applied, root.Apply(&e), "%s %s", e.Type, e.Node)
			if looks {
				root.NextDecision()
			}
		}
		v, number, ok := root.NextDecision()
		require.True(t, ok)
		require.Equal(t, []any{"b", int32(1)}, []any{root.Key(v), number}, "looked: %v", looks)
	}
}

// Repeated work has its whole time, even if the next timer was read meanwhile.
func TestWorkThatIsRepeatedHasItsWholeTime(t *testing.T) {
	p := load(t, `
kind: Workflow
name: w
steps: [{operation: a, timing: {total_timeout: PT10S}, fulfillment: {`+byPerson+`}}]`)
	lived(t, p, func(t *testing.T, s *driver) {
		s.receive(1, responded("a", 1, nil))
		require.Zero(t, s.root.NextDue(), "a person has any time")
		s.receive(8, journal.Event{Type: journal.NodeRetried, Node: "a", Detail: &journal.Detail{Work: true}})
		require.Equal(t, instant(18), s.root.NextDue())
		s.advance(18)
		require.Equal(t, reactive.Failed, s.root.Status(s.node("a")))
	})
}
