package children_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator/children"
	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/pool"
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// engine records the requests to it, and answers as a test has set it up.
type engine struct {
	mu     sync.Mutex
	known  map[string]bool
	noted  []string
	refuse map[string]error // by "<verb> <run>"
	wait   func(ctx context.Context, run string) (*inspect.Result, error)
	tried  chan struct{}
	all    sync.WaitGroup
}

func (e *engine) note(verb, run string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.noted = append(e.noted, verb+" "+run)
	return e.refuse[verb+" "+run]
}

// taken returns the requests since the last call, sorted.
func (e *engine) taken() []string {
	e.all.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	list := e.noted
	e.noted = nil
	slices.Sort(list)
	return list
}

func (e *engine) Exists(_ context.Context, run string) (bool, error) { return e.known[run], nil }

func (e *engine) Begin(_ context.Context, _ *registry.Entry, _ any, child children.Start) error {
	err := e.note("begin", child.ID)
	e.known[child.ID] = err == nil
	return err
}

func (e *engine) Wait(ctx context.Context, run string) (*inspect.Result, error) {
	return e.wait(ctx, run)
}
func (e *engine) Tried(string) <-chan struct{}                  { return e.tried }
func (e *engine) Cancel(_ context.Context, run, _ string) error { return e.note("cancel", run) }

func (e *engine) Command(_ context.Context, run string, command journal.Event, _ func(error)) error {
	return e.note(command.Type.String(), run)
}

func (e *engine) Note(_ context.Context, run string, command journal.Event) error {
	return e.note("note "+command.Type.String(), run)
}

func (e *engine) Go(f func()) { e.all.Go(f) }

func family(t *testing.T, change func(*children.Config)) (*children.Children, *engine, journal.Store) {
	store := memory.New()
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	e := &engine{known: map[string]bool{}, refuse: map[string]error{}, tried: make(chan struct{})}
	config := children.Config{
		Engine: e, Reader: reader.New(t.Context(), store, nil, nil), Context: t.Context(), Draining: t.Context(),
		Logger: slog.New(slog.DiscardHandler), DepthMax: 3, DescendantsMax: -1,
	}
	if change != nil {
		change(&config)
	}
	return children.New(config), e, store
}

func callOf(ctx context.Context, run, node string) *operation.Call {
	c := &operation.Call{Request: call.Request{Run: run, Node: node, Attempt: 1, Operation: "sub"}}
	c.Begin(ctx)
	return c
}

func find(context.Context) (*registry.Entry, error) { return &registry.Entry{}, nil }

// A call's child has the same id each time, different calls have different ids, and no id is too long.
func TestTheIDOfAChildIsThatOfItsCall(t *testing.T) {
	long := strings.Repeat("x", template.IDBytesMax)
	requests := rapid.Custom(func(t *rapid.T) call.Request {
		return call.Request{
			Run:  rapid.SampledFrom([]string{"r", "r/a#1", long}).Draw(t, "run"),
			Node: rapid.SampledFrom([]string{"a", "b", "m[0].a", long}).Draw(t, "node"), Attempt: rapid.Int32Range(1, 3).Draw(t, "attempt"),
			Participant: rapid.SampledFrom([]string{"", "p", "p/q"}).Draw(t, "participant"), Decision: rapid.Int32Range(0, 1).Draw(t, "decision"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := requests.Draw(t, "a"), requests.Draw(t, "b")
		ida, idb := children.ID(&a), children.ID(&b)
		require.Equal(t, children.ID(&a), ida)
		require.Equal(t, children.Name(&a) == children.Name(&b), ida == idb)
		require.Equal(t, a.Run, journal.ParentRun(ida))
		require.Equal(t, children.Generation(a.Run)+1, children.Generation(ida))
		require.LessOrEqual(t, len(ida), len(a.Run)+24+template.IDBytesMax)
		if a.Run == long {
			require.LessOrEqual(t, len(ida), template.IDBytesMax+24)
		}
		require.True(t, children.IDs([]call.Request{b, a})[ida])
	})
}

func TestACallIsAnsweredByItsChild(t *testing.T) {
	limit := fmt.Errorf("%w: too many", decide.ErrLimit)
	failed := &inspect.Result{Run: "r/a#1", Status: reactive.RunFailed, Failure: &journal.Failure{Code: "x", Message: "broken"}}
	below := &inspect.Result{Run: "r/a#1", Status: reactive.RunFailed,
		Failure: &journal.Failure{Code: children.CodeChildFailed, Message: "run r/a#1/b#1 failed: y"}}
	for name, c := range map[string]struct {
		result *inspect.Result
		err    error
		begin  error
		code   string // of the error; "": none
		text   string
		is     error
	}{
		"completed":         {result: &inspect.Result{Run: "r/a#1", Status: reactive.RunCompleted, Output: "out"}},
		"failed":            {result: failed, code: children.CodeChildFailed, text: "broken"},
		"failed below":      {result: below, code: children.CodeChildFailed, text: "run r/a#1/b#1 failed: y"},
		"over a limit":      {begin: limit, code: reactive.CodeLimit, text: "too many"},
		"refused":           {begin: errors.New("no"), code: children.CodeChildFailed, text: "no"},
		"shutting down":     {err: decide.ErrShutdown, is: decide.ErrShutdown},
		"without a secret":  {begin: keychain.ErrUnavailable, is: keychain.ErrUnavailable},
		"without a program": {begin: decide.ErrMissing, text: `child workflow of operation "sub"`},
	} {
		t.Run(name, func(t *testing.T) {
			family, e, _ := family(t, nil)
			e.refuse["begin r/a#1"] = c.begin
			e.wait = func(context.Context, string) (*inspect.Result, error) { return c.result, c.err }
			out, err := family.CallChild(callOf(t.Context(), "r", "a"), find)
			require.Equal(t, []string{"begin r/a#1"}, e.taken())
			if c.code == "" && c.text == "" && c.is == nil {
				require.NoError(t, err)
				require.Equal(t, c.result.Output, out)
				return
			}
			require.ErrorContains(t, err, c.text)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			own, ok := errors.AsType[*operation.Error](err)
			if c.code != "" {
				require.True(t, ok)
				require.Equal(t, c.code, own.Code)
				require.True(t, own.Permanent)
			}
			if c.result == below {
				require.Equal(t, c.text, own.Message, "the innermost is named")
			}
			_, unable := errors.AsType[*pool.Unable](err)
			require.Equal(t, name == "without a program", unable)
			if c.result != nil {
				require.Equal(t, map[string]any{"run": "r/a#1", "status": "failed", "code": c.result.Failure.Code, "message": c.result.Failure.Message}, own.Details)
			}
		})
	}
}

// A repeated call finds its child, keeps waiting while the child is parked, and cancels the child if the call ends first.
func TestAChildOutlivesItsCallOnlyIfTheEngineEnds(t *testing.T) {
	family, e, _ := family(t, nil)
	e.known["r/a#1"] = true
	c := callOf(t.Context(), "r", "a")
	waits := 0
	e.wait = func(ctx context.Context, _ string) (*inspect.Result, error) {
		switch waits++; waits {
		case 1:
			close(e.tried)
			return nil, decide.ErrParked
		default:
			c.End(decide.ErrEnded)
			<-ctx.Done()
			return nil, ctx.Err()
		}
	}
	_, err := family.CallChild(c, find)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 2, waits)
	require.Equal(t, []string{"cancel r/a#1"}, e.taken(), "it is not begun again")
}

func TestDrainingLeavesTheChildAlone(t *testing.T) {
	draining, drain := context.WithCancel(t.Context())
	family, e, _ := family(t, func(c *children.Config) { c.Draining = draining })
	e.wait = func(ctx context.Context, _ string) (*inspect.Result, error) {
		drain()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	_, err := family.CallChild(callOf(t.Context(), "r", "a"), find)
	require.ErrorIs(t, err, decide.ErrShutdown)
	require.Equal(t, []string{"begin r/a#1"}, e.taken())
}

// The runs below one without a parent are counted together with those in the store, and a run that does not begin does not count.
func TestDescendantsAndDepthAreBounded(t *testing.T) {
	family, e, store := family(t, func(c *children.Config) { c.DescendantsMax = 3 })
	_, err := store.Append(t.Context(), "r/old#1", 0, []journal.Event{{Type: journal.RunStarted}}, journal.Head{Run: "r/old#1"})
	require.NoError(t, err)
	e.wait = func(_ context.Context, run string) (*inspect.Result, error) {
		return &inspect.Result{Run: run, Status: reactive.RunCompleted}, nil
	}
	begin := func(run, node string) error {
		_, err := family.CallChild(callOf(t.Context(), run, node), find)
		return err
	}
	e.refuse["begin r/b#1"] = errors.New("no")
	require.Error(t, begin("r", "b"))
	require.NoError(t, begin("r", "a"))
	require.NoError(t, begin("r/a#1", "a"))
	require.ErrorContains(t, begin("r", "c"), "run r has started 3 runs, with those that they have started; DescendantsMax is 3")
	require.NoError(t, begin("other", "a"), "another family")
	require.ErrorIs(t, begin("r", "c"), decide.ErrLimit, "what was refused has not counted, nor made room")
	family.Forget("r")
	require.NoError(t, begin("r", "c"), "the store of this test has kept one only")
	require.NoError(t, begin("x/y/z", "a"), "three above")
	require.ErrorContains(t, begin("x/y/z/a#1", "a"), "4 runs are above this one; DepthMax is 3")
}

// Children whose parents go on here wait for them to claim those that they still need; the others are cancelled if their parents
// have ended.
func TestOrphansAreCancelled(t *testing.T) {
	family, e, store := family(t, nil)
	for run, events := range map[string][]journal.Event{
		"done": {{Type: journal.RunStarted}, {Type: journal.RunFinished, Detail: &journal.Detail{State: "completed"}}}, "away": {{Type: journal.RunStarted}},
	} {
		_, err := store.Append(t.Context(), run, 0, events, journal.Head{Run: run})
		require.NoError(t, err)
	}
	open := []journal.Head{{Run: "here"}, {Run: "here/a#1"}, {Run: "here/b#1"}, {Run: "done/a#1"}, {Run: "away/a#1"}}
	alone := family.AddFound(open)
	require.Equal(t, map[string][]string{"done": {"done/a#1"}, "away": {"away/a#1"}}, alone)
	family.CancelOrphans(t.Context(), alone)
	require.Equal(t, []string{"cancel done/a#1"}, e.taken())
	require.True(t, family.HasUnclaimed("here"))
	require.False(t, family.HasUnclaimed("done"))
	family.Claim("here", func() map[string]bool { return map[string]bool{"here/b#1": true} })
	require.Equal(t, []string{"cancel here/a#1"}, e.taken())
	require.False(t, family.HasUnclaimed("here"))
	family.Claim("here", func() map[string]bool { t.Error("there is nothing to claim"); return nil })
}

func TestCallsThatACommandHasEnded(t *testing.T) {
	family, e, _ := family(t, nil)
	e.refuse["cancel r/a#1"], e.refuse["cancel r/c#1"], e.refuse["cancel r/d#1"] = decide.ErrFinished, decide.ErrRunNotFound, errors.New("no")
	before := map[string]bool{"r/a#1": true, "r/b#1": true, "r/c#1": true, "r/d#1": true, "r/e#1": true}
	err := family.CancelEnded(t.Context(), before, map[string]bool{"r/e#1": true})
	require.EqualError(t, err, "no")
	require.Equal(t, []string{"cancel r/a#1", "cancel r/b#1", "cancel r/c#1", "cancel r/d#1"}, e.taken())
}

// A pause is passed to the existing children; after a crash, only to those whose heads do not have it.
func TestAPauseIsPassedOn(t *testing.T) {
	family, e, store := family(t, nil)
	all := map[string]bool{}
	for run, status := range map[string]reactive.RunStatus{"r/a#1": reactive.RunPaused, "r/b#1": reactive.RunRunning, "r/c#1": reactive.RunCompleted} {
		head := journal.Head{Run: run, Status: string(status), Open: status != reactive.RunCompleted}
		_, err := store.Append(t.Context(), run, 0, []journal.Event{{Type: journal.RunStarted}}, head)
		require.NoError(t, err)
		e.known[run], all[run] = true, true
	}
	all["r/unborn#1"] = true
	family.Pause(t.Context(), "r", true, all)
	require.Equal(t, []string{"run.paused r/a#1", "run.paused r/b#1", "run.paused r/c#1"}, e.taken())
	family.RestorePause(t.Context(), "r", true, all)
	require.Equal(t, []string{"run.paused r/b#1"}, e.taken())
	family.RestorePause(t.Context(), "r", false, all)
	require.Equal(t, []string{"run.resumed r/a#1"}, e.taken())
	e.refuse["note run.paused r/a#1"], e.refuse["note run.paused r/b#1"] = decide.ErrNotPossible, errors.New("no")
	require.EqualError(t, family.NotePause(t.Context(), "r", true, all), "no")
	require.Len(t, e.taken(), 4)
}
