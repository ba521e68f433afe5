package rerun_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// pages is a playbook that calls a, then b for each of three items, then c, which is not idempotent, with the last result of b.
const pages = `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: pages, path: pages}
workload: {of: 1}
workflow:
  - step: start
    tool: {kind: a, input: "{{ workload.of }}"}
    next: {arcs: [{step: each}]}
  - step: each
    loop: {in: "{{ [1, 2, 3] }}", iterator: n}
    tool: {kind: b, input: "{{ iter.n }}", set: {ctx.last: "{{ outcome.result }}"}}
    next: {arcs: [{step: end}]}
  - step: end
    tool: {kind: c, input: "{{ ctx.last }}", idempotent: false}
`

// eventOf returns the sequence of the event of a type about a call.
func eventOf(t testing.TB, r *coordinator.Run, of journal.Type, node string) uint64 {
	for e, err := range r.Events(t.Context(), 1) {
		require.NoError(t, err)
		if e.Type == of && e.Node == node {
			return e.Seq
		}
	}
	require.Fail(t, "no such event", "%s of %s", of, node)
	return 0
}

func TestAPlaybookIsRerunFromAnEvent(t *testing.T) {
	c := newCounted(t, "c 3")
	r, result := c.run(t, other(t, pages), map[string]any{"of": 7})
	require.Equal(t, "failed", string(result.Status))
	require.Equal(t, []string{"a 7", "b 1", "b 2", "b 3", "c 3"}, c.made())
	c.fails["c 3"] = false

	at := eventOf(t, r, journal.CallError, "end@1.end_task") - 1
	p, err := r.PreviewRerun(t.Context(), coordinator.Rerun{At: at})
	require.NoError(t, err)
	require.Equal(t, []coordinator.RerunStep{{Step: "end@1.end_task", Operation: "c", NonIdempotent: true}}, p.Will, "it was under way")
	require.Empty(t, p.May)
	require.Equal(t, []coordinator.RerunStep{
		{Step: "start@1.start_task", Operation: "a"}, {Step: "each@1[0].each_task", Operation: "b"}, {Step: "each@1[1].each_task", Operation: "b"}, {Step: "each@1[2].each_task", Operation: "b"},
	}, p.Kept)
	next, result, calls := c.again(t, r, coordinator.Rerun{At: at})
	require.Equal(t, "completed", string(result.Status))
	require.Equal(t, []string{"c 3"}, calls)

	state, err := next.State(t.Context())
	require.NoError(t, err)
	was, err := r.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, &journal.From{Run: r.ID(), Seq: at, Kept: int32(at - 2)}, state.Start.From)
	require.Less(t, was.Updated, state.Started, "it was made after the other had ended")

	// The second rerun begins with events of the first one, although both old runs are gone.
	at = eventOf(t, next, journal.CallResponded, "each@1[1].each_task") - 1
	p, err = next.PreviewRerun(t.Context(), coordinator.Rerun{At: at})
	require.NoError(t, err)
	require.Equal(t, []coordinator.RerunStep{{Step: "each@1[1].each_task", Operation: "b"}}, p.Will)
	require.Equal(t, []coordinator.RerunStep{{Step: "each@*[*].each_task", Operation: "b"}, {Step: "end@*.end_task", Operation: "c", NonIdempotent: true}}, p.May)
	require.NoError(t, c.Delete(t.Context(), r.ID()))
	last, _, calls := c.again(t, next, coordinator.Rerun{At: at})
	require.Equal(t, []string{"b 2", "b 3", "c 3"}, calls)
	require.NoError(t, c.Delete(t.Context(), next.ID()))
	_, err = last.State(t.Context())
	require.NoError(t, err)
}

// References to a result that a playbook has stored have the id of its run: a rerun, and a rerun of that, find it.
func TestAPlaybookRerunFindsWhatItsPastHasStored(t *testing.T) {
	c := newCounted(t)
	r, result := c.run(t, other(t, `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: refs, path: refs}
workflow:
  - step: start
    tool: {kind: a, input: [1, 2, 3, 4, 5, 6, 7, 8, 9], spec: {result: {inline_max_bytes: 4, store: {kind: auto}}}, set: {ctx.ref: "{{ outcome.result }}"}}
    next: {arcs: [{step: send}]}
  - step: send
    tool: {kind: b, input: "{{ ctx.ref.ref }}", set: {ctx.sent: "{{ outcome.result }}"}}
    next: {arcs: [{step: load}]}
  - step: load
    tool: {kind: result, ref: "{{ ctx.sent }}", set: {ctx.rows: "{{ len(outcome.result) }}"}}
    next: {arcs: [{step: use}]}
  - step: use
    tool: {kind: c, input: "{{ ctx.rows }}"}
`), nil)
	require.Equal(t, "completed", string(result.Status), result)
	c.made()
	for range 2 {
		at := eventOf(t, r, journal.CallResponded, "use@1.use_task") - 1
		var calls []string
		r, result, calls = c.again(t, r, coordinator.Rerun{At: at})
		require.Equal(t, "completed", string(result.Status))
		require.Equal(t, []string{"c 9"}, calls)
	}
}

func TestAPlaybookRerunGoesOnAfterACrashAtAnyAppend(t *testing.T) {
	for last, ended := 1, false; !ended; last++ {
		require.Less(t, last, 100)
		c := newCounted(t, "b 2")
		r, _ := c.run(t, other(t, pages), nil)
		c.made()
		c.fails["b 2"] = false
		at := eventOf(t, r, journal.CallError, "each@1[1].each_task") - 1
		var next *coordinator.Run
		if next, ended = c.dying(t, r, coordinator.Rerun{At: at}, last, "again"); next == nil {
			require.Empty(t, c.made(), "nothing is durable, and nothing has begun")
			continue
		}
		result, err := next.Wait(t.Context())
		require.NoError(t, err)
		calls := c.made()
		if status := string(result.Status); status == "failed" { // c is not idempotent, and was under way
			require.Equal(t, "interrupted", result.Failure.Code)
		} else {
			require.Equal(t, "completed", status)
			require.Contains(t, calls, "c 3")
		}
		for _, call := range calls { // a call that was under way is made again
			require.Contains(t, []string{"b 2", "b 3", "c 3"}, call)
		}
	}
}

func TestAPlaybookIsNotRerunInAnyOtherWay(t *testing.T) {
	c := newCounted(t)
	r, _ := c.run(t, other(t, pages), nil)
	c.made()
	finished := eventOf(t, r, journal.RunFinished, "")
	for what, one := range map[string]struct {
		what coordinator.Rerun
		text string
	}{
		"from":     {coordinator.Rerun{From: "end"}, "it is rerun from an event on, with --at N, and not by steps; `sluice runs events` shows its events"},
		"failed":   {coordinator.Rerun{Failed: true, At: 3}, "and not by steps"},
		"input":    {coordinator.Rerun{Input: 1, At: 3}, "what it keeps follows from its input: start the playbook with the other input"},
		"set":      {coordinator.Rerun{Set: map[string]any{"steps.start.output": 1}, At: 3}, "patch the context of the new run"},
		"workflow": {coordinator.Rerun{Workflow: other(t, pages), At: 3}, "move the run while it is open"},
		"end":      {coordinator.Rerun{At: finished}, fmt.Sprintf("event %d has ended it, and nothing follows event %d", finished, finished)},
		"beyond":   {coordinator.Rerun{At: finished + 1}, fmt.Sprintf("run %s has %d events, and so no event %d", r.ID(), finished, finished+1)},
	} {
		_, err := r.Rerun(t.Context(), one.what, coordinator.WithID("no"))
		require.ErrorContains(t, err, one.text, what)
		_, err = r.PreviewRerun(t.Context(), one.what)
		require.ErrorContains(t, err, one.text, what)
		_, err = c.Run(t.Context(), "no")
		require.ErrorIs(t, err, coordinator.ErrRunNotFound)
	}
	require.Empty(t, c.made())
}

// anyNumber stands for the runs and items of a task in a preview.
var anyNumber = regexp.MustCompile(`([@\[])\d+`)

// task returns the name of a playbook's call in a preview that does not know its runs and items.
func task(key string) string {
	return anyNumber.ReplaceAllString(regexp.MustCompile(`~\d+$`).ReplaceAllString(key, ""), "$1*")
}
