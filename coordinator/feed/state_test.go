package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// mapped has a map in a map, with steps that wait for a message, fail, are to be attempted again in an hour, and are caught.
const mapped = `
kind: Workflow
name: mapped
operations: {w: {wait: {message: go}}, broken: {fail: {code: broken, message: no}}}
steps:
  - {id: first, operation: w}
  - map: {id: m, over: "{{ [1, 2, 3, 4] }}", steps: [
      {id: a, operation: w},
      {map: {id: n, over: "{{ item > 3 ? [] : [1, 2] }}", steps: [{id: x, operation: w}]}},
      {id: l, operation: later, timing: {retry: {max_attempts: 2, backoff: PT1H}}},
      {conditional: {id: c, test: "{{ item == 2 }}", then: [{id: y, operation: w}], else: [{id: z, operation: broken}]}}]}
  - {id: last, operation: w}`

// netted has gates, a join, a loop, and a way back.
const netted = `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: netted}
workflow:
  - step: a
    set: {ctx.round: "{{ (ctx.round ?? 0) + 1 }}"}
    next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: c}, {step: e}]}
  - step: b
    spec: {policy: {admit: {rules: [{when: "{{ ctx.b == true }}", then: {allow: true}}]}}}
    next: {arcs: [{step: j}]}
  - step: c
    spec: {policy: {admit: {rules: [{when: "{{ ctx.c == true }}", then: {allow: true}}]}}}
    tool: {kind: noop}
    next: {arcs: [{step: j}]}
  - step: e
    loop: {in: [1, 2, 3], iterator: x}
    tool: {kind: noop}
    next: {arcs: [{step: j}]}
  - step: j
    spec: {join: {mode: all}}
    set: {ctx.b: false, ctx.c: false}
    next: {arcs: [{step: a, when: "{{ ctx.round < 4 }}"}]}`

// later fails, and may be attempted again.
var later = operation.Define("later", func(context.Context, any) (any, error) { return nil, &operation.Error{Code: "later"} })

func parse(t *testing.T, text string) *template.Workflow {
	checked, err := kinds.Load("test.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(t, err)
	return checked.Workflow
}

// known is a run as its follower has recorded it.
type known struct {
	seq, revision uint64
	status        string
	steps         map[string]StepStatus
	maps          map[string]MapCount
	net           map[string]NetStep
}

// take takes a frame of one run.
func (k *known) take(t *testing.T, f Frame) {
	switch f.Kind {
	case KindSnapshot:
		s, n := decode[Snapshot](t, f), decode[NetSnapshot](t, f)
		*k = known{s.Seq, n.Revision, s.Status, map[string]StepStatus{}, map[string]MapCount{}, map[string]NetStep{}}
		k.put(s.Steps, s.Maps, n.Net)
	case KindUpdate:
		u := decode[Update](t, f)
		require.Equal(t, k.seq+1, u.From)
		k.seq, k.status = u.Seq, u.Status
		k.put(u.Steps, u.Maps, u.Net)
		if u.Revision > 0 {
			k.revision = u.Revision
		}
	}
}

func (k *known) put(steps []StepStatus, counts []MapCount, net []NetStep) {
	for _, s := range steps {
		if k.steps[s.Step] = s; s.Status == "idle" || s.Status == "absent" {
			delete(k.steps, s.Step)
		}
	}
	for _, m := range counts {
		if k.maps[m.Map] = m; m.Of == 0 {
			delete(k.maps, m.Map)
		}
	}
	for _, n := range net {
		k.net[n.Step] = n
	}
}

func (k *known) copied() known {
	c := *k
	c.steps, c.maps, c.net = maps.Clone(k.steps), maps.Clone(k.maps), maps.Clone(k.net)
	return c
}

// mapAround returns the key of the map around a node of mapped, and the item that it is part of.
func mapAround(key string) (of, item string) {
	name, index, _ := strings.Cut(key, "[")
	switch name {
	case "a", "n", "l", "c", "y", "z":
		return "m", "m[" + index
	case "x":
		outer, _, _ := strings.Cut(index, "][")
		return "n[" + outer + "]", "n[" + index
	}
	return "", ""
}

// asked returns a run as an observer that has opened some maps should have recorded it, from a separate read of the run's state.
func asked(t *testing.T, run *coordinator.Run, seq uint64, w wants) known {
	s, err := run.At(reader.Moment{Seq: seq}).State(t.Context())
	require.NoError(t, err)
	k := known{seq: seq, status: string(s.Status), steps: map[string]StepStatus{}, maps: map[string]MapCount{}, net: map[string]NetStep{}}
	items, of := map[string]*[4]int{}, map[string]string{} // numbers of nodes that have not begun, are under way, have ended well, have failed
	for i := range s.Steps {
		one := &s.Steps[i]
		around, item := mapAround(one.Step)
		if s.Routed == nil && w.shows(around) && one.Status != reactive.Idle {
			status := StepStatus{Step: one.Step, Status: one.Status.String(), Attempt: one.Attempts, Pending: one.Pending}
			if one.Failure != nil {
				status.Code = one.Failure.Code
			}
			k.steps[one.Step] = status
		}
		if around == "" {
			continue
		}
		if of[item] = around; items[item] == nil {
			items[item] = &[4]int{}
		}
		switch now := one.Status; {
		case one.Pending || now == reactive.Ready || now == reactive.Running:
			items[item][1]++
		case now == reactive.Completed || now == reactive.Skipped:
			items[item][2]++
		case now == reactive.Failed || now == reactive.Aborted:
			items[item][3]++
		default:
			items[item][0]++
		}
	}
	for item, n := range items {
		outer, _ := mapAround(of[item])
		if !w.shows(outer) {
			continue
		}
		m := k.maps[of[item]]
		m.Map = of[item]
		m.Of++
		switch {
		case n[1] > 0 || n[0] > 0 && n[2]+n[3] > 0:
			m.Running++
		case n[0] > 0:
		case n[3] > 0:
			m.Failed++
		default:
			m.OK++
		}
		k.maps[m.Map] = m
	}
	return k
}

// follower follows a run by one view, and is cut off and goes on at any time.
type follower struct {
	o     Options
	known known
	past  []known // the state after each frame, to resume from any
	on    *Observer
}

// follow reads frames until the newest event is known, with cuts in between.
func (f *follower) follow(t *testing.T, hub *Hub, run *coordinator.Run, random *rand.Rand) {
	last, err := run.Last(t.Context())
	require.NoError(t, err)
	for f.known.seq < last || f.on == nil {
		if f.on != nil && random.IntN(4) == 0 {
			f.on.Close()
			f.on = nil
		}
		if f.on == nil {
			f.open(t, hub, run, random)
			continue
		}
		frame, err := f.on.Next(t.Context())
		if errors.Is(err, io.EOF) { // the run had ended, and a retry has reopened it
			f.on.Close()
			f.on = nil
			continue
		}
		require.NoError(t, err)
		f.known.take(t, frame)
		f.past = append(f.past, f.known.copied())
	}
}

// open opens the feed anew, behind the newest known event, behind one that was the newest at some time, or with a snapshot.
func (f *follower) open(t *testing.T, hub *Hub, run *coordinator.Run, random *rand.Rand) {
	o := f.o
	switch random.IntN(4) {
	case 0:
		f.known = known{}
	case 1:
		if len(f.past) > 0 {
			f.known = f.past[random.IntN(len(f.past))].copied()
		}
	}
	o.After, o.Resume = f.known.seq, f.known.seq > 0
	on, err := hub.Run(t.Context(), run.ID(), o)
	require.NoError(t, err)
	f.on = on
	if !o.Resume {
		frame, err := on.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, KindSnapshot, frame.Kind)
		f.known.take(t, frame)
	}
}

// trials is the number of runs with which a property is tested.
func trials() int {
	switch {
	case os.Getenv("SLUICE_EXHAUSTIVE") != "":
		return 200
	case testing.Short():
		return 2
	}
	return 6
}

// The state that an observer derives from a snapshot and updates, interrupted and resumed anywhere, is the state of the run, for any
// opened maps.
func TestASnapshotAndUpdatesAreTheState(t *testing.T) {
	engine := newEngine(t, memory.New())
	hub, w := newHub(t, engine), parse(t, mapped)
	keys := []string{"first", "m", "a[0]", "l[0]", "l[1]", "c[2]", "n[1]", "x[0][1]", "y[1]", "z[0]", "last"}
	for seed := range uint64(trials()) {
		random := rand.New(rand.NewPCG(seed, 1))
		run, err := engine.Start(t.Context(), w, nil)
		require.NoError(t, err)
		followers := []*follower{{}, {o: Options{Open: []string{"m"}}}, {o: Options{Open: []string{"n[1]", "n[0]", "typo"}}}, {o: Options{Open: []string{"m", EveryMap}}}}
		for i := range 40 {
			switch key := keys[random.IntN(len(keys))]; random.IntN(12) { // a refused command changes nothing
			case 0:
				_ = run.Abort(t.Context(), key, "")
			case 1, 2:
				_ = run.Retry(t.Context(), key)
			case 3:
				_ = run.Pause(t.Context(), "")
			case 4:
				_ = run.Resume(t.Context())
			default:
				_ = run.Send(t.Context(), "go", i)
			}
			if i == 39 {
				_ = run.Cancel(t.Context(), "")
			}
			for _, f := range followers {
				if random.IntN(3) == 0 || i == 39 {
					f.follow(t, hub, run, random)
					wants, err := newWants(f.o.View, f.o.Open)
					require.NoError(t, err)
					require.Equal(t, asked(t, run, f.known.seq, wants), f.known, "seed %d, command %d, open %v", seed, i, f.o.Open)
				}
			}
		}
		for _, f := range followers {
			f.on.Close()
		}
	}
	require.Empty(t, hub.topics)
}

// The same holds for a playbook's net: its steps equal those of the state, and its revision changes with the context.
func TestASnapshotAndUpdatesAreTheNet(t *testing.T) {
	engine := newEngine(t, memory.New())
	hub, w := newHub(t, engine), parse(t, netted)
	for seed := range uint64(trials()) {
		random := rand.New(rand.NewPCG(seed, 2))
		run, err := engine.Start(t.Context(), w, nil)
		require.NoError(t, err)
		net := &follower{o: Options{View: Net}}
		all := []*follower{net, {}, {o: Options{Open: []string{EveryMap}}}}
		for i := range 30 {
			switch random.IntN(8) {
			case 0:
				_ = run.Patch(t.Context(), map[string]any{"noise": i})
			case 1:
				_ = run.Pause(t.Context(), "")
			case 2:
				_ = run.Resume(t.Context())
			default:
				_ = run.Patch(t.Context(), map[string]any{[]string{"b", "c"}[random.IntN(2)]: true})
			}
			if i == 29 {
				_ = run.Cancel(t.Context(), "")
			}
			for _, f := range all {
				if random.IntN(3) == 0 || i == 29 {
					f.follow(t, hub, run, random)
				}
			}
			sameNet(t, run, &net.known)
		}
		for _, f := range all {
			fresh := &follower{o: f.o}
			fresh.follow(t, hub, run, random)
			require.Equal(t, fresh.known, f.known, "seed %d", seed)
			f.on.Close()
			fresh.on.Close()
		}
	}
	_, err := hub.Run(t.Context(), start(t, engine).ID(), Options{View: Net})
	require.ErrorIs(t, err, coordinator.ErrNotPossible)
}

func start(t *testing.T, engine *coordinator.Engine) *coordinator.Run {
	run, err := engine.Start(context.Background(), parse(t, mapped), nil)
	require.NoError(t, err)
	return run
}

// sameNet compares a net with the state of its run at that time.
func sameNet(t *testing.T, run *coordinator.Run, k *known) {
	if k.seq == 0 {
		return
	}
	s, err := run.At(reader.Moment{Seq: k.seq}).State(t.Context())
	require.NoError(t, err)
	require.Equal(t, string(s.Status), k.status)
	for _, one := range s.Steps {
		if one.Depth > 0 {
			continue
		}
		n := k.net[one.Step]
		require.Equal(t, []int{one.Runs, one.Live, one.Tokens}, []int{n.Runs, n.Live, n.Gate + n.Join}, "%s at %d", one.Step, k.seq)
	}
	revision := uint64(0)
	var was map[string]any
	for seq := uint64(1); seq <= k.seq; seq++ {
		now, err := run.At(reader.Moment{Seq: seq}).State(t.Context())
		require.NoError(t, err)
		if fmt.Sprint(was) != fmt.Sprint(now.Routed.Context) {
			revision = seq
		}
		was = now.Routed.Context
	}
	require.GreaterOrEqual(t, k.revision, revision, "a write of the same value counts, too")
	require.LessOrEqual(t, k.revision, k.seq)
}

func TestWhatAnObserverCannotBeShownIsRefused(t *testing.T) {
	engine := newEngine(t, memory.New())
	hub, id := newHub(t, engine), start(t, engine).ID()
	for _, o := range []Options{
		{View: Events, Open: []string{"m"}}, {View: Net, Open: []string{"m"}}, {Open: []string{""}}, {Open: []string{"m", strings.Repeat("m", openKeySize+1)}},
		{Open: slices.Repeat([]string{"m"}, OpenMax+1)},
	} {
		_, err := hub.Run(t.Context(), id, o)
		require.ErrorIs(t, err, ErrNotShown)
		_, err = hub.Several(t.Context(), Wanted{Runs: []string{id}, View: o.View, Open: o.Open}, "")
		require.ErrorIs(t, err, ErrNotShown)
	}
}
