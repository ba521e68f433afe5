package bulk_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// quick is a workflow that has ended as soon as it has begun.
const quick = `{kind: Workflow, name: quick, operations: {v: {value: 1}}, steps: [{operation: v}]}`

// crowd is a store with random runs, the engine on it, and the operation and the workflows of the runs and of random acts.
type crowd struct {
	*rapid.T
	ctx    context.Context
	store  *mortal
	bank   *charge
	engine *coordinator.Engine
	docs   map[string]*template.Workflow
	again  sync.WaitGroup // the sends and stops beside the acts
}

func newCrowd(outer *testing.T, t *rapid.T) *crowd {
	c := &crowd{T: t, ctx: outer.Context(), store: &mortal{Store: memory.New()}, bank: &charge{}, docs: map[string]*template.Workflow{}}
	for name, text := range map[string]string{"waiting": waiting, "more": waitingMore, "pay": pay, "quick": quick} {
		c.docs[name] = parse(outer, text)
	}
	c.store.left.Store(immortal)
	c.open()
	return c
}

func (c *crowd) open() {
	e, err := coordinator.New(c.ctx, c.store, coordinator.Config{Operations: []coordinator.Operation{c.bank.operation()}, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(c, err)
	bulk.SetSlice(e.Acts, rapid.IntRange(1, 4).Draw(c.T, "slice"))
	c.engine = e
}

// die ends the process as a crash does, and begins the next one.
func (c *crowd) die() {
	gone, cancel := context.WithCancel(c.ctx)
	cancel()
	c.store.left.Store(0) // its remaining goroutines write nothing
	_ = c.engine.Shutdown(gone)
	c.again.Wait()
	c.store = &mortal{Store: c.store.Store}
	c.store.left.Store(immortal)
	c.open()
}

// populate starts random runs, each with a random past.
func (c *crowd) populate() {
	for i := range rapid.IntRange(3, 9).Draw(c.T, "runs") {
		kind := rapid.SampledFrom([]string{"waiting", "waiting", "waiting", "paused", "cancelled", "pay", "quick"}).Draw(c.T, "kind")
		id := rapid.SampledFrom([]string{"a", "b"}).Draw(c.T, "id") + fmt.Sprint(i)
		doc := c.docs["waiting"]
		if other := c.docs[kind]; other != nil {
			doc = other
		}
		team := rapid.SampledFrom([]string{"x", "y"}).Draw(c.T, "team")
		r, err := c.engine.Start(c.ctx, doc, nil, coordinator.WithID(id), coordinator.WithLabels(map[string]string{"team": team}))
		require.NoError(c, err)
		switch kind {
		case "paused":
			require.NoError(c, r.Pause(c.ctx, ""))
		case "cancelled":
			require.NoError(c, r.Cancel(c.ctx, ""))
		}
	}
	c.settle()
}

// heads returns the heads of all runs.
func (c *crowd) heads() map[string]journal.Head {
	all := map[string]journal.Head{}
	for h, err := range c.store.Heads(c.ctx, "") {
		require.NoError(c, err)
		all[h.Run] = h
	}
	return all
}

// settle waits until no run moves by itself.
func (c *crowd) settle() {
	c.again.Wait()
	for {
		place, err := c.engine.Newest(c.ctx)
		require.NoError(c, err)
		moving := false
		for _, h := range c.heads() {
			moving = moving || h.Status == "running"
		}
		if !moving {
			return
		}
		require.NoError(c, c.engine.AwaitChange(c.ctx, place))
	}
}

// term is a part of a query, with a second implementation of its meaning.
type term struct {
	text string
	has  func(journal.Head) bool
}

func (c *crowd) term() term {
	one := rapid.SampledFrom([]string{"waiting", "paused", "aborted", "failed", "completed"}).Draw(c.T, "status")
	two := rapid.SampledFrom([]string{"waiting", "aborted", "failed"}).Draw(c.T, "or")
	name := rapid.SampledFrom([]string{"waiting", "pay", "quick"}).Draw(c.T, "name")
	team := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(c.T, "of")
	begins := rapid.SampledFrom([]string{"a", "b", "a1", "rerun-"}).Draw(c.T, "begins")
	t := rapid.SampledFrom([]term{
		{"status:" + one + "," + two, func(h journal.Head) bool { return h.Status == one || h.Status == two }},
		{"workflow:" + name, func(h journal.Head) bool { return h.Name == name }},
		{"label.team:" + team, func(h journal.Head) bool { return h.Labels["team"] == team }},
		{begins, func(h journal.Head) bool { return strings.HasPrefix(h.Run, begins) || strings.Contains(h.Name, begins) }},
	}).Draw(c.T, "term")
	if rapid.IntRange(0, 3).Draw(c.T, "not") == 0 {
		return term{"-" + t.text, func(h journal.Head) bool { return !t.has(h) }}
	}
	return t
}

// selection returns a query and the runs that it selects now.
func (c *crowd) selection() (where string, runs map[string]bool) {
	terms := []term{c.term()}
	for range rapid.IntRange(0, 2).Draw(c.T, "terms") {
		terms = append(terms, c.term())
	}
	runs = map[string]bool{}
	for id, h := range c.heads() {
		if !slices.ContainsFunc(terms, func(t term) bool { return !t.has(h) }) {
			runs[id] = true
		}
	}
	texts := make([]string, len(terms))
	for i, t := range terms {
		texts[i] = t.text
	}
	return strings.Join(texts, " "), runs
}

func (c *crowd) act() (bulk.Act, map[string]bool) {
	act := bulk.Act{Verb: rapid.SampledFrom(bulk.Verbs()).Draw(c.T, "verb"), Actor: "ann"}
	var runs map[string]bool
	act.Where, runs = c.selection()
	act.Expect = len(runs)
	switch act.Verb {
	case "rerun":
		act.Rerun = rapid.SampledFrom([]*coordinator.Rerun{{Failed: true}, {From: "x"}, {Changed: true}, {Workflow: c.docs["quick"]}}).Draw(c.T, "rerun")
	case "move":
		act.Workflow = rapid.SampledFrom([]*template.Workflow{c.docs["more"], c.docs["waiting"], c.docs["quick"]}).Draw(c.T, "workflow")
	}
	return act, runs
}

// traces are the counts of the events in the journals that each act has made: by act and run, for each step, or "" for the run.
type traces map[uint64]map[string]map[string]int

func (c *crowd) traces() traces {
	found := traces{}
	add := func(id uint64, run, step string) {
		if found[id] == nil {
			found[id] = map[string]map[string]int{}
		}
		if found[id][run] == nil {
			found[id][run] = map[string]int{}
		}
		found[id][run][step]++
	}
	for id := range c.heads() {
		for e, err := range c.store.Read(c.ctx, id, 1) {
			require.NoError(c, err)
			text, ok := "", false
			if e.Detail != nil {
				text, ok = strings.CutPrefix(e.Detail.ID, "#bulk/")
			}
			if !ok || e.Type == journal.RunReopened { // that follows from a retry
				continue
			}
			var act uint64
			_, err := fmt.Sscan(text, &act)
			require.NoError(c, err)
			if e.Type == journal.RunStarted {
				add(act, e.Detail.Start.From.Run, "")
				continue
			}
			add(act, id, e.Node)
		}
	}
	return found
}

// check compares the outcomes and sums that an act reports with its traces in the journals.
func (c *crowd) check(id uint64, act bulk.Act, chosen map[string]bool) {
	s, err := c.engine.BulkAct(c.ctx, id)
	require.NoError(c, err)
	require.True(c, s.Over(), "%+v", s)
	found, heads := c.traces()[id], c.heads()
	for run, steps := range found {
		require.True(c, chosen[run] || s.State == bulk.Abandoned && len(steps) == 0, "act %+v: run %s was not chosen", s, run)
		for step, n := range steps {
			require.Equal(c, 1, n, "act %+v, run %s, step %q", s, run, step)
		}
	}
	if s.State == bulk.Abandoned {
		require.Empty(c, found)
		return
	}
	counts, seen := map[bulk.Result]int{}, map[string]bool{}
	for o, err := range c.engine.BulkOutcomes(c.ctx, id) {
		require.NoError(c, err)
		counts[o.Result]++
		seen[o.Run] = true
		_, there := heads[o.Run]
		switch {
		case act.Verb == "delete":
			require.False(c, there && o.Result == bulk.Done, "%+v", o) // one that has refused may be deleted by the act beside this one
		case there || act.Verb == "rerun":
			require.Equal(c, o.Result == bulk.Done, len(found[o.Run]) > 0, "act %+v: %+v", s, o)
		}
		require.Equal(c, act.Verb == "rerun" && o.Result == bulk.Done, o.New != "")
	}
	require.Equal(c, slices.Sorted(maps.Keys(chosen)), slices.Sorted(maps.Keys(seen)))
	require.Equal(c, [4]int{s.Done, s.Already, s.Refused, s.Left()}, [4]int{counts[bulk.Done], counts[bulk.Already], counts[bulk.Refused], counts[""]})
	require.Equal(c, len(chosen), s.Done+s.Already+s.Refused+s.Left())
	if s.State == bulk.Completed {
		require.Zero(c, s.Left())
	}
}

func (c *crowd) acts() (n int) {
	for _, err := range c.engine.BulkActs(c.ctx) {
		require.NoError(c, err)
		n++
	}
	return n
}

// disturb makes some of the runs go on or end while an act is under way, and perhaps stops the act.
func (c *crowd) disturb(id uint64, runs map[string]bool, stop bool) {
	ids := slices.Sorted(maps.Keys(runs))
	slices.Reverse(ids)
	e := c.engine
	for _, run := range ids[:len(ids)*rapid.IntRange(0, 2).Draw(c.T, "disturbed")/2] {
		c.again.Go(func() {
			if r, err := e.Run(c.ctx, run); err == nil {
				_ = r.Send(c.ctx, "go", nil)
			}
		})
	}
	if stop {
		c.again.Go(func() { _, _ = e.StopBulk(c.ctx, id, "bob") })
	}
}

// second begins an act while another is under way: it is refused if both have chosen a run.
func (c *crowd) second(first uint64, chosen map[string]bool) (id uint64, act bulk.Act, runs map[string]bool) {
	act, _ = c.act()
	unknown := act
	unknown.Expect = 0
	p, err := c.engine.PreviewBulk(c.ctx, unknown)
	overlaps := func() (ok bool) {
		overlap, ok := errors.AsType[*bulk.OverlapError](err)
		if ok {
			require.Equal(c, first, overlap.Act)
			require.True(c, chosen[overlap.Run], "%v", err)
		}
		return ok
	}
	if err == nil {
		act.Expect = p.Count
	} else if !overlaps() { // it selects no run, or the process has died
		return 0, act, nil
	}
	if id, err = c.engine.BeginBulk(c.ctx, act); overlaps() || err != nil {
		return 0, act, nil
	}
	runs = map[string]bool{}
	for o, err := range c.engine.BulkOutcomes(c.ctx, id) {
		if err != nil {
			return 0, act, nil
		}
		runs[o.Run] = true
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(runs)), func(run string) bool { return chosen[run] }) {
		s, err := c.engine.BulkAct(c.ctx, first)
		require.True(c, err != nil || s.Over(), "act %d has begun on runs of act %d, which is under way: %+v", id, first, s)
	}
	return id, act, runs
}

// round carries out one random act, with disturbances, a second act or a crash in its way, and checks the outcomes of all runs.
func (c *crowd) round() {
	c.bank.back.Store(rapid.Bool().Draw(c.T, "bank is back"))
	act, chosen := c.act()
	before := c.acts()
	if off := rapid.SampledFrom([]int{0, 0, 0, 1, -1}).Draw(c.T, "off"); off != 0 && act.Expect+off > 0 {
		wrong := act
		wrong.Expect += off
		events := c.store.writes.Load()
		_, err := c.engine.BeginBulk(c.ctx, wrong)
		_, errOfPreview := c.engine.PreviewBulk(c.ctx, wrong)
		require.Equal(c, &bulk.CountError{Expected: wrong.Expect, Count: len(chosen)}, err)
		require.Equal(c, err, errOfPreview)
		require.Equal(c, events, c.store.writes.Load(), "nothing is journaled")
	}
	p, err := c.engine.PreviewBulk(c.ctx, act)
	if len(chosen) == 0 {
		require.ErrorIs(c, err, bulk.ErrAct)
		p = &bulk.Preview{}
	} else {
		require.NoError(c, err)
	}
	require.Equal(c, len(chosen), p.Count, act.Where)
	require.Equal(c, p.Count, p.Will+p.Already+p.Refused)
	crash := rapid.SampledFrom([]int{0, 0, 1, 2, 3, 4, 5, 6, 8, 11, 15}).Draw(c.T, "crash after")
	if crash > 0 {
		c.store.left.Store(int64(crash))
	}
	id, err := c.engine.BeginBulk(c.ctx, act)
	if len(chosen) == 0 {
		require.ErrorIs(c, err, bulk.ErrAct)
	} else if crash == 0 {
		require.NoError(c, err)
	}
	var beside uint64
	var other bulk.Act
	var others map[string]bool
	if err == nil {
		c.disturb(id, chosen, rapid.IntRange(0, 3).Draw(c.T, "stop") == 0)
		if rapid.Bool().Draw(c.T, "second") {
			beside, other, others = c.second(id, chosen)
		}
		_, _ = c.engine.AwaitBulk(c.ctx, id)
	}
	if beside != 0 {
		_, _ = c.engine.AwaitBulk(c.ctx, beside)
	}
	if crash > 0 {
		c.die()
	}
	now := uint64(c.acts())
	for n := uint64(before) + 1; n <= now; n++ {
		_, err := c.engine.AwaitBulk(c.ctx, n)
		require.NoError(c, err)
	}
	c.settle()
	if now > uint64(before) {
		c.check(uint64(before)+1, act, chosen)
	}
	if others != nil {
		c.check(cmp.Or(beside, now), other, others)
	}
}

// For random acts on random runs, with random disturbances and a crash after a random write: each chosen run gets the act at most once,
// no other run gets it, and the report agrees with the journals. With SLUICE_EXHAUSTIVE, more often.
func TestActsDoWhatTheySayToThoseTheyHaveChosen(t *testing.T) {
	times := 1
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		times = 20
	}
	for range times {
		rapid.Check(t, func(r *rapid.T) {
			c := newCrowd(t, r)
			c.populate()
			for range rapid.IntRange(1, 4).Draw(r, "rounds") {
				c.round()
			}
			require.NoError(r, c.engine.Shutdown(t.Context()))
		})
	}
}
