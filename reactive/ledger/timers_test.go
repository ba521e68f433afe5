package ledger_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template"
)

// state is the state of a step of the model.
type state string

const (
	idle    state = "idle"
	running state = "running"
	backoff state = "backoff" // failed, and the retry is not due
	again   state = "again"   // must be requested as soon as possible
	ended   state = "ended"
)

// model is a model of a step for timers. Instants and durations are in seconds; 0: none.
type model struct {
	timeout, total, retries, delay int

	state        state
	attempt      int32
	asked, first int // instants of the requests of its newest and its first attempt
	retryAt      int
}

// due is a timer of the model. Timers of one instant fire by kind, then by step.
type due struct {
	at    int
	kind  string
	order int
	node  int32
}

// day is a model of a run's timers, which searches all steps each time.
type day struct {
	now, deadline, limit int
	steps                []*model
}

func (d *day) timers() (list []due) {
	for v, m := range d.steps {
		if m.state == running && m.timeout > 0 {
			list = append(list, due{m.asked + m.timeout, "the attempt's timeout", 1, int32(v)})
		}
		if m.state == backoff {
			list = append(list, due{m.retryAt, "the next attempt", 0, int32(v)})
		}
		if m.total > 0 && m.first > 0 && (m.state == running || m.state == backoff || m.state == again) {
			list = append(list, due{m.first + m.total, "the step's total timeout", 2, int32(v)})
		}
	}
	if d.deadline > 0 {
		list = append(list, due{d.deadline, "the run's deadline", 3, -1})
	}
	slices.SortFunc(list, func(a, b due) int {
		return cmp.Or(a.at-b.at, a.order-b.order, int(a.node-b.node))
	})
	return list
}

// fail ends an attempt at an instant, for a timeout the timer's.
func (d *day) fail(m *model, at int) {
	m.retryAt = at + m.delay
	m.state = backoff
	if int(m.attempt) > m.retries || d.deadline > 0 && m.retryAt >= d.deadline || m.total > 0 && m.first > 0 && m.retryAt >= m.first+m.total {
		m.state = ended
	}
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

func instant(second int) int64 { return int64(seconds(second)) }

func (m *model) step() *template.Step {
	return &template.Step{Timing: &template.Timing{
		Timeout: seconds(m.timeout), TotalTimeout: seconds(m.total),
		Retry: &template.Retry{MaxAttempts: m.retries + 1, Backoff: seconds(m.delay), Multiplier: 1},
	}}
}

// For any history of steps with timeouts and retries, the next timer is the first of all timers of the model, and it fires the
// event of its kind.
func TestTheNextTimerIsTheFirstOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &day{now: 1, limit: rapid.SampledFrom([]int{0, 5, 15, 40}).Draw(t, "deadline")}
		var steps []*template.Step
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			m := &model{
				state:   idle,
				timeout: rapid.IntRange(0, 4).Draw(t, "timeout"), total: rapid.SampledFrom([]int{0, 6, 9}).Draw(t, "total"),
				retries: rapid.IntRange(0, 3).Draw(t, "retries"), delay: rapid.IntRange(1, 4).Draw(t, "backoff"),
			}
			d.steps, steps = append(d.steps, m), append(steps, m.step())
		}
		w := beside(steps...)
		w.Deadline = seconds(d.limit)
		b := open(t, w)
		step := rapid.Int32Range(0, int32(len(steps)-1))
		failure := &journal.Detail{Failure: &journal.Failure{Code: "x", Retryable: true}}
		over := false
		end := func(t *rapid.T, kind journal.Type, detail *journal.Detail) *model {
			v := step.Draw(t, "step")
			m := d.steps[v]
			want := ledger.Applied
			if m.state != running {
				want = ledger.Late
			}
			if m.state == idle {
				t.Skip("it has no attempt")
			}
			require.Equal(t, want, b.step(v, journal.Event{Type: kind, At: instant(d.now), Attempt: m.attempt, Detail: detail}))
			if m.state != running {
				return nil
			}
			return m
		}
		fire := func(t *rapid.T, x due) {
			e := b.Fire(instant(d.now))
			require.Equal(t, instant(x.at), e.Detail.Due)
			if x.kind == "the run's deadline" {
				require.Equal(t, journal.RunDeadlineExceeded, e.Type)
				b.Close(b.next(&e))
				over = true
				return
			}
			m := d.steps[x.node]
			require.Equal(t, owner{}.Key(x.node), e.Node)
			require.Equal(t, m.attempt, e.Attempt)
			want := journal.CallError
			switch {
			case x.kind == "the next attempt":
				want = journal.TimerFired
				m.state = again
			case x.kind == "the step's total timeout" && m.state != running:
				want = journal.StepFailed
				m.state = ended
			case x.kind == "the step's total timeout":
				m.state = ended
			default:
				d.fail(m, x.at)
			}
			require.Equal(t, want, e.Type, x.kind)
			require.Equal(t, ledger.Applied, b.step(x.node, e), x.kind)
		}
		t.Repeat(map[string]func(*rapid.T){
			"request": func(t *rapid.T) {
				v := step.Draw(t, "step")
				m := d.steps[v]
				if over || m.state != idle && m.state != again {
					t.Skip("it must not be requested")
				}
				m.state, m.asked = running, d.now
				m.attempt++
				if m.total > 0 && m.first == 0 {
					m.first = d.now
				}
				if d.limit > 0 && d.deadline == 0 {
					d.deadline = d.now + d.limit
				}
				require.Equal(t, ledger.Applied, b.step(v, journal.Event{Type: journal.CallRequested, At: instant(d.now), Attempt: m.attempt}))
			},
			"respond": func(t *rapid.T) {
				if over {
					t.Skip("it is over")
				}
				if m := end(t, journal.CallResponded, nil); m != nil {
					m.state = ended
				}
			},
			"fail": func(t *rapid.T) {
				if over {
					t.Skip("it is over")
				}
				if m := end(t, journal.CallError, failure); m != nil {
					d.fail(m, d.now)
				}
			},
			"ask again": func(t *rapid.T) {
				v := step.Draw(t, "step")
				m := d.steps[v]
				want := ledger.Late
				if m.state == ended || m.state == backoff {
					want, m.state, m.first = ledger.Applied, again, 0
				}
				require.Equal(t, want, b.step(v, journal.Event{Type: journal.NodeRetried, At: instant(d.now)}))
			},
			"wait": func(t *rapid.T) {
				until := d.now + rapid.IntRange(0, 5).Draw(t, "seconds")
				for list := d.timers(); !over && len(list) > 0 && list[0].at <= until; list = d.timers() {
					at, _ := b.NextTimer()
					require.Equal(t, instant(list[0].at), at)
					d.now = max(d.now, list[0].at, min(until, d.now+1)) // sometimes it is late
					fire(t, list[0])
				}
				d.now = max(d.now, until)
			},
			"": func(t *rapid.T) {
				next, retry := b.NextTimer()
				if list := d.timers(); over || len(list) == 0 {
					require.Zero(t, next)
				} else {
					require.Equal(t, instant(list[0].at), next)
					require.Equal(t, list[0].kind == "the next attempt", retry)
				}
				require.Equal(t, instant(d.deadline), b.Deadline())
				for v := range int32(len(steps)) {
					var want, got []ledger.Due
					for _, x := range d.timers() {
						if x.node == v && !over {
							want = append(want, ledger.Due{At: instant(x.at), Means: x.kind})
						}
					}
					for _, x := range b.TimersOf(v) {
						if !slices.Contains(got, x) { // a step that a person retries at once has its whole time again, with the same end
							got = append(got, x)
						}
					}
					require.ElementsMatch(t, want, got)
				}
			},
		})
	})
}

// Stale timers are dropped together if there are many, long before they are due.
func TestStaleTimersAreSwept(t *testing.T) {
	b := open(t, beside((&model{timeout: 1000, delay: 1}).step(), (&model{timeout: 5000, delay: 1}).step()))
	b.step(1, journal.Event{Type: journal.CallRequested, At: instant(1), Attempt: 1})
	for i := range int32(10_000) {
		b.step(0, journal.Event{Type: journal.CallRequested, At: instant(1), Attempt: i + 1})
		b.step(0, journal.Event{Type: journal.CallResponded, At: instant(1), Attempt: i + 1})
	}
	require.LessOrEqual(t, b.TimersKept(), 1025)
	next, retry := b.NextTimer()
	require.Equal(t, instant(5001), next, "the one that means something is kept")
	require.False(t, retry)
	b.Finish(b.next(&journal.Event{Type: journal.RunFinished}))
	next, _ = b.NextTimer()
	require.Zero(t, next, "a run that has ended has none")
}

// A reopened run has a new deadline, from its next call on; the old one has no effect.
func TestAReopenedRunHasItsDeadlineAnew(t *testing.T) {
	w := beside(&template.Step{})
	w.Deadline = seconds(10)
	b := open(t, w)
	b.step(0, journal.Event{Type: journal.CallRequested, At: instant(1), Attempt: 1})
	b.step(0, journal.Event{Type: journal.CallError, At: instant(2), Attempt: 1})
	require.Equal(t, instant(11), b.Deadline())
	b.Finish(b.next(&journal.Event{Type: journal.RunFinished}))
	require.Equal(t, ledger.Applied, b.Reopen())
	require.Equal(t, ledger.Late, b.Reopen())
	next, _ := b.NextTimer()
	require.Zero(t, next)
	b.step(0, journal.Event{Type: journal.CallRequested, At: instant(7), Attempt: 2})
	next, _ = b.NextTimer()
	require.Equal(t, instant(17), next)
}
