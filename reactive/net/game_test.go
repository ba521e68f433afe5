package net_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

const second = int64(time.Second)

// document writes a model as a playbook.
func (m *model) document() string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: sluice/v1\nkind: Playbook\nmetadata: {name: game}\nexecutor:\n  spec:\n    no_next_is_error: %v\n", m.noNext)
	fmt.Fprintf(&b, "    policy: {completion: %s, on_blocked: %s}\n    limits: {max_step_runs: %d, max_jumps: %d}\n", m.completion, m.onBlocked, m.maxRuns, m.maxJumps)
	if m.final >= 0 {
		fmt.Fprintf(&b, "    final_step: s%d\n", m.final)
	}
	b.WriteString("workflow:\n")
	for i := range m.steps {
		m.steps[i].write(&b, i)
	}
	return b.String()
}

func (s *mStep) write(b *strings.Builder, i int) {
	fmt.Fprintf(b, "  - step: s%d\n    spec:\n      policy:\n        failure: {mode: %s}\n", i, map[bool]string{true: "best_effort", false: "fail_fast"}[s.best])
	if s.gate != "" {
		fmt.Fprintf(b, "        admit:\n          coalesce: %v\n          on_deny: %s\n          rules: [{when: '{{ ctx.%s == true }}', then: {allow: true}}]\n",
			s.coalesce, map[bool]string{true: "discard", false: "pending"}[s.discard], s.gate)
	}
	switch s.join {
	case "count":
		fmt.Fprintf(b, "      join: {mode: count, n: 2}\n")
	case "":
	default:
		fmt.Fprintf(b, "      join: {mode: %s, on_missing: %s}\n", s.join, map[bool]string{true: "fire", false: "skip"}[s.fireMiss])
	}
	if s.join != "" {
		fmt.Fprintf(b, "    set: {ctx.log: '{{ concat(ctx.log ?? [], [\"%s%d[\" + join(map(args.joined, split(#.ref, \"/\")[5]), \" \") + \"]\"]) }}'}\n", s.join, i)
	}
	if s.items >= 0 {
		mode := "sequential"
		if s.width > 1 {
			mode = fmt.Sprintf("parallel, max_in_flight: %d", s.width)
		}
		fmt.Fprintf(b, "    loop: {in: '{{ take([1, 2, 3, 4], %d) }}', iterator: i, spec: {mode: %s}}\n", s.items, mode)
	}
	if len(s.tasks) > 0 {
		b.WriteString("    tool:\n")
	}
	for k, t := range s.tasks {
		fmt.Fprintf(b, "      - name: t%d\n        kind: %s\n", k, map[bool]string{true: "work", false: "noop"}[t.call])
		if rules := []string{
			noPolicy: "", retryErrors: `{when: '{{ outcome.status == "error" }}', then: {do: retry, attempts: 2}}`,
			passErrors: `{when: '{{ outcome.status == "error" }}', then: {do: continue}}`, breaks: `{else: {then: {do: break}}}`,
			sets:      `{else: {then: {do: continue, set_ctx: {a: true}}}}`,
			jumpsBack: `{when: '{{ outcome.status == "error" }}', then: {do: jump, to: t0}}`, fails: `{else: {then: {do: fail}}}`,
		}[t.rule]; rules != "" {
			fmt.Fprintf(b, "        spec: {policy: {rules: [%s]}}\n", rules)
		}
	}
	mode := map[bool]string{true: "inclusive", false: "exclusive"}[s.inclusive]
	fmt.Fprintf(b, "    next:\n      spec: {mode: %s}\n      arcs:\n", mode)
	if len(s.arcs) == 0 {
		b.WriteString("        []\n")
	}
	for _, a := range s.arcs {
		when := ""
		if guards[a.when] != "" {
			when = fmt.Sprintf(", when: '{{ %s }}'", guards[a.when])
		}
		fmt.Fprintf(b, "        - {step: s%d%s}\n", a.to, when)
	}
}

// draw makes a random playbook, with its model.
func draw(t *rapid.T) *model {
	n := rapid.IntRange(1, 6).Draw(t, "steps")
	m := model{
		completion: rapid.SampledFrom([]string{"fail_on_any", "fail_fast", "allow_partial"}).Draw(t, "completion"),
		onBlocked:  rapid.SampledFrom([]string{"wait", "fail", "discard"}).Draw(t, "blocked"),
		final:      rapid.SampledFrom([]int{-1, n - 1}).Draw(t, "final"), maxRuns: rapid.IntRange(1, 15).Draw(t, "runs"),
		maxJumps: rapid.IntRange(1, 4).Draw(t, "jumps"), noNext: rapid.IntRange(0, 4).Draw(t, "strict") == 0,
	}
	for i := range n {
		s := mStep{items: -1, width: 1, best: rapid.Bool().Draw(t, "best")}
		if rapid.IntRange(0, 3).Draw(t, "gated") == 0 && i != m.final {
			s.gate = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")
			s.discard, s.coalesce = rapid.Bool().Draw(t, "discard"), rapid.Bool().Draw(t, "coalesce")
		}
		if i > 0 && i != m.final {
			s.join = rapid.SampledFrom([]string{"", "", "all", "any", "count"}).Draw(t, "join")
			s.fireMiss = rapid.Bool().Draw(t, "missing")
		}
		if rapid.IntRange(0, 3).Draw(t, "looped") == 0 {
			s.items, s.width = rapid.IntRange(0, 3).Draw(t, "items"), rapid.IntRange(1, 3).Draw(t, "width")
		}
		for range rapid.IntRange(0, 3).Draw(t, "tasks") {
			s.tasks = append(s.tasks, mTask{rapid.IntRange(0, 2).Draw(t, "call") > 0, rapid.IntRange(0, ruleKinds-1).Draw(t, "rule")})
		}
		s.inclusive = rapid.Bool().Draw(t, "inclusive")
		for range rapid.IntRange(0, 3).Draw(t, "arcs") {
			s.arcs = append(s.arcs, mArc{rapid.IntRange(0, n-1).Draw(t, "to"), rapid.IntRange(0, len(guards)-1).Draw(t, "when")})
		}
		m.steps = append(m.steps, s)
	}
	return newModel(m)
}

// drawFanOuts makes a random playbook of nested fan-outs, with its model: branches meet at their own join or lead directly to
// the join of a surrounding fan-out, with additional random arcs.
func drawFanOuts(t *rapid.T) *model {
	m := &model{
		completion: rapid.SampledFrom([]string{"fail_on_any", "fail_on_any", "allow_partial", "fail_fast"}).Draw(t, "completion"),
		onBlocked:  rapid.SampledFrom([]string{"wait", "discard"}).Draw(t, "blocked"), final: -1, maxRuns: 40, maxJumps: 1,
	}
	d := &drawing{m, t}
	d.part(3, d.join(-1))
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "more") {
		s := &m.steps[rapid.IntRange(0, len(m.steps)-1).Draw(t, "from")]
		s.arcs = append(s.arcs, mArc{rapid.IntRange(0, len(m.steps)-1).Draw(t, "anywhere"), rapid.IntRange(0, 3).Draw(t, "when")})
	}
	// The run begins with the step that was drawn last.
	last := len(m.steps) - 1
	slices.Reverse(m.steps)
	for i := range m.steps {
		for k := range m.steps[i].arcs {
			m.steps[i].arcs[k].to = last - m.steps[i].arcs[k].to
		}
	}
	return newModel(*m)
}

// drawing draws parts of a playbook from their ends to their beginnings.
type drawing struct {
	*model
	t *rapid.T
}

func (d *drawing) add(s mStep) int {
	s.items, s.width = -1, 1
	if rapid.IntRange(1, 20).Draw(d.t, "gated") == 20 {
		s.gate, s.coalesce, s.discard = "a", rapid.Bool().Draw(d.t, "coalesce"), rapid.Bool().Draw(d.t, "discard")
	}
	d.steps = append(d.steps, s)
	return len(d.steps) - 1
}

// join adds a join that leads to a step.
func (d *drawing) join(to int) int {
	s := mStep{join: rapid.SampledFrom([]string{"all", "all", "all", "any", "count"}).Draw(d.t, "mode"), fireMiss: rapid.Bool().Draw(d.t, "missing")}
	if to >= 0 {
		s.arcs = []mArc{{to: to}}
	}
	return d.add(s)
}

// part adds steps that lead to a step, and returns the first.
func (d *drawing) part(depth, to int) int {
	kind := rapid.SampledFrom([]string{"fan-out", "fan-out", "fan-out", "call", "choice", "step"}).Draw(d.t, "part")
	if depth == 3 {
		kind = "fan-out"
	}
	switch {
	case kind == "call" || depth == 0:
		return d.add(mStep{tasks: []mTask{{call: true}}, arcs: []mArc{{to, rapid.SampledFrom([]int{1, 1, 1, 0}).Draw(d.t, "when")}}})
	case kind == "step":
		return d.add(mStep{arcs: []mArc{{to: d.part(depth-1, to)}}})
	case kind == "choice":
		return d.add(mStep{arcs: []mArc{{d.part(depth-1, to), 3}, {to: to}}})
	}
	own := to
	if rapid.IntRange(1, 3).Draw(d.t, "own") == 3 {
		own = d.join(to)
	}
	s := mStep{inclusive: true}
	for range rapid.IntRange(2, 3).Draw(d.t, "branches") {
		end := rapid.SampledFrom([]int{own, own, own, to}).Draw(d.t, "end")
		s.arcs = append(s.arcs, mArc{d.part(depth-rapid.IntRange(1, depth).Draw(d.t, "less"), end), rapid.SampledFrom([]int{0, 0, 0, 0, 3}).Draw(d.t, "when")})
	}
	return d.add(s)
}

// table drives the net step by step.
type table struct {
	t       require.TestingT
	plan    *plan.Plan
	root    *reactive.Root
	step    *decide.Stepper
	journal []journal.Event
	now     int64
	asked   []reactive.Request // calls that were made, for repeated answers
	kept    []kept
	answers int
	owed    map[string]int32 // calls that a person has retried, with their attempt
	handedOut
}

// kept is the state of the net after some of the events.
type kept struct {
	events int
	digest string
}

func (*table) Function(string, []any) (value.Value, *journal.Failure) {
	return nil, call.NewFailure("", "there are no functions")
}
func (*table) Pure(int32, any) (call.Result, bool) { return call.Result{}, false }
func (*table) Reserve(reactive.Room) bool          { return true }
func (b *table) net() *net.Net                     { return net.Of(b.root) }

func lay(t require.TestingT, text string) *table {
	c, err := kinds.Load("game.yaml", []byte(text), template.Known{Operation: func(string) bool { return true }})
	require.NoError(t, err, text)
	p, err := plan.Compile(c)
	require.NoError(t, err)
	b := &table{t: t, plan: p, now: 1, root: decide.NewRoot(p)}
	b.step = decide.NewStepper(b.root, b)
	b.play(journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: "game"}}})
	return b
}

// play applies events and their consequences. After every event the net is valid, and a finished run has no open calls or
// timers.
func (b *table) play(events ...journal.Event) {
	items := make([]decide.Item, len(events))
	for i := range events {
		items[i] = decide.Item{Event: events[i], Received: b.now}
	}
	b.take(items)
}

// command sends a command, and returns its refusal.
func (b *table) command(e journal.Event) (refused error) {
	b.take([]decide.Item{{Event: e, Received: b.now, Reply: func(err error) { refused = err }}})
	return refused
}

func (b *table) take(items []decide.Item) {
	for {
		out := b.step.Step(b.now, items)
		for _, r := range out.Replies {
			r.To(r.Err)
		}
		b.journal = append(b.journal, out.Batch...)
		b.asked = append(b.asked, out.Calls...)
		b.holdAll(out)
		require.NoError(b.t, net.Check(b.net()))
		items = nil
		if !out.More {
			break
		}
	}
	b.kept = append(b.kept, kept{len(b.journal), b.digest(b.root)})
	if b.root.Finished() == nil {
		return
	}
	require.Empty(b.t, b.root.OpenCalls(), "a run never finishes while a call is open")
	require.Zero(b.t, b.root.NextDue(), "nor while a retry is to come")
	require.Empty(b.t, b.net().Waits(), "nor while a token is pending or held, or a step-run under way")
}

func (b *table) calls() (list []string) {
	for _, req := range b.root.OpenCalls() {
		list = append(list, b.root.Key(req.Node))
	}
	slices.Sort(list)
	return list
}

func (b *table) answer(key string, ok bool) {
	v, known := b.root.Node(key)
	require.True(b.t, known, key)
	var err error
	if !ok {
		err = &operation.Error{Code: "boom", Message: "drawn"}
	}
	b.answers++
	out := operation.Reply{
		Output: map[string]any{"n": int64(b.answers), "rows": []any{map[string]any{"id": int64(b.answers)}}},
		About:  map[string]any{"pg": map[string]any{"code": "00000"}},
	}
	e := decide.Ending(b.root.Request(v, b.root.Attempt(v)), operation.ResultOf(out, err))
	e.Node, e.Hint = key, v+1
	b.play(e, e) // a repeated answer counts once
}

// same compares the net with the model.
func (b *table) same(m *model) {
	t, n := b.t, b.net()
	for i := range m.steps {
		got := n.Step(i)
		live := 0
		for _, r := range m.runs {
			if r.step == i {
				live++
			}
		}
		require.Equal(t, []int{m.count[i], live, m.has(i, "pending"), m.has(i, "held")},
			[]int{got.Runs, got.Live, got.Pending, got.Held}, "s%d: runs, live, pending, held", i)
	}
	require.Equal(t, m.calls(), b.calls())
	c := n.Counts()
	require.Equal(t, []int{m.stepRuns, m.succeeded, m.failed, m.normal, m.bad, m.discarded, m.jumps},
		[]int{c.StepsRun, c.Succeeded, c.Failed, c.NormalBranches, c.BadBranches, c.Discarded, c.Jumps},
		"step-runs, succeeded, failed, branches normal and bad, tokens discarded, jumps")
	for _, key := range []string{"a", "b"} {
		require.Equal(t, m.ctx[key], n.Context()[key] == true, "ctx.%s", key)
	}
	var log []string
	if list, ok := n.Context()["log"].([]any); ok {
		for _, entry := range list {
			log = append(log, entry.(string))
		}
	}
	require.Equal(t, m.log, log, "tokens merged by joins, in order")
	finished := b.root.Finished()
	require.Equal(t, m.done(), finished != nil, "the net is quiet exactly when the model is")
	if finished == nil {
		require.Equal(t, m.waiting(), len(n.Waits()) > 0 && n.Counts().Pending > 0 && b.quiet(), "it waits for its gates")
		return
	}
	status, reason := m.verdict()
	require.Equal(t, status, finished.Detail.State)
	if status != "completed" {
		got := ""
		if finished.Detail.Failure != nil {
			got = finished.Detail.Failure.Code
		}
		require.Equal(t, reason, got)
	}
}

func (b *table) quiet() bool {
	return !slices.ContainsFunc(b.net().Waits(), func(w routed.Wait) bool { return w.Run != "" || w.Kind == routed.ForTurn })
}

// digest returns the state that determines the next events, without instants.
func (b *table) digest(root *reactive.Root) string {
	var out bytes.Buffer
	root.Digest(&out, 0)
	return out.String()
}

// again checks that the journal alone yields the same net, at any prefix, and for an observer that applies the events one by
// one, and that no event of the net itself counts as late.
func (b *table) again() {
	for _, watched := range []bool{false, true} {
		root := decide.NewRoot(b.plan)
		rest := b.kept
		for i := range b.journal {
			e := b.journal[i]
			e.Hint = 0
			outcome := root.Apply(&e)
			switch e.Type {
			case journal.StepScheduled, journal.ContextPatched, journal.TimerFired, journal.NodeAborted:
				require.Equal(b.t, reactive.Applied, outcome, "%s %s", e.Type, e.Node)
			}
			if watched {
				net.Of(root).Waits()
				root.Next(0)
				b.digest(root)
				require.NoError(b.t, net.Check(net.Of(root)))
			}
			for len(rest) > 0 && rest[0].events == i+1 {
				require.Equal(b.t, rest[0].digest, b.digest(root), "after %d of %d events", i+1, len(b.journal))
				rest = rest[1:]
			}
		}
		require.Empty(b.t, rest)
	}
}

func TestTheTokenGame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { playGame(t, draw(t)) })
}

// TestJoinsOfFanOutsWithinOthers plays the game with difficult joins: nested fan-outs, several joins, and paths between these
// that lead elsewhere or back.
func TestJoinsOfFanOutsWithinOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { playGame(t, drawFanOuts(t)) })
}

// playGame compares the net of a playbook with the model under random events.
func playGame(t *rapid.T, m *model) {
	text := m.document()
	t.Log(text)
	b := lay(t, text)
	m.start()
	b.same(m)
	for move := 0; move < 60 && b.root.Finished() == nil; move++ {
		calls := b.calls()
		switch k := rapid.IntRange(0, 9).Draw(t, "move"); {
		case k < 7 && len(calls) > 0:
			key, ok := rapid.SampledFrom(calls).Draw(t, "call"), rapid.SampledFrom([]bool{true, true, false}).Draw(t, "ok")
			b.answer(key, ok)
			m.answer(key, ok)
		case k < 8 && b.root.NextDue() > 0:
			b.now = b.root.NextDue()
			b.play()
			require.True(t, m.pass())
		case k == 9 || len(calls) == 0:
			key, v := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key"), rapid.Bool().Draw(t, "value")
			b.play(journal.Event{Type: journal.ContextPatched, Value: map[string]any{key: v}})
			m.patch(key, v)
		}
		b.same(m)
	}
	b.again()
	b.sameCalls(m)
}

// TestACycleHoldsAsMuchAsItHasCallsAtOnce: the memory of a run does not grow with its length.
func TestACycleHoldsAsMuchAsItHasCallsAtOnce(t *testing.T) {
	const n = 20_000
	b := lay(t, fmt.Sprintf(`
apiVersion: sluice/v1
kind: Playbook
metadata: {name: cycle}
executor: {spec: {limits: {max_step_runs: 1000000}}}
workflow:
  - step: start
    next: {spec: {mode: inclusive}, arcs: [{step: a}, {step: hold}]}
  - {step: hold, spec: {timeout: 1h}, tool: {kind: work}}
  - step: a
    spec: {timeout: 2h}
    tool: {kind: work, timing: {timeout: PT1H}, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {n: "{{ (ctx.n ?? 0) + 1 }}"}}}}]}}}
    next: {spec: {mode: inclusive}, arcs: [{step: a, when: "{{ ctx.n < %d }}"}, {step: b, when: "{{ ctx.n < %d }}"}]}
  - {step: b, tool: {kind: noop}}
`, n, n))
	for range n {
		b.answer("a@"+fmt.Sprint(b.net().Step(2).Runs)+".a_task", true)
		b.journal, b.asked = nil, nil
		require.LessOrEqual(t, b.root.Len(), int32(5))
		require.LessOrEqual(t, net.Timers(b.net()), 64)
	}
	b.answer("hold@1.hold_task", true)
	require.Equal(t, "completed", b.root.Finished().Detail.State)
	require.Equal(t, 2*n+1, b.net().Counts().StepsRun)
}

// collect returns a loop that collects n values in ctx.
func collect(n int) string {
	return fmt.Sprintf(`
apiVersion: sluice/v1
kind: Playbook
metadata: {name: collect}
workflow:
  - step: a
    loop: {in: "{{ 1..%d }}", iterator: i, spec: {mode: parallel, policy: {on_conflict: append}}}
    tool: {kind: noop, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {all: "{{ iter.i }}"}}}}]}}}
`, n)
}

// carry returns an arc with n args of a kilobyte each, which become references.
func carry(n int) string {
	return fmt.Sprintf(`
apiVersion: sluice/v1
kind: Playbook
metadata: {name: carry}
executor: {spec: {result: {store: {kind: auto}}, limits: {max_args_bytes: %d}}}
workflow:
  - step: a
    tool: {kind: noop}
    next: {arcs: [{step: b, args: "{{ fromPairs(map(1..%d, [string(#), repeat('x', 1000)])) }}"}]}
  - {step: b, tool: {kind: noop}}
`, 500*n, n)
}

// deepen returns n nested fan-outs whose tokens all reach one join, which belongs to the surrounding fan-out, if there is one.
func deepen(n int, around bool) string {
	first := ""
	if around {
		first = "  - {step: a, next: {spec: {mode: inclusive}, arcs: [{step: r}, {step: j}]}}\n"
	}
	return fmt.Sprintf(`
apiVersion: sluice/v1
kind: Playbook
metadata: {name: deepen}
workflow:
%s  - {step: r, set: {ctx.n: "{{ (ctx.n ?? 0) + 1 }}"}, next: {spec: {mode: inclusive}, arcs: [{step: r, when: "{{ ctx.n < %d }}"}, {step: j}]}}
  - {step: j, spec: {join: {mode: all}}, tool: {kind: noop}}
`, first, n)
}

// TestWorkGrowsWithWhatThereIs: adding a value to collected or stored values does not visit all of them.
func TestWorkGrowsWithWhatThereIs(t *testing.T) {
	allocated := func(text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b := lay(t, text)
		runtime.ReadMemStats(&after)
		require.Equal(t, "completed", b.root.Finished().Detail.State)
		return after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, allocated(collect(16_000)), 8*allocated(collect(4_000)))
	require.Less(t, allocated(carry(800)), 8*allocated(carry(200)))
	require.Less(t, allocated(deepen(8000, true)), 8*allocated(deepen(2000, true)))
	require.Less(t, allocated(deepen(8000, false)), 8*allocated(deepen(2000, false)))
}

func BenchmarkStepRuns(b *testing.B) {
	for _, kind := range []string{"noop", "work"} {
		for _, shape := range []string{"cycle", "loop"} {
			for _, n := range []int{1_000, 10_000, 100_000} {
				b.Run(fmt.Sprintf("%s/%s/n=%d", shape, kind, n), func(b *testing.B) {
					text := fmt.Sprintf("apiVersion: sluice/v1\nkind: Playbook\nmetadata: {name: bench}\nexecutor: {spec: {limits: {max_step_runs: %d}}}\nworkflow:\n", n)
					if shape == "cycle" {
						text += fmt.Sprintf("  - step: a\n    tool: {kind: %s}\n    next: {arcs: [{step: a}]}\n", kind)
					} else {
						text += fmt.Sprintf("  - step: a\n    loop: {in: '{{ 1..%d }}', iterator: i}\n    tool: {kind: %s}\n", n, kind)
					}
					c, err := kinds.Load("bench.yaml", []byte(text), template.Known{Operation: func(string) bool { return true }})
					require.NoError(b, err)
					p, err := plan.Compile(c)
					require.NoError(b, err)
					b.ReportAllocs()
					for b.Loop() {
						root := decide.NewRoot(p)
						s := decide.NewStepper(root, instant{})
						items := []decide.Item{{Event: journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: "r"}}}}}
						for root.Finished() == nil {
							s.Step(1, items)
							items = nil
						}
						require.Less(b, root.Len(), int32(4))
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/run")
				})
			}
		}
	}
}

// instant is a host that answers calls at once.
type instant struct{}

func (instant) Function(string, []any) (value.Value, *journal.Failure) {
	return nil, call.NewFailure("", "there are no functions")
}
func (instant) Pure(int32, any) (call.Result, bool) { return call.Result{}, true }
func (instant) Reserve(reactive.Room) bool          { return true }

// TestWhoWaitsAtAGateIsToldWhatItsRulesRead: all of it, and nothing else.
func TestWhoWaitsAtAGateIsToldWhatItsRulesRead(t *testing.T) {
	b := lay(t, `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: gate}
workload: {least: 3, other: 1}
executor: {spec: {policy: {on_blocked: wait}}}
workflow:
  - {step: a, tool: {kind: noop}, next: {arcs: [{step: g, args: {n: 2, other: 7}}]}}
  - step: g
    spec: {policy: {admit: {rules: [{when: '{{ args.n >= workload.least }}', then: {allow: true}}, {when: '{{ event.status == "done" && ctx.go == true }}', then: {allow: true}}]}}}
    tool: {kind: noop}
`)
	waits := b.net().Waits()
	require.Len(t, waits, 1)
	require.Equal(t, map[string]any{"args.n": int64(2), "workload.least": int64(3), "event.status": "done", "ctx.go": nil}, waits[0].Reads)
}

// TestAJoinSaysWhatItWaitsFor: the fan-out that it belongs to, and all its live tokens and step-runs.
func TestAJoinSaysWhatItWaitsFor(t *testing.T) {
	b := lay(t, `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: waits}
workflow:
  - {step: a, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: j}, {step: g}]}}
  - {step: b, next: {spec: {mode: inclusive}, arcs: [{step: d}, {step: d}, {step: j}]}}
  - {step: d, tool: {kind: work}, next: {arcs: [{step: j}]}}
  - {step: g, spec: {policy: {admit: {rules: [{when: '{{ ctx.go == true }}', then: {allow: true}}]}}}, next: {arcs: [{step: j}]}}
  - {step: j, spec: {join: {mode: all}}, tool: {kind: noop}}
`)
	of := func() (list []routed.Wait) {
		for _, w := range b.net().Waits() {
			if w.Kind == routed.AtJoin {
				list = append(list, routed.Wait{Step: w.Step, FanOut: w.FanOut, Arrived: w.Arrived, Live: w.Live})
			}
		}
		return list
	}
	require.Equal(t, []routed.Wait{{Step: "j", FanOut: "a@1", Arrived: []string{"a", "b"}, Live: 3}}, of())
	b.answer("d@1.d_task", true)
	require.Equal(t, []routed.Wait{{Step: "j", FanOut: "a@1", Arrived: []string{"a", "b", "d"}, Live: 2}}, of())
	b.answer("d@2.d_task", true)
	require.Equal(t, []routed.Wait{{Step: "j", FanOut: "a@1", Arrived: []string{"a", "b", "d", "d"}, Live: 1}}, of())
	b.play(journal.Event{Type: journal.ContextPatched, Value: map[string]any{"go": true}})
	require.Empty(t, of())
}
