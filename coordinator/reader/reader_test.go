package reader_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// process is the process of a reader: it drives the runs in drives, and runs in parked are parked.
type process struct {
	now      int64
	drives   map[string]bool
	parked   map[string]error
	reported []string
}

func (p *process) Now() int64                      { return p.now }
func (p *process) EventsMax() int                  { return 0 }
func (p *process) Cells() world.Cache              { return world.Cache{} }
func (p *process) Drives(run string) bool          { return p.drives[run] }
func (p *process) ForWorker(string, string) string { return "" }
func (p *process) Unserved(string) time.Time       { return time.Time{} }
func (p *process) Parked(_ context.Context, run string) error {
	return p.parked[run]
}
func (p *process) Host(string, *registry.Entry, *reactive.Root) decide.Host { return host{} }
func (p *process) Report(what, run string, err error) {
	p.reported = append(p.reported, fmt.Sprint(what, " ", run, " ", err))
}

type host struct{ decide.Host }

// room is a reader of a store in memory, to which a test writes journals.
type room struct {
	*reader.Reader
	t       require.TestingT
	store   journal.Store
	process *process
	entry   *registry.Entry
}

const document = `
kind: Workflow
name: w
operations: {message: {wait: {message: approval}}}
steps: [{operation: a, timing: {timeout: PT10S}}, {id: m, operation: message}]`

func newRoom(t *testing.T) *room {
	r := &room{t: t, store: memory.New(), process: &process{now: 1, drives: map[string]bool{}, parked: map[string]error{}}}
	t.Cleanup(func() { require.NoError(t, r.store.Close()) })
	a := operation.Define("a", func(_ context.Context, v any) (any, error) { return v, nil })
	known, err := registry.New(r.store, registry.Config{Operations: []registry.Operation{a}})
	require.NoError(t, err)
	w, err := template.Parse("w.yaml", []byte(document))
	require.NoError(t, err)
	r.entry, err = known.Add(w)
	require.NoError(t, err)
	r.Reader = reader.New(t.Context(), r.store, known, r.process)
	return r
}

// write appends to a run, with a head that is open or not.
func (r *room) write(run string, after uint64, open bool, events ...journal.Event) {
	head := journal.Head{Run: run, Open: open, Status: "some"}
	_, err := r.store.Append(context.Background(), run, after, events, head)
	require.NoError(r.t, err)
}

func (r *room) started(run string) journal.Event {
	e := decide.Started(run, r.entry.Plan, nil, decide.Limits{})
	e.At = 1
	return e
}

var (
	requested = journal.Event{Type: journal.CallRequested, Node: "a", Attempt: 1, At: 1}
	responded = journal.Event{Type: journal.CallResponded, Node: "a", Attempt: 1, At: 2, Value: "out"}
	finished  = journal.Event{Type: journal.RunFinished, At: 3, Value: "result", Detail: &journal.Detail{State: "completed"}}
	reopened  = journal.Event{Type: journal.RunReopened, At: 4}
)

// Head finds the head of any run, and no other, even if one id is the beginning of another, or has no letters.
func TestHeadFindsEveryRunAndNoOther(t *testing.T) {
	ids := rapid.StringOfN(rapid.SampledFrom([]rune{1, '/', '0', 'a', 'b', '~', 'é', 0x10ffff}), 1, 4, -1)
	rapid.Check(t, func(t *rapid.T) {
		store := memory.New()
		defer store.Close()
		listed := 0
		r := reader.New(context.Background(), counted{store, &listed}, nil, nil)
		known := map[string]bool{}
		for _, id := range rapid.SliceOfN(ids, 0, 12).Draw(t, "runs") {
			if !known[id] {
				_, err := store.Append(context.Background(), id, 0, []journal.Event{{Type: journal.RunStarted}}, journal.Head{Run: id, Name: "of " + id})
				require.NoError(t, err)
				known[id] = true
			}
		}
		asked := ids.Draw(t, "asked")
		for id := range known {
			head, err := r.Head(context.Background(), id)
			require.NoError(t, err)
			require.Equal(t, "of "+id, head.Name)
			require.Equal(t, 1, listed, "no other is listed")
			listed = 0
		}
		if _, err := r.Head(context.Background(), asked); !known[asked] {
			require.ErrorIs(t, err, decide.ErrRunNotFound)
			require.LessOrEqual(t, listed, 1, "it ends at the first that follows")
		}
		_, err := r.Head(context.Background(), "")
		require.ErrorIs(t, err, decide.ErrRunNotFound)

		var below, want []string
		for head, err := range r.Below(context.Background(), asked) {
			require.NoError(t, err)
			below = append(below, head.Run)
		}
		for id := range known {
			if strings.HasPrefix(id, asked+"/") && id != asked+"/" {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		require.Equal(t, want, below)
	})
}

// counted counts the heads that are listed.
type counted struct {
	journal.Store
	heads *int
}

func (s counted) Heads(ctx context.Context, after string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		for head, err := range s.Store.Heads(ctx, after) {
			*s.heads++
			if !yield(head, err) {
				return
			}
		}
	}
}

// torn is a store that cannot read the head of one run.
type torn struct {
	journal.Store
	run string
	err error
}

func (s torn) Heads(ctx context.Context, after string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		for head, err := range s.Store.Heads(ctx, after) {
			if head.Run == s.run {
				head, err = journal.Head{Run: s.run}, s.err
			}
			if !yield(head, err) {
				return
			}
		}
	}
}

// A run whose head cannot be read is listed as damaged, with the others; any other error ends the list.
func TestRunsListsWhatCannotBeRead(t *testing.T) {
	r := newRoom(t)
	for _, run := range []string{"a", "b", "c"} {
		r.write(run, 0, true, r.started(run))
	}
	for _, damage := range []error{journal.ErrDamaged, journal.ErrVersion, journal.ErrClosed} {
		var got []string
		var failed error
		for head, err := range reader.New(t.Context(), torn{r.store, "b", damage}, nil, r.process).Runs(t.Context(), "") {
			failed = errors.Join(failed, err)
			got = append(got, head.Run+" "+head.Status)
		}
		if errors.Is(damage, journal.ErrClosed) {
			require.ErrorIs(t, failed, damage)
			continue
		}
		require.NoError(t, failed)
		require.Equal(t, []string{"a some", "b " + reader.StatusDamaged, "c some"}, got)
	}
}

func TestEndingIsThatOfTheNewestEnd(t *testing.T) {
	r := newRoom(t)
	out, err := r.Progress(t.Context(), "r")
	require.NoError(t, err)
	require.Equal(t, reader.Progress{}, out)
	for i, c := range []struct {
		event journal.Event
		ended bool
	}{{r.started("r"), false}, {finished, true}, {reopened, false}, {requested, false}, {finished, true}} {
		r.write("r", uint64(i), !c.ended, c.event)
		out, err = r.Progress(t.Context(), "r")
		require.NoError(t, err)
		require.Equal(t, c.ended, out.Result != nil, "event %d", i)
		require.EqualValues(t, i+1, out.Last)
		require.Equal(t, "r", out.Start.Run)
	}
	require.Equal(t, "result", out.Result.Output)
}

func TestStartIsTheFirstEvent(t *testing.T) {
	r := newRoom(t)
	_, err := r.Start(t.Context(), "none")
	require.ErrorIs(t, err, decide.ErrRunNotFound)
	r.write("torn", 0, true, requested)
	_, err = r.Start(t.Context(), "torn")
	require.ErrorIs(t, err, journal.ErrDamaged)
	require.ErrorContains(t, err, "run torn does not begin with its start")
	r.write("r", 0, true, r.started("r"))
	start, err := r.Start(t.Context(), "r")
	require.NoError(t, err)
	require.Equal(t, r.entry.Plan.Hash, start.Workflow)
}

// Start reads one event, at any place.
func TestStartReadsOneEvent(t *testing.T) {
	r := newRoom(t)
	first := r.started("r")
	first.Detail.Start.Children = map[string]string{r.entry.Plan.Hash + "/a": "child"}
	r.write("r", 0, true, first)
	r.write("r", 1, true, slices.Repeat([]journal.Event{requested, responded}, 500)...)
	read := 0
	from := reader.New(t.Context(), reads{r.store, &read}, nil, r.process)
	start, err := from.Start(t.Context(), "r")
	require.NoError(t, err)
	require.Equal(t, first.Detail.Start.Children, start.Children)
	require.Equal(t, 1, read)

	now := *first.Detail.Start
	now.Children = map[string]string{r.entry.Plan.Hash + "/a": "other"}
	head := journal.Head{Run: "r", Open: true, Status: "some", Moved: 1002}
	_, err = r.store.Append(t.Context(), "r", 1001, []journal.Event{decide.Moved(&now, ""), requested}, head)
	require.NoError(t, err)
	start, err = from.Start(t.Context(), "r")
	require.NoError(t, err)
	require.Equal(t, now.Children, start.Children)
	require.Equal(t, 2, read)
}

// reads counts the events that are read.
type reads struct {
	journal.Store
	n *int
}

func (s reads) Read(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range s.Store.Read(ctx, stream, from) {
			if *s.n++; !yield(e, err) {
				return
			}
		}
	}
}

// The obstacles to a run are other rules, a missing workflow, if that counts, and damage. An unknown run has no obstacle.
func TestObstacle(t *testing.T) {
	r := newRoom(t)
	rules, missing := r.started("rules"), r.started("missing")
	rules.Detail.Start.Engine++
	missing.Detail.Start.Workflow = strings.Repeat("0", 64)
	r.write("rules", 0, true, rules)
	r.write("missing", 0, true, missing)
	r.write("torn", 0, true, requested)
	r.write("good", 0, true, r.started("good"))
	for _, c := range []struct {
		run     string
		lacks   bool
		want    error
		started bool
	}{
		{"rules", false, decide.ErrRules, false}, {"rules", true, decide.ErrMissing, false}, {"missing", false, nil, false},
		{"missing", true, decide.ErrMissing, true}, {"torn", false, journal.ErrDamaged, false}, {"good", true, nil, false},
		{"unknown", true, nil, false},
	} {
		start, err := r.Obstacle(t.Context(), c.run, c.lacks)
		require.ErrorIs(t, err, c.want, c.run)
		require.Equal(t, c.started, start != nil, c.run)
	}
}

func TestLasting(t *testing.T) {
	for _, err := range []error{
		decide.ErrMissing, decide.ErrRunNotFound, journal.ErrDamaged, journal.ErrVersion, journal.ErrClosed, journal.ErrConflict,
		journal.ErrReadOnly, journal.ErrTooLarge, value.ErrTooLarge, &usercode.Panic{Reason: "x"},
	} {
		require.True(t, reader.Lasting(fmt.Errorf("read: %w", err)), err)
	}
	for _, err := range []error{nil, errors.New("too many open files"), context.Canceled, decide.ErrShutdown, decide.ErrParked} {
		require.False(t, reader.Lasting(err), err)
	}
}

func TestParkedReasonIsForPeople(t *testing.T) {
	for want, err := range map[string]error{
		"": nil,
		"this program does not have what the run needs: x":                               fmt.Errorf("%w: %w: x", decide.ErrParked, decide.ErrMissing),
		"damaged record: y; `sluice doctor` says what is damaged and what can be mended": fmt.Errorf("%w: %w: y", decide.ErrParked, journal.ErrDamaged),
	} {
		require.Equal(t, want, reader.ParkedReason(err))
	}
}

// A run of each kind has a state: one that can be followed, one that is parked, and those with only a head.
func TestStateOfEachKindOfRun(t *testing.T) {
	r := newRoom(t)
	rules, over := r.started("rules"), r.started("over")
	rules.Detail.Start.Engine++
	over.Detail.Start.Engine++
	r.write("good", 0, true, r.started("good"), requested)
	r.write("parked", 0, true, r.started("parked"))
	r.write("rules", 0, true, rules)
	r.write("over", 0, false, over, finished)
	r.write("torn", 0, true, requested)
	r.write("done", 0, false, r.started("done"), finished)
	r.process.parked["done"] = decide.ErrParked
	r.process.parked["parked"] = fmt.Errorf("%w: no room", decide.ErrParked)
	for _, c := range []struct {
		run      string
		finished bool
		parked   error
		seq      uint64
	}{
		{"good", false, nil, 2}, {"parked", false, decide.ErrParked, 1}, {"rules", false, decide.ErrRules, 1},
		{"over", true, nil, 2}, {"done", true, nil, 2}, {"torn", false, journal.ErrDamaged, 1},
	} {
		s, err := r.State(t.Context(), c.run)
		require.NoError(t, err, c.run)
		require.Equal(t, c.finished, s.Finished, c.run)
		require.Equal(t, c.seq, s.Seq, c.run)
		require.ErrorIs(t, s.Parked, c.parked, c.run)
		if c.parked != nil {
			require.ErrorIs(t, s.Parked, decide.ErrParked, c.run)
		}
	}
	s, err := r.State(t.Context(), "over")
	require.NoError(t, err)
	require.Equal(t, "result", s.Output)
	_, err = r.State(t.Context(), "unknown")
	require.ErrorIs(t, err, decide.ErrRunNotFound)
}

// Timers that have fallen due count if the run does not go on here; the store is unchanged.
func TestDueTimersCountWhereTheRunStandsStill(t *testing.T) {
	r := newRoom(t)
	r.write("r", 0, true, r.started("r"), requested)
	for _, c := range []struct {
		drives bool
		now    time.Duration
		late   bool
	}{{false, 9 * time.Second, false}, {true, 11 * time.Second, false}, {false, 11 * time.Second, true}} {
		r.process.drives["r"], r.process.now = c.drives, int64(c.now)
		s, err := r.State(t.Context(), "r")
		require.NoError(t, err)
		require.Equal(t, c.late, s.Late)
		require.Equal(t, c.late, s.Finished)
		require.EqualValues(t, 2, s.Seq)
		head, err := r.Head(t.Context(), "r")
		require.NoError(t, err)
		head.Due = int64(10*time.Second) + 1
		current, late, err := r.Current(t.Context(), head)
		require.NoError(t, err)
		require.Equal(t, []bool{c.late, !c.late}, []bool{late, current.Open})
		result, err := r.Await(t.Context(), closed(), "r", 2)
		require.NoError(t, err)
		require.Equal(t, c.late, result != nil)
	}
	require.Empty(t, r.process.reported)
}

// closed is a context that has ended.
func closed() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// History ends with the journal, Watch with the run; both begin at the given event, and a run that was reopened goes on.
func TestWatchEndsWithTheRun(t *testing.T) {
	r := newRoom(t)
	r.write("r", 0, false, r.started("r"), requested, responded, finished, reopened, requested2, finished)
	for from, want := range map[uint64]int{1: 7, 5: 3, 8: 0} {
		for name, list := range map[string]iter.Seq2[inspect.Update, error]{
			"history": r.History(t.Context(), "r", from), "watch": r.Watch(t.Context(), "r", from),
		} {
			got := 0
			for _, err := range list {
				require.NoError(t, err, name)
				got++
			}
			require.Equal(t, want, got, "%s from %d", name, from)
		}
	}
	roots := 0
	for root, err := range r.Roots(t.Context(), "r") {
		require.NoError(t, err)
		roots++
		require.EqualValues(t, roots, root.Seq())
	}
	require.Equal(t, 7, roots)
	for _, err := range r.Views(t.Context(), "r", 1) {
		require.ErrorIs(t, err, decide.ErrNotPossible, "it is no playbook")
	}
}

var requested2 = journal.Event{Type: journal.CallRequested, Node: "a", Attempt: 2, At: 5}

func TestAwaits(t *testing.T) {
	r := newRoom(t)
	r.write("r", 0, true, r.started("r"))
	require.NoError(t, r.Awaits(t.Context(), "r", "approval"))
	err := r.Awaits(t.Context(), "r", "aproval")
	unawaited, ok := errors.AsType[*inspect.UnawaitedError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, &inspect.UnawaitedError{Workflow: "w", Message: "aproval", Nearest: "approval", Awaited: []string{"approval"}}, unawaited)
	require.ErrorIs(t, r.Awaits(t.Context(), "none", "approval"), decide.ErrRunNotFound)
}

// The first reason of Explain is the reason that nothing goes on.
func TestExplainSaysWhyARunStandsStill(t *testing.T) {
	r := newRoom(t)
	rules := r.started("rules")
	rules.Detail.Start.Engine++
	r.write("r", 0, true, r.started("r"), requested)
	r.write("rules", 0, true, rules)
	first := func(run, step string) string {
		x, err := r.Explain(t.Context(), run, step)
		require.NoError(t, err)
		require.NotEmpty(t, x.Reasons)
		return x.Reasons[0].Kind
	}
	require.Equal(t, "nobody", first("r", ""))
	r.process.drives["r"] = true
	require.NotEqual(t, "nobody", first("r", ""))
	r.process.parked["r"] = decide.ErrParked
	require.Equal(t, "parked", first("r", "a"))
	require.Equal(t, "parked", first("rules", ""))
	require.Equal(t, "parked", first("rules", "a"))
	_, err := r.Explain(t.Context(), "r", "elsewhere")
	require.ErrorIs(t, err, decide.ErrStepNotFound)
	delete(r.process.parked, "r")
	delete(r.process.drives, "r")
	r.process.now = int64(11 * time.Second)
	require.Equal(t, "late", first("r", "a"))
}

// A panic while a journal is followed is an error of the reader's, and is reported.
func TestAPanicIsReported(t *testing.T) {
	r := newRoom(t)
	err := r.Derived("r", func() { panic("boom") })
	require.True(t, reader.Lasting(err))
	require.Len(t, r.process.reported, 1)
	require.Contains(t, r.process.reported[0], "boom")
	require.NoError(t, r.Derived("r", func() {}))
}

// The calls of a run are between those of the runs above and below it.
func TestCallGraphHasTheRunsAround(t *testing.T) {
	r := newRoom(t)
	child := r.started("r/a#1")
	child.Detail.Start.Parent = "r/a#1"
	r.write("r", 0, true, r.started("r"), requested)
	r.write("r/a#1", 0, true, child, requested)
	for _, run := range []string{"r", "r/a#1"} {
		g, err := r.CallGraph(t.Context(), run)
		require.NoError(t, err)
		var ids []string
		for i := range g.NodeCount() {
			ids = append(ids, g.Call(int32(i)).ID)
		}
		require.Equal(t, []string{"r/a#1", "r/a#1/a#1"}, ids)
	}
	_, err := r.CallGraph(t.Context(), "none")
	require.ErrorIs(t, err, decide.ErrRunNotFound)
}
