package reactive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/live"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
)

// TestProperties drives random workflows, with nested maps and conditionals, through random events, valid or not. After
// every event, it checks the invariants; at the end, it checks that no returned value has changed.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRun(t)
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			r.append(r.draw())
		}
		r.checkReplays()
		r.checkHanded()
	})
}

// drawRun starts a run of a random workflow.
func drawRun(t *rapid.T) *randomRun {
	g := &generator{t: t}
	w := &template.Workflow{
		Name:           "random",
		FailurePolicy:  rapid.SampledFrom([]template.FailurePolicy{template.ContinueRunning, template.AbortDependents}).Draw(t, "policy"),
		MaxConcurrency: rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "max"),
		Steps:          g.steps(0),
	}
	checked, err := template.Check(w, template.Known{Lenient: true})
	if err != nil {
		t.Skip("the references do not fit: ", err)
	}
	p, err := plan.Compile(checked)
	if err != nil {
		t.Skip("a cycle: ", err)
	}
	r := &randomRun{t: t, plan: p, root: reactive.New(p)}
	r.append(journal.Event{
		Type: journal.RunStarted, Value: map[string]any{"rows": []any{map[string]any{"n": int64(1)}, int64(2)}}, Detail: &journal.Detail{Start: &journal.Start{Run: "r"}},
	})
	return r
}

// generator makes random trees.
type generator struct {
	t     *rapid.T
	n     int
	named []string // ids of the nodes made so far, which tests may read
}

func (g *generator) id(kind string) string {
	g.n++
	return fmt.Sprintf("%s%d", kind, g.n)
}

func (g *generator) steps(depth int) []template.Node {
	nodes := make([]template.Node, rapid.IntRange(1, 3).Draw(g.t, "n"))
	for i := range nodes {
		nodes[i] = g.node(depth)
	}
	return nodes
}

func (g *generator) node(depth int) template.Node {
	kind := 0
	if depth < 3 {
		kind = rapid.IntRange(0, 5).Draw(g.t, "kind")
	}
	limit := func() int { return rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(g.t, "limit") }
	switch kind {
	case 2:
		return &template.Sequential{Steps: g.steps(depth + 1)}
	case 3:
		return &template.Parallel{Steps: g.steps(depth + 1), MaxConcurrency: limit()}
	case 4:
		c := &template.Conditional{Test: g.test(), Then: g.steps(depth + 1)}
		if rapid.Bool().Draw(g.t, "else") {
			c.Else = g.steps(depth + 1)
		}
		return c
	case 5:
		outer := g.named
		m := &template.Map{
			ID: g.id("m"), Over: g.over(), MaxConcurrency: limit(),
			Steps: g.steps(depth + 1),
		}
		g.named = append(outer[:len(outer):len(outer)], m.ID)
		return m
	}
	s := &template.Step{ID: g.id("s"), Operation: "op", Input: g.input()}
	if rapid.IntRange(0, 3).Draw(g.t, "retries") == 0 {
		s.Timing = &template.Timing{Retry: &template.Retry{MaxAttempts: 2}}
	}
	g.named = append(g.named, s.ID)
	return s
}

// over makes the list of a map.
func (g *generator) over() any {
	if rapid.Bool().Draw(g.t, "read") {
		return "{{ input.rows }}"
	}
	return make([]any, rapid.IntRange(0, 3).Draw(g.t, "items"))
}

// input makes the input of a step: the outputs of others, unchanged and inside other values.
func (g *generator) input() any {
	kind := rapid.IntRange(0, 5).Draw(g.t, "input")
	switch {
	case kind == 1:
		return map[string]any{"in": "{{ input }}", "run": "{{ run }}"}
	case kind < 2 || len(g.named) == 0:
		return nil
	}
	id := rapid.SampledFrom(g.named).Draw(g.t, "read")
	switch kind {
	case 2:
		return fmt.Sprintf("{{ steps.%s.output ?? [input] }}", id)
	case 5:
		return fmt.Sprintf("{{ steps.%s.output ?? 1 }}", id)
	case 3:
		return map[string]any{"in": []any{fmt.Sprintf("{{ [steps.%s.output ?? 1] }}", id)}, "text": "x"}
	}
	return map[string]any{"error": fmt.Sprintf("{{ steps.%s.error }}", id), "status": fmt.Sprintf("{{ steps.%s.status }}", id)}
}

func (g *generator) test() string {
	if len(g.named) == 0 {
		return "{{ true }}"
	}
	id := rapid.SampledFrom(g.named).Draw(g.t, "tested")
	switch rapid.IntRange(0, 3).Draw(g.t, "test") {
	case 0:
		return id
	case 1:
		return fmt.Sprintf(`{{ steps.%s.status in ["failed", "aborted"] }}`, id)
	case 2:
		return fmt.Sprintf(`{{ steps.%s.status }}`, id)
	}
	return fmt.Sprintf(`{{ steps.%s.output != null }}`, id)
}

// randomRun is a root under random events, with the data to check it.
type randomRun struct {
	t       *rapid.T
	plan    *plan.Plan
	root    *reactive.Root
	journal []journal.Event
	states  []string // after each event
	watched map[string]*live.StepSignals
	unruly  bool // a node that was not ready was requested
	handed  []handed
	known   map[uintptr]bool // already held
}

// draw makes an event: mostly one that a coordinator would journal next, sometimes any event.
func (r *randomRun) draw() journal.Event {
	if v, ok := r.root.NextStart(nil); ok && rapid.IntRange(0, 2).Draw(r.t, "start") > 0 {
		in, failure := r.root.Input(v)
		if failure != nil {
			return journal.Event{Type: journal.StepFailed, Node: r.root.Key(v), Detail: &journal.Detail{Failure: failure}}
		}
		return journal.Event{Type: journal.CallRequested, Node: r.root.Key(v), Attempt: r.root.Attempt(v) + 1, Value: in}
	}
	if e, ok := r.root.Fire(1 << 62); ok && rapid.Bool().Draw(r.t, "fire") {
		e.Hint = 0
		return e
	}
	var keys []string
	for v := range r.root.Len() {
		if key := r.root.Key(v); key != "" && r.root.Status(v) != reactive.Absent {
			keys = append(keys, key)
		}
	}
	key := rapid.SampledFrom(keys).Draw(r.t, "node")
	v, _ := r.root.Node(key)
	attempt := max(1, r.root.Attempt(v)+int32(rapid.SampledFrom([]int{0, 0, 0, 0, -1, 1}).Draw(r.t, "attempt")))
	kinds := []journal.Type{
		journal.CallRequested, journal.CallResponded, journal.CallResponded, journal.CallResponded, journal.CallError,
		journal.CallError, journal.CallAborted, journal.CallCompleted, journal.CallSkipped, journal.NodeAborted,
		journal.NodeRetried, journal.StepFailed, journal.RunCancelled,
	}
	e := journal.Event{Type: rapid.SampledFrom(kinds).Draw(r.t, "type"), Node: key, Attempt: attempt}
	switch e.Type {
	case journal.CallError:
		e.Detail = &journal.Detail{Failure: &journal.Failure{Code: "broken", Retryable: true, Details: map[string]any{"at": []any{key}}}}
	case journal.CallResponded:
		e.Value = map[string]any{"of": key, "rows": []any{map[string]any{"n": int64(len(r.journal))}}}
	case journal.RunCancelled:
		if rapid.IntRange(0, 20).Draw(r.t, "cancel") > 0 {
			e.Type = journal.CallResponded
		} else {
			e.Node, e.Attempt = "", 0
		}
	case journal.NodeAborted, journal.NodeRetried, journal.StepFailed:
		e.Attempt = 0
	}
	return e
}

func (r *randomRun) append(e journal.Event) {
	e.Seq = uint64(len(r.journal) + 1)
	e.At = int64(e.Seq) * 1e9
	before := r.finals()
	awaited := false // of the node's next attempt
	if v, ok := r.root.Node(e.Node); ok {
		awaited = r.root.Pending(v)
	}
	if v, ok := r.root.Node(e.Node); ok && e.Type == journal.CallRequested && r.root.Status(v) != reactive.Ready {
		r.unruly = true
	}
	kept := e
	out := r.root.Apply(&e)
	r.journal = append(r.journal, kept)
	r.states = append(r.states, state(r.root))
	require.NoError(r.t, r.root.Check(), "after %s %s#%d (%s)", e.Type, e.Node, e.Attempt, out)
	r.checkSignals()
	r.holdAll(&kept)

	if e.Attempt > 0 {
		again := kept
		require.NotEqual(r.t, reactive.Applied, r.root.Apply(&again), "%s of %s counted twice", e.Type, e.Node)
		require.Equal(r.t, r.states[len(r.states)-1], state(r.root), "%s of %s twice", e.Type, e.Node)
	}
	if e.Type != journal.CallRequested && e.Type != journal.NodeRetried && !awaited { // these begin another attempt or end it
		for key, was := range before {
			v, ok := r.root.Node(key)
			require.True(r.t, ok, "%s vanished at %s", key, e.Type)
			require.Equal(r.t, was.String(), r.root.Status(v).String(), "%s was final before %s of %s", key, e.Type, e.Node)
		}
	}
}

// checkSignals sometimes subscribes to a node, and compares its signals with the root.
func (r *randomRun) checkSignals() {
	if r.watched == nil {
		r.watched = map[string]*live.StepSignals{}
	}
	if v := rapid.Int32Range(0, 3*r.root.Len()).Draw(r.t, "watch"); v < r.root.Len() && r.root.Key(v) != "" {
		r.watched[r.root.Key(v)] = live.Of(r.root).Step(r.root.Key(v))
	}
	for key, s := range r.watched {
		status, err := s.Status.Peek()
		require.NoError(r.t, err)
		ready, _ := s.Ready.Peek()
		preconditions, _ := s.Preconditions.Peek()
		blocks, _ := s.BlockedByFailure.Peek()
		result, _ := s.Result.Peek()
		v, ok := r.root.Node(key)
		if !ok {
			require.Equal(r.t, reactive.Absent, status, key)
			continue
		}
		require.Equal(r.t, r.root.Status(v).String(), status.String(), key)
		require.Equal(r.t, status == reactive.Ready, ready, key)
		require.Equal(r.t, r.root.Preconditions(v), preconditions, key)
		require.Equal(r.t, len(r.root.BlockedByFailure(v)) > 0, blocks, key)
		require.Equal(r.t, r.root.Output(v), result, key)
	}
	require.NoError(r.t, live.Of(r.root).Err())
}

// finals returns the nodes whose status only a new attempt may change: an attempt of the node, or of a node upstream if it has
// no attempts.
func (r *randomRun) finals() map[string]reactive.Status {
	finals := map[string]reactive.Status{}
	for v := range r.root.Len() {
		if key := r.root.Key(v); key != "" && r.root.Final(v) && (r.root.Attempts(v) > 0 || !r.unruly) {
			if _, ok := r.root.Node(key); ok {
				finals[key] = r.root.Status(v)
			}
		}
	}
	return finals
}

// checkReplays cuts the journal anywhere, replays it encoded in batches of any size, and compares the states.
func (r *randomRun) checkReplays() {
	n := rapid.IntRange(0, len(r.journal)).Draw(r.t, "cut")
	codec := &journal.Codec{}
	root := reactive.New(r.plan)
	for i := 0; i < n; {
		size := min(n-i, rapid.IntRange(1, 7).Draw(r.t, "batch"))
		var data []byte
		for j := range size {
			var err error
			data, err = codec.Append(data, &r.journal[i+j])
			require.NoError(r.t, err)
		}
		events, err := codec.DecodeAll(nil, data)
		require.NoError(r.t, err)
		for j := range events {
			root.Apply(&events[j])
			require.Equal(r.t, r.states[i+j], state(root), "replayed up to %d", i+j+1)
		}
		i += size
	}
}

// state describes the visible state of a root.
func state(root *reactive.Root) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s done=%v due=%d", root.RunStatus(), root.Done(), root.NextDue())
	if root.Done() {
		v := root.Verdict()
		fmt.Fprintf(&b, " %s %v", v.Status, v.Failure)
	}
	for v := range root.Len() {
		if key := root.Key(v); key != "" && root.Status(v) != reactive.Absent {
			fmt.Fprintf(&b, " %s:%s/%d/%v", key, root.Status(v), root.Attempt(v), root.Pending(v))
		}
	}
	if v, ok := root.NextStart(nil); ok {
		fmt.Fprintf(&b, " next=%s", root.Key(v))
	}
	return b.String()
}
