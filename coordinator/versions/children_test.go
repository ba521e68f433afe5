package versions_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/versions"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// lasting is a store that engines do not close.
type lasting struct{ journal.Store }

func (lasting) Close() error { return nil }

// packed writes documents into a new folder, and returns the parcel of the one named top.
func packed(t testing.TB, documents map[string]string) *parcel.Parcel {
	dir := t.TempDir()
	for name, text := range documents {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	l, entry, err := registry.Load(filepath.Join(dir, "top"))
	require.NoError(t, err)
	p, err := l.Pack(t.Context(), entry)
	require.NoError(t, err)
	return p
}

// looked returns the entry of a parcel for comparison only.
func looked(t testing.TB, engine *coordinator.Engine, p *parcel.Parcel) *registry.Entry {
	entry, err := versions.Find(t.Context(), engine, "", p)
	require.NoError(t, err)
	return entry
}

// unpacked returns the entry of a parcel for running it.
func unpacked(t testing.TB, engine *coordinator.Engine, p *parcel.Parcel) *registry.Entry {
	entry, release, err := parcel.Unpack(t.Context(), engine, p)
	require.NoError(t, err)
	release()
	return entry
}

func engineOn(t testing.TB, store journal.Store) *coordinator.Engine {
	engine, err := coordinator.New(context.WithoutCancel(t.Context()), store, coordinator.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Shutdown(context.Background())) })
	return engine
}

// order starts children before a message comes, one of which starts a child, and one after the message.
const order = `{kind: Workflow, name: order, operations: {pay: {workflow: {path: pay}}, ship: {workflow: {path: ship}}, go: {wait: {message: go}}},
	steps: [{parallel: {steps: [{id: slow, operation: pay, input: slow},
		{sequential: {steps: [{id: first, operation: pay}, {id: deep, operation: ship}, {id: wait, operation: go}, {id: second, operation: pay}]}}]}}], output: "{{ [steps.first.output, steps.slow.output, steps.second.output] }}"}`

// pay returns a workflow with a text as its output; with input slow, it also waits for a message.
func pay(says string) string {
	return fmt.Sprintf(`{kind: Workflow, name: pay, operations: {says: {value: %s}, ask: {wait: {message: paid}}},
		steps: [{id: says, operation: says, input: %s}, {conditional: {test: "{{ input == 'slow' }}", then: [{id: ask, operation: ask}]}}], output: "{{ steps.says.output }}"}`, says, says)
}

const (
	ship  = `{kind: Workflow, name: ship, operations: {pack: {workflow: {path: pack}}}, steps: [{operation: pack}]}`
	pack  = `{kind: Workflow, name: pack, operations: {v: {value: "{{ input }}"}}, steps: [{id: v, operation: v, input: 1}]}`
	pack2 = `{kind: Workflow, name: pack, operations: {v: {value: "{{ input }}"}}, steps: [{id: v, operation: v, input: 2}]}`
)

// A run that is moved to a version in which only child workflows differ starts these from then on, also after a restart and a move back.
// Children that it has started go on with their own workflows.
func TestARunIsMovedToAVersionOfWhichOnlyChildrenDiffer(t *testing.T) {
	old := packed(t, map[string]string{"top": order, "pay": pay("old"), "ship": ship, "pack": pack})
	now := packed(t, map[string]string{"top": order, "pay": pay("new"), "ship": ship, "pack": pack})
	require.Equal(t, old.Workflow, now.Workflow)
	for _, back := range []bool{false, true} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("back %v, restart %v", back, restart), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, store := t.Context(), lasting{memory.New()}
					engine := engineOn(t, store)
					run, err := parcel.Start(ctx, engine, old, nil, coordinator.WithID("a"))
					require.NoError(t, err)
					synctest.Wait()
					to, last := []*parcel.Parcel{now}, "new"
					if back {
						to, last = append(to, old), "old"
					}
					for _, p := range to {
						report, err := run.PreviewMoveEntry(ctx, looked(t, engine, p))
						require.NoError(t, err)
						require.True(t, report.Same())
						_, err = run.MoveEntry(ctx, unpacked(t, engine, p))
						require.NoError(t, err)
						_, err = run.MoveEntry(ctx, unpacked(t, engine, p))
						_, follows := err.(*coordinator.FollowsError)
						require.True(t, follows, "%v", err)
						require.ErrorIs(t, err, coordinator.ErrNotPossible)
						synctest.Wait()
					}
					if restart {
						require.NoError(t, engine.Shutdown(ctx))
						engine = engineOn(t, store)
						run, err = engine.Run(ctx, "a")
						require.NoError(t, err)
						_, err = run.PreviewMoveEntry(ctx, looked(t, engine, to[len(to)-1]))
						_, follows := err.(*coordinator.FollowsError)
						require.True(t, follows, "%v", err)
					}
					require.NoError(t, run.Send(ctx, "go", nil))
					child, err := engine.Run(ctx, "a/slow#1")
					require.NoError(t, err)
					require.NoError(t, child.Send(ctx, "paid", nil))
					result, err := run.Wait(ctx)
					require.NoError(t, err)
					require.Equal(t, []any{"old", "old", last}, result.Output, "%v", result.Failure)
				})
			})
		}
	}
}

// A child run that is under way is moved separately.
func TestAChildRunIsMovedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, engine := t.Context(), engineOn(t, memory.New())
		document := func(text string) string {
			return fmt.Sprintf(`{kind: Workflow, name: pay, operations: {says: {value: %s}, ask: {wait: {message: paid}}}, steps: [{operation: ask}, {operation: says}], output: "{{ steps.says.output }}"}`, text)
		}
		top := `{kind: Workflow, name: top, operations: {pay: {workflow: {path: pay}}}, steps: [{operation: pay}], output: "{{ steps.pay.output }}"}`
		run, err := parcel.Start(ctx, engine, packed(t, map[string]string{"top": top, "pay": document("old")}), nil, coordinator.WithID("a"))
		require.NoError(t, err)
		synctest.Wait()
		child, err := engine.Run(ctx, "a/pay#1")
		require.NoError(t, err)
		_, err = child.MoveEntry(ctx, unpacked(t, engine, packed(t, map[string]string{"top": document("new")})))
		require.NoError(t, err)
		require.NoError(t, child.Send(ctx, "paid", nil))
		result, err := run.Wait(ctx)
		require.NoError(t, err)
		require.Equal(t, "new", result.Output)
	})
}

// A shadow follows each child run that would follow another workflow, at any depth, and none that would not.
func TestAShadowFollowsChildRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, engine := t.Context(), engineOn(t, memory.New())
		old := map[string]string{"top": order, "pay": pay("old"), "ship": ship, "pack": pack}
		run, err := parcel.Start(ctx, engine, packed(t, old), nil, coordinator.WithID("a"))
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, run.Send(ctx, "go", nil))
		synctest.Wait()
		for name, c := range map[string]struct {
			changed    map[string]string
			found      []string // run, step and kind of each difference
			children   []string
			alike, why int
		}{
			"nothing": {alike: 4},
			"one far below": {map[string]string{"pack": pack2}, []string{"a/deep#1/pack#1 deep/pack/v input", "a/deep#1/pack#1 deep/pack/v result"},
				[]string{"a/deep#1 0", "a/deep#1/pack#1 2"}, 3, 0},
			"one that is started often": {map[string]string{"pay": pay("new")},
				[]string{"a/first#1 first/says input", "a/first#1 first/says operation", "a/first#1 first/says result", "a/first#1  end",
					"a/second#1 second/says input", "a/second#1 second/says operation", "a/second#1 second/says result", "a/second#1  end",
					"a/slow#1 slow/says input", "a/slow#1 slow/says operation", "a/slow#1 slow/says result"},
				[]string{"a/first#1 4", "a/second#1 4", "a/slow#1 3"}, 1, 0},
			"another kind": {map[string]string{"ship": "{apiVersion: sluice/v1, kind: Playbook, metadata: {name: ship}, workflow: [{step: s, tool: {kind: noop}}]}"},
				nil, []string{"a/deep#1 0"}, 3, 1},
		} {
			now := map[string]string{}
			for _, all := range []map[string]string{old, c.changed} {
				for name, text := range all {
					now[name] = text
				}
			}
			report, err := run.ShadowEntry(ctx, looked(t, engine, packed(t, now)))
			require.NoError(t, err)
			require.Equal(t, name == "nothing", report.Same(), name)
			var found, children []string
			for i := range report.Differences {
				d := &report.Differences[i]
				found = append(found, d.Run+" "+d.Step+" "+string(d.Kind))
				require.Contains(t, d.String(), d.Run, name)
			}
			why := 0
			for _, child := range report.Children {
				children = append(children, fmt.Sprint(child.Run, " ", child.Found))
				if child.Why != "" {
					why++
				}
			}
			slices.Sort(c.found)
			slices.Sort(found)
			require.Equal(t, c.found, found, name)
			require.Equal(t, c.children, children, name)
			require.Equal(t, c.alike, report.Alike, name)
			require.Equal(t, c.why, why, name)
		}
		require.NoError(t, run.Cancel(ctx, ""))
	})
}

// Open runs count for the old version until they follow the new one; a move of many reports those that follow it already.
func TestOpenRunsOfAVersionOfWhichOnlyChildrenDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, engine := t.Context(), engineOn(t, memory.New())
		old := packed(t, map[string]string{"top": order, "pay": pay("old"), "ship": ship, "pack": pack})
		now := packed(t, map[string]string{"top": order, "pay": pay("new"), "ship": ship, "pack": pack})
		say := func(err error) string { return err.Error() }
		was, _, err := parcel.Publish(ctx, engine, old, "ann")
		require.NoError(t, err)
		for _, id := range []string{"a", "b", "c"} {
			_, err := parcel.Start(ctx, engine, old, nil, coordinator.WithID(id))
			require.NoError(t, err)
		}
		_, err = parcel.Start(ctx, engine, now, nil, coordinator.WithID("d"))
		require.NoError(t, err)
		synctest.Wait()
		is, _, err := parcel.Publish(ctx, engine, now, "ann")
		require.NoError(t, err)
		effect, err := versions.Replaced(ctx, engine, was, is, say)
		require.NoError(t, err)
		require.Len(t, effect.Children, 1)
		require.Equal(t, "of 3 of the old version, 3 can be moved to the new one", effect.OpenRuns())
		run, err := engine.Run(ctx, "b")
		require.NoError(t, err)
		_, err = run.MoveEntry(ctx, unpacked(t, engine, now))
		require.NoError(t, err)
		diff, err := versions.Compare(ctx, engine, looked(t, engine, old), looked(t, engine, now), say)
		require.NoError(t, err)
		require.Equal(t, "of 2 of the old version, 2 can be moved to the new one", diff.OpenRuns())

		act := bulk.Act{Verb: "move", Where: "workflow:order parent:none", Entry: unpacked(t, engine, now), Actor: "ann"}
		p, err := engine.PreviewBulk(ctx, act)
		require.NoError(t, err)
		require.Equal(t, [3]int{2, 2, 0}, [3]int{p.Will, p.Already, p.Refused}, "%v", p.Why)
		act.Expect = 4
		id, err := engine.BeginBulk(ctx, act)
		require.NoError(t, err)
		done, err := engine.AwaitBulk(ctx, id)
		require.NoError(t, err)
		require.Equal(t, [3]int{2, 2, 0}, [3]int{done.Done, done.Already, done.Refused})
		for _, id := range []string{"a", "b", "c", "d"} {
			run, err := engine.Run(ctx, id)
			require.NoError(t, err)
			require.NoError(t, run.Cancel(ctx, ""))
		}
	})
}

// A difference names exactly the child workflows whose own documents differ, at any depth, also among workflows that start one another.
func TestADifferenceNamesTheChildrenThatDiffer(t *testing.T) {
	engine := engineOn(t, memory.New())
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(rt, "documents")
		names := []string{"top", "b", "c", "d", "e"}[:n]
		starts := make([][]int, n)
		for i := range n {
			starts[i] = rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, 2, rapid.ID).Draw(rt, "starts")
		}
		write := func(version []int) map[string]string {
			all := map[string]string{}
			for i, name := range names {
				operations, steps := fmt.Sprintf("v: {value: %d}", version[i]), "{operation: v}"
				for _, below := range starts[i] {
					operations += fmt.Sprintf(", o%s: {workflow: {path: %s}}", names[below], names[below])
					steps += fmt.Sprintf(", {operation: o%s}", names[below])
				}
				all[name] = fmt.Sprintf("{kind: Workflow, name: %s, operations: {%s}, steps: [%s]}", name, operations, steps)
			}
			return all
		}
		old, now := make([]int, n), make([]int, n)
		for i := range n {
			now[i] = rapid.IntRange(0, 1).Draw(rt, "version")
		}
		reached := map[int]bool{0: true}
		for list := []int{0}; len(list) > 0; list = list[1:] {
			for _, below := range starts[list[0]] {
				if !reached[below] {
					reached[below] = true
					list = append(list, below)
				}
			}
		}
		var want, got []string
		for i := range n {
			if reached[i] && i > 0 && now[i] != old[i] {
				want = append(want, names[i])
			}
		}
		diff, err := versions.Of(t.Context(), looked(t, engine, packed(t, write(old))), looked(t, engine, packed(t, write(now))))
		require.NoError(rt, err)
		for _, c := range diff.Children {
			got = append(got, c.Document)
			require.Len(rt, c.Changed, 1)
			require.Equal(rt, "v", c.Changed[0].Step)
		}
		slices.Sort(got)
		require.Equal(rt, want, got)
		require.Equal(rt, now[0] != old[0], len(diff.Changed) > 0)
		require.Equal(rt, len(want) == 0 && now[0] == old[0], diff.None())
	})
}

// book is a playbook that starts a child in a step alone, twice in a task of a list, and for the items of a loop.
const book = `{apiVersion: sluice/v1, kind: Playbook, metadata: {name: book}, workflow: [
	{step: alone, tool: {kind: workflow, path: pay, set: {ctx.left: 1}}, next: {arcs: [{step: listed}]}},
	{step: listed, tool: [{name: before, kind: noop}, {name: pays, kind: workflow, path: pay, spec: {policy: {rules: [
		{when: "{{ ctx.left > 0 }}", then: {do: jump, to: pays, set_ctx: {left: 0}}}, {else: {then: {do: continue}}}]}}}], next: {arcs: [{step: each}]}},
	{step: each, loop: {in: [1, 2], iterator: n, spec: {mode: parallel}}, tool: {kind: workflow, path: pay}, next: {arcs: [{step: stays}]}},
	{step: stays, tool: {kind: wait, message: never}}]}`

func TestAShadowFollowsChildRunsOfAPlaybook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, engine := t.Context(), engineOn(t, memory.New())
		run, err := parcel.Start(ctx, engine, packed(t, map[string]string{"top": book, "pay": pay("old")}), nil, coordinator.WithID("a"))
		require.NoError(t, err)
		synctest.Wait()
		for _, says := range []string{"old", "new"} {
			report, err := run.ShadowEntry(ctx, looked(t, engine, packed(t, map[string]string{"top": book, "pay": pay(says)})))
			require.NoError(t, err)
			var children []string
			for _, child := range report.Children {
				children = append(children, fmt.Sprint(child.Run, " ", child.Found, child.Why))
			}
			if says == "old" {
				require.Equal(t, 5, report.Alike)
				require.True(t, report.Same())
				continue
			}
			require.Equal(t, []string{"a/alone@1.alone_task#1 4", "a/each@1[0].each_task#1 4", "a/each@1[1].each_task#1 4",
				"a/listed@1.pays#1 4", "a/listed@1.pays~2#1 4"}, children)
			require.Zero(t, report.Alike)
		}
		require.NoError(t, run.Cancel(ctx, ""))
	})
}

// A playbook that is moved to a version in which only a child differs starts the new child from then on.
func TestAPlaybookIsMovedToAVersionOfWhichOnlyAChildDiffers(t *testing.T) {
	const top = `{apiVersion: sluice/v1, kind: Playbook, metadata: {name: top}, workflow: [
		{step: first, tool: {kind: workflow, path: pay}, next: {arcs: [{step: wait}]}},
		{step: wait, tool: {kind: wait, message: go}, next: {arcs: [{step: second}]}},
		{step: second, tool: {kind: workflow, path: pay}}]}`
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, store := t.Context(), lasting{memory.New()}
			engine := engineOn(t, store)
			run, err := parcel.Start(ctx, engine, packed(t, map[string]string{"top": top, "pay": pay("old")}), nil, coordinator.WithID("a"))
			require.NoError(t, err)
			synctest.Wait()
			report, err := run.MoveEntry(ctx, unpacked(t, engine, packed(t, map[string]string{"top": top, "pay": pay("new")})))
			require.NoError(t, err)
			require.True(t, report.Same())
			if restart {
				require.NoError(t, engine.Shutdown(ctx))
				engine = engineOn(t, store)
				run, err = engine.Run(ctx, "a")
				require.NoError(t, err)
			}
			require.NoError(t, run.Send(ctx, "go", nil))
			result, err := run.Wait(ctx)
			require.NoError(t, err)
			require.Equal(t, "completed", string(result.Status))
			for id, says := range map[string]string{"a/first@1.first_task#1": "old", "a/second@1.second_task#1": "new"} {
				child, err := engine.Run(ctx, id)
				require.NoError(t, err)
				result, err := child.Wait(ctx)
				require.NoError(t, err)
				require.Equal(t, says, result.Output)
			}
		})
	}
}
