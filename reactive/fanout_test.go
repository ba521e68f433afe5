package reactive_test

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
)

// pendingFunctions returns a workflow of one step that asks a, b and c.
func pendingFunctions(t testing.TB, rest string) *plan.Plan {
	return load(t, `
kind: Workflow
name: w
steps: [{operation: ask, target: {resolve: static, participants: [a, b, c]}, `+rest+`}]`)
}

func states(root *reactive.Root, v int32) string {
	var words []string
	for _, d := range root.Dispatches(v) {
		words = append(words, fmt.Sprint(d.Participant, d.Attempt, " ", d.State))
	}
	return fmt.Sprint(words)
}

func TestNobodyIsCalledWhenThereAreTooFew(t *testing.T) {
	s := newDriver(t, pendingFunctions(t, "fan_in: {policy: quorum, min_responses: 2}, timing: {retry: {max_attempts: 2}}"))
	s.targets = func(attempt int32) []string { return [][]string{{"a"}, {"a", "b"}}[attempt-1] }
	var called []string
	s.started = func(req reactive.Request) { called = append(called, fmt.Sprint(req.Participant, req.Attempt)) }
	s.start()
	v := s.node("ask")
	require.Equal(t, []string{"a2", "b2"}, called, "an attempt that cannot succeed costs nothing")
	require.Equal(t, "[a1 cancelled a2 pending b2 pending]", states(s.root, v))
	s.receive(1, of("a", responded("ask", 2, 1)), of("b", responded("ask", 2, 2)))
	require.Equal(t, reactive.RunCompleted, s.root.RunStatus())
}

func TestAParticipantIsAskedOnceInAnAttempt(t *testing.T) {
	s := newDriver(t, pendingFunctions(t, "fan_in: {policy: any_one, hedge_after: PT9S}")).start()
	v := s.node("ask")
	created := func(who string) journal.Event {
		return journal.Event{Type: journal.DispatchCreated, Node: "ask", Attempt: 1, Detail: &journal.Detail{Participant: who}}
	}
	require.Equal(t, []reactive.Effect{reactive.Late}, s.receive(1, created("a")), "a participant with an open dispatch")
	require.Equal(t, []reactive.Effect{reactive.Late}, s.receive(2, created("c")), "a participant before its turn")
	require.Equal(t, []reactive.Effect{reactive.Late}, s.receive(3, created("d")), "a participant that is not a target")
	require.Equal(t, []reactive.Effect{reactive.Applied}, s.receive(4, of("a", failedWith("ask", 1, "broken", false))))
	require.Equal(t, []reactive.Effect{reactive.Late}, s.receive(5, created("a")), "a participant that has failed")
	require.Equal(t, "[a1 failed b1 pending]", states(s.root, v))
}

func TestOfEqualScoresTheOneReceivedFirstWins(t *testing.T) {
	p := pendingFunctions(t, "fan_in: {policy: best_of, score_field: /price}, timing: {timeout: PT9S}")
	offer := func(who string, received int64) journal.Event {
		e := of(who, responded("ask", 1, map[string]any{"price": 5, "by": who}))
		e.Detail.Received = received
		return e
	}
	for _, test := range []struct {
		name, want string
		answers    []journal.Event
	}{
		{"in the order of the journal", "b", []journal.Event{offer("b", 0), offer("a", instant(3)), offer("c", 0)}},
		{"received at different instants", "b", []journal.Event{offer("b", instant(1)), offer("a", instant(2)), offer("c", 0)}},
		{"received at one instant, the dispatch that was made first", "a", []journal.Event{offer("c", 0), offer("b", 0), offer("a", 0)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newDriver(t, p).start()
			if test.answers[0].Detail.Received == 0 && test.want == "b" {
				s.receive(2, test.answers[0])
				test.answers = test.answers[1:]
			}
			s.receive(3, test.answers...)
			require.Equal(t, test.want, s.root.Output(s.node("ask")).(map[string]any)["by"])
		})
	}
}

func TestACallThatWasStoppedIsNoAnswer(t *testing.T) {
	for _, e := range []journal.Event{
		{Type: journal.CallAborted, Node: "ask", Attempt: 1},
		{Type: journal.CallError, Node: "ask", Attempt: 1},
		{Type: journal.DispatchSettled, Node: "ask", Attempt: 1, Detail: &journal.Detail{State: "failed"}},
	} {
		s := newDriver(t, pendingFunctions(t, "fan_in: {policy: all}")).start()
		require.Equal(t, []reactive.Effect{reactive.Applied}, s.receive(1, of("a", e)))
		require.Equal(t, "[a1 failed b1 cancelled c1 cancelled]", states(s.root, s.node("ask")), e.Type)
		require.Equal(t, "target_failed", s.root.Failure(s.node("ask")).Code)
	}
	for _, state := range []string{"", "pending", "cancelled", "timeout", "lost"} {
		s := newDriver(t, pendingFunctions(t, "fan_in: {policy: all}")).start()
		e := of("a", journal.Event{Type: journal.DispatchSettled, Node: "ask", Attempt: 1, Detail: &journal.Detail{State: state}})
		require.Equal(t, reactive.Late, s.root.Apply(&e), "no participant says %q", state)
		require.Equal(t, "[a1 pending b1 pending c1 pending]", states(s.root, s.node("ask")))
	}
}

func TestAManualRetryOfACompletedStepAsksEverybody(t *testing.T) {
	p := load(t, `
kind: Workflow
name: w
steps:
  - parallel:
      steps: [{operation: ask, target: {resolve: static, participants: [a, b]}, fan_in: {policy: any_one}}, {operation: other}]`)
	s := newDriver(t, p).start()
	s.receive(1, of("b", responded("ask", 1, "old")))
	s.receive(2, journal.Event{Type: journal.NodeRetried, Node: "ask"})
	require.Equal(t, reactive.Running, s.root.Status(s.node("ask")))
	require.Equal(t, "[a1 cancelled b1 responded a2 pending b2 pending]", states(s.root, s.node("ask")))
	s.receive(3, of("b", responded("ask", 2, "new")))
	require.Equal(t, "new", s.root.Output(s.node("ask")))
}

func TestEveryEndStopsWhatIsUnderWay(t *testing.T) {
	for name, end := range map[string]journal.Event{
		"the step is aborted":   {Type: journal.NodeAborted, Node: "ask"},
		"the run is cancelled":  {Type: journal.RunCancelled},
		"the run is closed":     {Type: journal.RunClosed, Detail: &journal.Detail{Failure: &journal.Failure{Code: "x"}}},
		"its deadline has come": {Type: journal.RunDeadlineExceeded, Detail: &journal.Detail{Due: instant(1)}},
	} {
		s := newDriver(t, pendingFunctions(t, "fan_in: {policy: all}")).start()
		require.Len(t, s.flying, 3)
		s.receive(1, of("b", responded("ask", 1, 1)), end)
		require.Empty(t, s.flying, name)
		require.Equal(t, "[a1 cancelled b1 responded c1 cancelled]", states(s.root, s.node("ask")), name)
		require.Equal(t, []reactive.Effect{reactive.Late}, s.receive(2, of("a", responded("ask", 1, 1))), name)
	}
}

// manyAsked returns a best_of step, and the events of a run in which all participants answer.
type manyAsked struct {
	plan   *plan.Plan
	events []journal.Event
}

func newManyAsked(t testing.TB, n int) *manyAsked {
	participants := make([]string, n)
	for i := range participants {
		participants[i] = "p" + strconv.Itoa(i)
	}
	m := &manyAsked{plan: compile(t, &template.Workflow{Name: "w", Steps: []template.Node{&template.Step{
		ID: "ask", Operation: "op", Target: &template.Target{Resolve: template.ResolveStatic, Participants: participants},
		FanIn:  &template.FanIn{Policy: template.BestOf, ScoreField: "/price"},
		Timing: &template.Timing{Timeout: 1e12},
	}}})}
	m.events = append(m.events,
		journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: "r"}}},
		journal.Event{Type: journal.CallRequested, Node: "ask", Attempt: 1, Detail: &journal.Detail{Participants: participants}})
	for i, p := range participants {
		m.events = append(m.events, of(p, responded("ask", 1, map[string]any{"price": int64(i * 7919 % n), "by": p})))
	}
	for i := range m.events {
		m.events[i].Seq, m.events[i].At = uint64(i+1), int64(i+1)
	}
	return m
}

// play applies the events, and returns the number of timers while all answers were outstanding.
func (m *manyAsked) play(t testing.TB) (timers int) {
	root := reactive.New(m.plan)
	for i := range m.events {
		if i == 2 {
			if timers = root.Timers(); len(root.TakeCalls()) != len(m.events)-2 {
				t.Fatal("not everybody was called")
			}
		}
		e := m.events[i]
		if root.Apply(&e) != reactive.Applied {
			t.Fatal("event", i, "did not count")
		}
	}
	if best := root.Output(0).(map[string]any)["price"]; best != int64(len(m.events)-3) {
		t.Fatal("the best is", best)
	}
	return timers
}

// TestACrowdCostsWhatItsMembersCost: a hundred thousand participants take ten times as long as ten thousand, and one timer.
func TestACrowdCostsWhatItsMembersCost(t *testing.T) {
	cost := func(n int) (mallocs, bytes float64) {
		m := newManyAsked(t, n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.Equal(t, 1, m.play(t), "timers of %d dispatches", n)
		runtime.ReadMemStats(&after)
		return float64(after.Mallocs - before.Mallocs), float64(after.TotalAlloc - before.TotalAlloc)
	}
	goroutines := runtime.NumGoroutine()
	mallocs, bytes := cost(10_000)
	manyMallocs, manyBytes := cost(100_000)
	require.LessOrEqual(t, manyMallocs/mallocs, 12.0, "allocations")
	require.LessOrEqual(t, manyBytes/bytes, 12.0, "bytes")
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
	t.Logf("%.1f allocations and %.0f bytes a dispatch", manyMallocs/100_000, manyBytes/100_000)
}

// TestACrowdAskedOneByOne: when hedging, all fail at once, and after each failure the next participant is asked.
func TestACrowdAskedOneByOne(t *testing.T) {
	const n = 20_000
	m := newManyAsked(t, n)
	step := m.plan.Nodes[0].Step
	step.FanIn = &template.FanIn{Policy: template.AnyOne, HedgeAfter: 1e12}
	step.Timing = nil
	root := reactive.New(m.plan)
	for i := range m.events[:2] {
		root.Apply(&m.events[i])
	}
	for i := range n {
		calls := root.TakeCalls()
		require.Len(t, calls, 1)
		e := of(calls[0].Participant, failedWith("ask", 1, "broken", true))
		require.Equal(t, reactive.Applied, root.Apply(&e))
		h, ok := root.NextHedge()
		require.Equal(t, i < n-1, ok)
		if ok {
			root.Apply(&journal.Event{Type: journal.DispatchCreated, Node: "ask", Attempt: 1, Detail: &journal.Detail{Participant: h.Participant}})
		}
	}
	require.Equal(t, "all_failed", root.Failure(0).Code)
	require.LessOrEqual(t, root.Timers(), n)
	require.False(t, slices.ContainsFunc(root.OpenCalls(), func(reactive.Request) bool { return true }))
}

// BenchmarkFanOut plays one best_of step from start to end: all participants are asked, and all answer.
func BenchmarkFanOut(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("dispatches=%d", n), func(b *testing.B) {
			m := newManyAsked(b, n)
			b.ReportAllocs()
			for b.Loop() {
				m.play(b)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/dispatch")
		})
	}
}
