package reactive_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// TestFanOutsComeToWhatTheRulesSay compares random fan-outs with an oracle. It rebuilds the root from its journal after random
// events, and repeats and delays events.
func TestFanOutsComeToWhatTheRulesSay(t *testing.T) {
	for _, policy := range fanIns {
		t.Run(policy, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w := worlds(policy).Draw(t, "world")
				p, err := w.compile()
				require.NoError(t, err)
				x := &performance{world: w, driver: newDriver(t, p), t: t}
				require.Equal(t, w.predict(), x.perform())
				x.checkReplays()
			})
		})
	}
}

// TestWorldsAreVaried checks that random worlds reach every end.
func TestWorldsAreVaried(t *testing.T) {
	ends := map[string]int{}
	for _, policy := range fanIns {
		for seed := range 500 {
			p := worlds(policy).Example(seed).predict()
			ends[p.Run]++
			ends[p.Status+" "+p.Code]++
			ends[fmt.Sprint(p.Status, " in ", p.Attempts)]++
		}
	}
	t.Log(ends)
	for _, end := range []string{
		"running", "completed", "failed", "step_timeout", "deadline_exceeded", "skipped timeout", "failed timeout",
		"failed all_failed", "failed no_targets", "failed target_failed", "failed quorum_unreachable",
		"failed no_scorable_response", "completed in 1", "completed in 2", "completed in 3", "failed in 4",
	} {
		require.Greater(t, ends[end], 2, "worlds that come to %q", end)
	}
}

var fanIns = []string{template.AnyOne, template.All, template.Quorum, template.BestOf}

func worlds(policy string) *rapid.Generator[*world] {
	return rapid.Custom(func(t *rapid.T) *world { return drawWorld(t, policy) })
}

// drawWorld makes a random world. Numbers are small, so that events coincide.
func drawWorld(t *rapid.T, policy string) *world {
	second := func(name string, hi int64) int64 { return rapid.Int64Range(0, hi).Draw(t, name) }
	names := []string{"a", "b", "c", "d", "e"}
	w := &world{
		policy:     policy,
		timeout:    second("timeout", 8),
		total:      second("total", 25) * second("has total", 1),
		deadline:   second("deadline", 30) * second("has deadline", 1),
		onTimeout:  rapid.SampledFrom([]template.OnTimeout{"", template.FailOnTimeout, template.SkipOnTimeout, template.AbortOnTimeout}).Draw(t, "on timeout"),
		attempts:   rapid.IntRange(1, 4).Draw(t, "attempts"),
		backoff:    second("backoff", 4),
		maxBackoff: second("max backoff", 6),
		multiplier: rapid.SampledFrom([]float64{1, 1, 2, 3}).Draw(t, "multiplier"),
		scopeAll:   rapid.Bool().Draw(t, "scope all"),
		reactions:  map[asking]reaction{},
	}
	switch w.policy {
	case template.AnyOne:
		w.hedge = second("hedge", 3)
	case template.Quorum:
		w.min = rapid.IntRange(1, 3).Draw(t, "min")
	case template.BestOf:
		w.min = rapid.IntRange(0, 2).Draw(t, "min")
		w.ascending = rapid.Bool().Draw(t, "ascending")
		if w.timeout+w.deadline == 0 {
			w.timeout = 5
		}
	}
	codes := []string{"timeout", "all_failed", "no_targets", "quorum_unreachable", "target_failed", "no_scorable_response"}
	switch rapid.IntRange(0, 5).Draw(t, "codes") {
	case 0:
		w.on = rapid.SliceOfNDistinct(rapid.SampledFrom(codes), 1, 4, rapid.ID).Draw(t, "on")
	case 1:
		w.never = rapid.SliceOfNDistinct(rapid.SampledFrom(codes), 1, 2, rapid.ID).Draw(t, "never")
	}
	for attempt := range int32(w.attempts) {
		if attempt == 0 || rapid.IntRange(0, 3).Draw(t, "others") == 0 {
			w.targets = append(w.targets, rapid.SliceOfN(rapid.SampledFrom(names), rapid.SampledFrom([]int{0, 2, 3, 3, 4}).Draw(t, "least"), 6).Draw(t, "targets"))
		} else {
			w.targets = append(w.targets, w.targets[attempt-1])
		}
		for _, who := range names {
			w.reactions[asking{who, attempt + 1}] = reaction{
				after: second("after", 7), turn: rapid.IntRange(0, 3).Draw(t, "turn"),
				kind:  rapid.SampledFrom([]reactionKind{scored, scored, scored, unscored, busy, busy, refused, absent}).Draw(t, "kind"),
				score: float64(rapid.IntRange(-1, 1).Draw(t, "score")),
			}
		}
	}
	return w
}

func (w *world) compile() (*plan.Plan, error) {
	seconds := func(n int64) time.Duration { return time.Duration(n) * time.Second }
	s := &template.Step{
		ID: "ask", Operation: "op",
		Target: &template.Target{Resolve: template.ResolveStatic, Participants: []string{"a", "b", "c", "d", "e"}},
		FanIn:  &template.FanIn{Policy: w.policy, MinResponses: w.min, HedgeAfter: seconds(w.hedge)},
		Timing: &template.Timing{Timeout: seconds(w.timeout), TotalTimeout: seconds(w.total), OnTimeout: w.onTimeout,
			Retry: &template.Retry{
				MaxAttempts: w.attempts, Backoff: seconds(w.backoff), MaxBackoff: seconds(w.maxBackoff), Multiplier: w.multiplier,
				On: w.on, Never: w.never,
			}},
	}
	if w.policy == template.BestOf {
		s.FanIn.ScoreField, s.FanIn.ScoreOrder = "/price", "desc"
		if w.ascending {
			s.FanIn.ScoreOrder = "asc"
		}
	}
	if w.scopeAll {
		s.Timing.Retry.Scope = template.ScopeAll
	}
	checked, err := template.Check(&template.Workflow{
		Name: "w", Deadline: seconds(w.deadline), Steps: []template.Node{s},
		Output: "{{ steps.ask.output ?? null }}", HasOutput: true,
	}, template.Known{Lenient: true})
	if err != nil {
		return nil, err
	}
	return plan.Compile(checked)
}

// performance is a world driven by a driver.
type performance struct {
	*driver
	world  *world
	t      *rapid.T
	coming []arrival
	states []string // after each event
}

// arrival is an answer that has not arrived yet.
type arrival struct {
	at   int64
	turn int
	req  reactive.Request
}

// perform drives the world and returns the result.
func (x *performance) perform() prediction {
	x.targets = x.world.targetsOf
	x.started = func(req reactive.Request) {
		r := x.world.reactions[asking{req.Participant, req.Attempt}]
		if r.after > 0 {
			x.coming = append(x.coming, arrival{x.now + r.after, r.turn, req})
		}
	}
	x.crash = func() bool {
		x.states = append(x.states, full(x.root))
		return rapid.IntRange(0, 4).Draw(x.t, "crash") == 0
	}
	x.start()
	for second := range int64(horizon) {
		x.advance(second)
		x.arrive(second + 1)
	}
	x.repeat()
	return x.result()
}

// arrive applies the reactions of one second. A reaction counts if and only if its call is in progress.
func (x *performance) arrive(at int64) {
	var now []arrival
	for _, a := range x.coming {
		if a.at == at {
			now = append(now, a)
		}
	}
	x.coming = slices.DeleteFunc(x.coming, func(a arrival) bool { return a.at == at })
	slices.SortStableFunc(now, func(a, b arrival) int { return cmp.Compare(a.turn, b.turn) })
	if len(now) == 0 {
		return
	}
	x.now = at
	for _, a := range now {
		_, wanted := x.flying[a.req]
		before := full(x.root)
		out := x.apply(x.event(a.req))
		require.Equal(x.t, wanted, out == reactive.Applied, "%s of %s in attempt %d", out, a.req.Participant, a.req.Attempt)
		if !wanted {
			require.Equal(x.t, before, full(x.root), "an answer that was not waited for")
		}
		x.repeat()
	}
	x.settle()
}

// event returns the event of a reaction.
func (x *performance) event(req reactive.Request) journal.Event {
	a := asking{req.Participant, req.Attempt}
	e := responded("ask", req.Attempt, x.world.output(a))
	switch x.world.reactions[a].kind {
	case busy:
		e = failedWith("ask", req.Attempt, "busy", true)
	case refused:
		e = failedWith("ask", req.Attempt, "refused", false)
	case absent:
		e = unreachable("ask", req.Attempt)
	}
	return of(req.Participant, e)
}

// repeat applies an earlier event again, which must change nothing.
func (x *performance) repeat() {
	e := rapid.SampledFrom(x.journal).Draw(x.t, "again")
	if e.Attempt == 0 || rapid.Bool().Draw(x.t, "not again") {
		return
	}
	before := full(x.root)
	require.NotEqual(x.t, reactive.Applied, x.apply(e), "%s again", e.Type)
	require.Equal(x.t, before, full(x.root), "%s again", e.Type)
}

func (x *performance) result() prediction {
	v := x.node("ask")
	p := prediction{
		Run: string(x.root.RunStatus()), Status: x.root.Status(v).String(), Attempts: int(x.root.Attempts(v)), Finished: -1,
	}
	if f := x.root.Failure(v); f != nil {
		p.Code = f.Code
	}
	out, err := value.Of(x.root.Output(v))
	require.NoError(x.t, err)
	p.Output = plainScores(out)
	for _, d := range x.root.Dispatches(v) {
		p.Dispatches = append(p.Dispatches, dispatched{d.Participant, d.Attempt, string(d.State)})
	}
	if e := x.root.Finished(); e != nil {
		p.Finished = (e.At - instant(0)) / int64(time.Second)
		out, err := value.Of(e.Value)
		require.NoError(x.t, err)
		require.Equal(x.t, p.Output, plainScores(out), "the run's output is the step's")
	}
	return p
}

// plainScores converts the scores of an output to floats, as in the world.
func plainScores(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			if n, ok := x.(int64); ok && key == "price" {
				v[key] = float64(n)
			} else {
				v[key] = plainScores(x)
			}
		}
	case []any:
		for i := range v {
			v[i] = plainScores(v[i])
		}
	}
	return v
}

// checkReplays rebuilds every state of the run from the journal as it would be stored.
func (x *performance) checkReplays() {
	root := reactive.New(x.plan)
	for i, e := range stored(x.t, x.journal) {
		root.Apply(&e)
		require.Equal(x.t, x.states[i], full(root), "replayed up to %d", i+1)
	}
}
