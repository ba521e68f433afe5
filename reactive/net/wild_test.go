package net_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/routed"
)

// wild draws playbooks with features that the token game omits: timeouts, expressions that fail, args, paths in sets,
// results out of line. Their results are not predicted, but the net must stay valid and end.
type wild struct {
	t *rapid.T
	strings.Builder
	copies  []string // sets of whole scopes: at most one way to keep earlier values, because two double them each time
	appends bool     // the current loop collects the values that its iterations set, which is the second way
}

func (w *wild) one(of ...string) string           { return rapid.SampledFrom(of).Draw(w.t, "one") }
func (w *wild) chance(n int) bool                 { return rapid.IntRange(1, n).Draw(w.t, "chance") == n }
func (w *wild) number(least, most int) int        { return rapid.IntRange(least, most).Draw(w.t, "number") }
func (w *wild) line(format string, values ...any) { fmt.Fprintf(w, format+"\n", values...) }

func (w *wild) guard() string {
	return w.one("true", "ctx.a == true", "ctx.b == true", "ctx.a.x == 1", `event?.name == "step.done"`, `event?.status == "failed"`,
		"len(args) > 0", "args.k == 1", "ctx.n < 3", "(ctx.n ?? 0) < 4")
}

func (w *wild) set() string {
	return w.one("{ctx.a: true}", "{ctx.b: true, ctx.n: '{{ (ctx.n ?? 0) + 1 }}'}", "{ctx.a: false}", "{ctx.a.x: 1}", "{ctx.a: {x: 1}}",
		"{ctx.n: '{{ ctx.n + 1 }}'}", "{ctx.m: '{{ args }}'}")
}

// taskSet returns a set of a task's rule.
func (w *wild) taskSet() string {
	if w.appends {
		return w.set()
	}
	return w.one(append(w.copies, w.set(), w.set())...)
}

// input returns the input of a call: whole scopes.
func (w *wild) input() string {
	return w.one("{}", "{c: '{{ ctx }}'}", "{r: '{{ results }}', p: '{{ _prev }}'}", "{i: '{{ iter }}', s: '{{ step }}'}", "{a: '{{ args }}', w: '{{ workload }}'}")
}

func (w *wild) playbook() string {
	w.copies = rapid.SampledFrom([][]string{
		{"{ctx.copy: '{{ ctx }}'}"}, {"{ctx.copy: '{{ results }}'}", "{iter.h: '{{ concat(iter.h ?? [], [results]) }}'}", "{ctx.h: '{{ iter }}'}"},
		{"{iter.c: '{{ ctx }}'}", "{ctx.copy: '{{ iter }}'}"}, {"{step.s: '{{ step }}'}", "{step.r: '{{ results }}'}", "{ctx.copy.s: '{{ step }}'}"},
		{"{ctx.copy: '{{ outcome }}'}", "{ctx.copy.r: '{{ results }}'}"},
	}).Draw(w.t, "copies")
	n := w.number(2, 7)
	w.line("apiVersion: sluice/v1\nkind: Playbook\nmetadata: {name: wild}\nexecutor:\n  spec:")
	w.line("    implicit_join: %v\n    no_next_is_error: %v\n    max_concurrency: %d", w.chance(3), w.chance(3), w.number(1, 4))
	w.line("    policy: {completion: %s, on_blocked: %s, final_failure: %s}", w.one("fail_on_any", "fail_fast", "allow_partial"),
		w.one("wait", "fail", "discard"), w.one("fail", "partial"))
	w.line("    limits: {max_step_runs: %d, max_jumps: 3, max_args_bytes: %d}", w.number(5, 60), w.number(40, 400))
	w.line("    result: {inline_max_bytes: %d, store: {kind: auto}}", w.number(4, 400))
	if w.chance(2) {
		w.line("    final_step: s%d", n-1)
	}
	w.line("workflow:")
	for i := range n {
		w.step(i, n)
	}
	return w.String()
}

func (w *wild) step(i, n int) {
	w.line("  - step: s%d\n    spec:\n      policy:\n        failure: {mode: %s}", i, w.one("fail_fast", "best_effort"))
	if w.chance(3) {
		w.line("        admit: {coalesce: %v, on_deny: %s, rules: [{when: '{{ %s }}', then: {allow: true}}]}", w.chance(2), w.one("pending", "discard"), w.guard())
	}
	if w.chance(3) {
		w.line("      timeout: 5s")
	}
	if w.chance(3) {
		w.line("      join: {mode: %s, on_missing: %s}", w.one("all", "any", "count, n: 2", "count, n: 3"), w.one("fire", "skip"))
	}
	w.appends = false
	if w.chance(3) {
		conflict := w.one("reject_conflict", "append", "last_wins")
		w.appends = conflict == "append"
		w.line("    loop: {in: '{{ take([1, 2, 3], %d) }}', iterator: i, spec: {mode: %s, policy: {on_conflict: %s}}}", w.number(0, 3),
			w.one("sequential", "parallel", "parallel, max_in_flight: 2"), conflict)
	}
	if w.chance(2) {
		w.line("    set: %s", w.set())
	}
	for k := range w.number(0, 3) {
		w.task(k)
	}
	w.line("    next:\n      spec: {mode: %s}\n      arcs:\n        - {step: s%d, when: '{{ %s }}'}", w.one("inclusive", "exclusive"), w.number(0, n-1), w.guard())
	for range w.number(0, 2) {
		w.line("        - {step: s%d, set: %s, args: %s, spec: {inherit_args: %v}}", w.number(0, n-1), w.one("{}", w.set()),
			w.one("{}", "{k: 1}", "{k: '{{ event.result }}'}", "{k: '{{ args.k + 1 }}'}", "{long: '"+strings.Repeat("x", 100)+"'}", "'{{ outcome ?? {} }}'"), w.chance(3))
	}
}

func (w *wild) task(k int) {
	if k == 0 {
		w.line("    tool:")
	}
	if w.chance(3) {
		w.line("      - {name: t%d, kind: noop, set: %s}", k, w.taskSet())
		return
	}
	w.line("      - name: t%d", k)
	if w.chance(4) {
		w.line("        kind: sleep\n        for: PT%dS", w.number(1, 2))
	} else if w.chance(3) {
		w.line("        kind: noop")
	} else {
		w.line("        kind: work\n        input: %s\n        set: %s", w.input(), w.taskSet())
	}
	if !w.chance(3) {
		w.line(`        spec: {policy: {rules: [{when: '{{ outcome.status == "error" }}', then: {do: %s, set: %s}}, {when: '{{ %s }}', then: {do: %s}}]}}`,
			w.one("continue", "fail", "break", "jump, to: t0", "jump, to: previous", "retry, attempts: 2", "retry, delay: 3, backoff: linear"), w.taskSet(),
			w.one("iter.i == 2", "_attempt < 2", "(ctx.n ?? 0) > 2", "true"),
			w.one("continue, set_ctx: {a: true}", "continue, set_ctx: {k.z: '{{ iter.i ?? 0 }}'}", "jump, to: previous", "retry, delay: 2", "break", "fail"))
	}
}

// move changes the run: it answers a call, advances time, or sends a command.
func (b *table) move(w *wild) {
	calls := b.calls()
	switch k := w.number(0, 15); {
	case k < 8 && len(calls) > 0:
		b.answer(w.one(calls...), !w.chance(3))
	case k < 10 && b.root.NextDue() > 0:
		b.now = max(b.now, b.root.NextDue())
		b.play()
	case k == 10:
		b.order(journal.Event{Type: journal.NodeAborted, Node: w.one(append(append(calls, b.stepRuns()...), "s0", "s0@1", "nothing")...)})
	case k == 11:
		b.order(journal.Event{Type: w.kind(journal.RunPaused, journal.RunResumed)})
	case k == 12:
		b.order(journal.Event{Type: w.kind(journal.NodeRetried, journal.DecisionReceived), Node: w.one(append(calls, "s0", "s0@1", "nothing")...),
			Detail: &journal.Detail{Work: w.chance(2), State: "fulfilled"}})
	case k == 13 && w.chance(5):
		b.order(journal.Event{Type: journal.RunCancelled, Detail: &journal.Detail{Failure: &journal.Failure{Code: "cancelled"}}})
	case k == 14:
		b.order(journal.Event{Type: journal.MessageReceived, Detail: &journal.Detail{Name: "go"}})
	default:
		v := rapid.SampledFrom([]any{true, false, int64(1)}).Draw(w.t, "value")
		b.order(journal.Event{Type: journal.ContextPatched, Value: map[string]any{w.one("a", "b", "n", "a.x"): v}})
	}
}

func (w *wild) kind(of ...journal.Type) journal.Type {
	return rapid.SampledFrom(of).Draw(w.t, "kind")
}

// order sends a command, and checks that a refused one leaves the journal unchanged, and an accepted one has an effect.
func (b *table) order(e journal.Event) {
	if e.Detail == nil {
		e.Detail = &journal.Detail{}
	}
	b.play() // due timers have fired
	before, events := b.digest(b.root), len(b.journal)
	if err := b.command(e); err != nil {
		require.Len(b.t, b.journal, events, "%s %s was refused (%v) and is journaled", e.Type, e.Node, err)
		return
	}
	require.NotEqual(b.t, before, b.digest(b.root), "%s %s has changed nothing", e.Type, e.Node)
	if v, ok := b.root.Node(e.Node); ok && e.Type == journal.NodeRetried && b.root.Pending(v) {
		b.owed[e.Node] = b.root.Attempt(v)
	}
	if e.Type == journal.NodeAborted {
		require.NotContains(b.t, append(b.calls(), b.stepRuns()...), e.Node, "it was aborted")
	}
}

// settle checks the retries that commands have requested: an open call is retried, and until then the run does not end.
func (b *table) settle() {
	for key, attempt := range b.owed {
		v, ok := b.root.Node(key)
		if !ok || b.root.Attempt(v) > attempt {
			delete(b.owed, key)
			continue
		}
		require.True(b.t, b.root.Pending(v), "%s is to be made again, and will not be", key)
		require.True(b.t, b.root.Finished() == nil || b.root.Closed(), "the run has finished before %s is made again", key)
	}
}

func (b *table) stepRuns() (list []string) {
	for _, wait := range b.net().Waits() {
		if wait.Run != "" && !slices.Contains(list, wait.Run) {
			list = append(list, wait.Run)
		}
	}
	return list
}

// TestWhateverIsDoneToAPlaybook: the net is valid after every event (see play), the journal alone yields the same net, a run
// that nothing can move has ended, and no returned value ever changes.
func TestWhateverIsDoneToAPlaybook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &wild{t: t}
		text := w.playbook()
		t.Log(text)
		b := lay(t, text)
		b.known, b.owed = map[uintptr]bool{}, map[string]int32{}
		b.net().Watch(b.holdView)
		b.holdAll(decide.StepResult{Batch: b.journal})
		for move := 0; move < 40 && b.root.Finished() == nil; move++ {
			b.move(w)
			b.settle()
			if b.root.Finished() == nil && !b.root.Paused() && len(b.calls()) == 0 && b.root.NextDue() == 0 {
				waits := b.net().Waits()
				require.True(t, slices.ContainsFunc(waits, func(w routed.Wait) bool { return w.Kind == routed.AtGate }), "%+v", waits)
			}
		}
		b.again()
		b.checkHanded()
	})
}
