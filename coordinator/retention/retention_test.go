package retention_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// host is an engine without runs, whose time stands still.
type host struct {
	now    int64
	held   map[string]bool
	swept  []string
	broken error
}

func (h *host) CheckOpen() error                              { return nil }
func (h *host) ReadError(_ context.Context, err error) error  { return err }
func (h *host) Now() int64                                    { return h.now }
func (h *host) Holds(run string) bool                         { return h.held[run] }
func (h *host) WatchDefinitions() (func(string) bool, func()) { return nil, func() {} }
func (h *host) SweepContent(_ context.Context, run string, _ bool) (int, error) {
	h.swept = append(h.swept, run)
	return 3, h.broken
}

// none holds no run.
type none struct{}

func (none) Has(string) bool                               { return false }
func (none) Incomplete(string) bool                        { return false }
func (none) Still(string) (func(), error)                  { return func() {}, nil }
func (none) Lift(context.Context, string, ...string) error { return nil }

const day = 24 * int64(time.Hour)

// put stores a run that was started on one day and has ended on another; 0: it is open.
func put(t testing.TB, s journal.Store, run, status string, started, ended int64, labels ...string) {
	h := journal.Head{Run: run, Name: "w", Workflow: "w", Status: status, Started: started * day, Updated: ended * day, Ended: ended * day, Open: ended == 0}
	for _, name := range labels {
		h.Labels = map[string]string{name: "yes"}
	}
	events := []journal.Event{{Type: journal.RunStarted, At: started * day, Detail: &journal.Detail{Start: &journal.Start{Run: run, Workflow: "w"}}}}
	_, err := s.Append(t.Context(), run, 0, events, h)
	require.NoError(t, err)
}

func stores(t *testing.T, test func(t *testing.T, s journal.Store)) {
	t.Run("memory", func(t *testing.T) { s := memory.New(); test(t, s); require.NoError(t, s.Close()) })
	t.Run("disk", func(t *testing.T) {
		s, err := disk.Open(t.TempDir(), disk.Config{})
		require.NoError(t, err)
		test(t, s)
		require.NoError(t, s.Close())
	})
}

// collected collects, and returns the runs that were deleted, or would be.
func collected(t testing.TB, r retention.Retention, how retention.Collection) (runs []string) {
	how.Found = func(g retention.Gone) error {
		if g.Kind == retention.KindRun {
			require.Positive(t, g.Bytes)
			runs = append(runs, g.Name)
		}
		return nil
	}
	done, err := r.Collect(t.Context(), how)
	require.NoError(t, err)
	require.Equal(t, len(runs), done.Runs)
	slices.Sort(runs)
	return runs
}

func left(t testing.TB, s journal.Store) string {
	var ids []string
	for h, err := range s.Heads(t.Context(), "") {
		require.NoError(t, err)
		ids = append(ids, h.Run)
	}
	return strings.Join(ids, " ")
}

func TestRunsGoWhenTheirTimeIsOver(t *testing.T) {
	stores(t, func(t *testing.T, s journal.Store) {
		h := &host{held: map[string]bool{"held": true}}
		r := retention.New(s, h, none{}, nil)
		put(t, s, "old", "completed", 1, 2)
		put(t, s, "held", "completed", 1, 2)
		put(t, s, "failed", "failed", 1, 2)
		put(t, s, "open", "waiting", 1, 0)
		put(t, s, "long", "completed", 1, 50)
		put(t, s, "audit", "completed", 1, 2, "audit")
		put(t, s, "young", "completed", 30, 31)
		h.now = 40 * day
		require.Empty(t, collected(t, r, retention.Collection{}), "without rules all stay")
		require.NoError(t, r.Keep(t.Context(), retention.Rule{Keep: 30 * 24 * time.Hour}, "ann"))
		require.NoError(t, r.Keep(t.Context(), retention.Rule{Where: "status:failed", Keep: 90 * 24 * time.Hour}, "ann"))
		require.NoError(t, r.Keep(t.Context(), retention.Rule{Where: "label.audit:yes", Keep: retention.Forever}, "ann"))
		require.NoError(t, r.Keep(t.Context(), retention.Rule{Where: "label.audit:yes status:completed", Keep: 0}, "ann"), "the longest counts")
		h.now = 32*day - 1
		require.Empty(t, collected(t, r, retention.Collection{}))
		h.now = 32 * day
		require.Equal(t, []string{"old"}, collected(t, r, retention.Collection{Dry: true}))
		require.Equal(t, "audit failed held long old open young", left(t, s))
		require.Equal(t, []string{"old"}, collected(t, r, retention.Collection{}))
		require.Empty(t, collected(t, r, retention.Collection{}))
		h.now = 1000 * day
		h.held = nil
		require.Equal(t, []string{"failed", "held", "long", "young"}, collected(t, r, retention.Collection{}))
		require.Equal(t, "audit open", left(t, s))
		var gone *journal.DeletedError
		require.ErrorAs(t, r.Delete(t.Context(), "failed"), &gone)
		require.Equal(t, journal.Tombstone{At: 1000 * day, Until: 1090 * day}, gone.Tombstone, "as long as it was kept")
	})
}

// TestATimeThatIsTooLongIsForEver: an earlier version accepted such a rule, and its time overflowed to one before the run's end.
func TestATimeThatIsTooLongIsForEver(t *testing.T) {
	s, h := memory.New(), &host{now: 20_000 * day}
	r := retention.New(s, h, none{}, nil)
	put(t, s, "a", "completed", 1, 2)
	rules := []any{map[string]any{"where": "", "keep": int64(math.MaxInt64)}}
	_, err := s.Append(t.Context(), journal.RetentionStream, 0, []journal.Event{{Type: journal.RetentionSet, Value: rules, Detail: &journal.Detail{}}}, journal.Head{})
	require.NoError(t, err)
	require.Empty(t, collected(t, r, retention.Collection{}))
	require.NoError(t, r.Keep(t.Context(), retention.Rule{Keep: query.AgeLimit - 1}, "ann"))
	require.Empty(t, collected(t, r, retention.Collection{}))
}

// TestFamiliesGoAsAWhole compares the collected runs with a model: a run without a parent and all below it go when none of them is open, held,
// or within its time.
func TestFamiliesGoAsAWhole(t *testing.T) {
	s := memory.New()
	h := &host{now: 100 * day, held: map[string]bool{}}
	r := retention.New(s, h, none{}, nil)
	require.NoError(t, r.Keep(t.Context(), retention.Rule{Keep: 30 * 24 * time.Hour}, "ann"))
	want := []string{}
	// Each digit is the state of one run of the family: 0 there is none, 1 old, 2 young, 3 open, 4 held.
	for n := range 5 * 5 * 5 * 5 {
		root := fmt.Sprintf("run%03d", n)
		ids := []string{root, root + "/a#1", root + "/a#1/b#1", root + "/c#1"}
		states := []int{max(1, n%5), n / 5 % 5, n / 25 % 5, n / 125}
		goes := true
		var members []string
		for i, id := range ids {
			switch states[i] {
			case 0:
				continue
			case 1:
				put(t, s, id, "completed", 1, 2)
			case 2:
				put(t, s, id, "completed", 1, 80)
			case 3:
				put(t, s, id, "running", 1, 0)
			case 4:
				put(t, s, id, "completed", 1, 2)
				h.held[id] = true
			}
			members = append(members, id)
			goes = goes && states[i] == 1
		}
		if goes {
			want = append(want, members...)
		}
	}
	slices.Sort(want)
	require.NotEmpty(t, want)
	require.Equal(t, want, collected(t, r, retention.Collection{}))
	there := strings.Fields(left(t, s))
	for id := range h.held {
		_, is := slices.BinarySearch(there, id)
		require.True(t, is, id)
	}
}

func TestRulesAreRefusedWhole(t *testing.T) {
	s := memory.New()
	r := retention.New(s, &host{now: 1}, none{}, nil)
	for _, keep := range []time.Duration{-2, -time.Hour, math.MinInt64, query.AgeLimit, math.MaxInt64} {
		_, err := r.Collect(t.Context(), retention.Collection{Rules: []retention.Rule{{Keep: keep}}})
		require.ErrorIs(t, err, retention.ErrRule, keep)
		_, err = r.PreviewKeep(t.Context(), retention.Rule{Keep: keep}, "ann")
		require.EqualError(t, r.Keep(t.Context(), retention.Rule{Keep: keep}, "ann"), err.Error())
	}
	for _, rule := range []retention.Rule{{Where: "x:y"}, {Keep: -2}, {Keep: math.MaxInt64}, {Where: "\xff"}, {Where: strings.Repeat("a ", 10_000)}} {
		require.ErrorIs(t, r.Keep(t.Context(), rule, "ann"), retention.ErrRule)
	}
	require.Error(t, r.Keep(t.Context(), retention.Rule{}, strings.Repeat("a", 1000)), "the actor is too long")
	require.ErrorIs(t, r.ClearKeep(t.Context(), "status:failed", false, "ann"), retention.ErrRule)
	for i := range retention.RulesMax {
		require.NoError(t, r.Keep(t.Context(), retention.Rule{Where: fmt.Sprintf("label.a:%03d", i), Keep: time.Hour}, "ann"))
	}
	require.ErrorIs(t, r.Keep(t.Context(), retention.Rule{Keep: 1}, "ann"), retention.ErrRule)
	require.NoError(t, r.Keep(t.Context(), retention.Rule{Where: "label.a:007", Keep: time.Minute}, "ann"), "it replaces one")
	rules, err := r.Rules(t.Context())
	require.NoError(t, err)
	require.Len(t, rules, retention.RulesMax)
	require.Equal(t, retention.Rule{Where: "label.a:007", Keep: time.Minute}, rules[7])
	require.NoError(t, r.ClearKeep(t.Context(), "label.a:007", false, "ann"))
	require.NoError(t, r.ClearKeep(t.Context(), "", true, "ann"))
	rules, err = r.Rules(t.Context())
	require.NoError(t, err)
	require.Empty(t, rules)
}

// Only a store that holds nothing is new.
func TestOnlyANewStoreHasTheRuleOfNewOnes(t *testing.T) {
	stores(t, func(t *testing.T, s journal.Store) {
		r := retention.New(s, &host{now: 1}, none{}, nil)
		require.NoError(t, retention.Begin(t.Context(), s, 1))
		require.NoError(t, retention.Begin(t.Context(), s, 1))
		rules, err := r.Rules(t.Context())
		require.NoError(t, err)
		require.Equal(t, []retention.Rule{{Keep: retention.Default}}, rules)
		require.NoError(t, r.ClearKeep(t.Context(), "", true, "ann"))
		require.NoError(t, retention.Begin(t.Context(), s, 1))
		rules, err = r.Rules(t.Context())
		require.NoError(t, err)
		require.Empty(t, rules, "it was cleared")
	})
	stores(t, func(t *testing.T, s journal.Store) {
		put(t, s, "run", "completed", 1, 2)
		require.NoError(t, s.Rebuild(t.Context())) // the change log begins afresh
		require.NoError(t, retention.Begin(t.Context(), s, 1))
		rules, err := retention.New(s, &host{}, none{}, nil).Rules(t.Context())
		require.NoError(t, err)
		require.Empty(t, rules)
	})
}

func TestACollectionMayBeStopped(t *testing.T) {
	stores(t, func(t *testing.T, s journal.Store) {
		h := &host{now: 100 * day}
		r := retention.New(s, h, none{}, nil)
		for i := range 200 {
			put(t, s, fmt.Sprintf("run%03d", i), "completed", 1, 2)
		}
		require.NoError(t, r.Keep(t.Context(), retention.Rule{}, "ann"))
		stop, count := errors.New("stop"), 0
		_, err := r.Collect(t.Context(), retention.Collection{Found: func(retention.Gone) error {
			if count++; count == 50 {
				return stop
			}
			return nil
		}})
		require.ErrorIs(t, err, stop)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = r.Collect(ctx, retention.Collection{})
		require.ErrorIs(t, err, context.Canceled)
		some := len(strings.Fields(left(t, s)))
		require.Positive(t, some)
		require.Len(t, collected(t, r, retention.Collection{}), some, "it goes on")
		require.Empty(t, left(t, s))
	})
}

func TestContentOfOpenWorldsIsSwept(t *testing.T) {
	s := memory.New()
	h := &host{now: 100 * day}
	for run, snapshot := range map[string]uint64{"shop": 1, "no snapshot": 0} {
		event := []journal.Event{{Type: journal.RunStarted, At: 1, Detail: &journal.Detail{Start: &journal.Start{Run: run}}}}
		_, err := s.Append(t.Context(), run, 0, event, journal.Head{Run: run, Status: "waiting", Open: true, Snapshot: snapshot})
		require.NoError(t, err)
	}
	done, err := retention.New(s, h, none{}, nil).Collect(t.Context(), retention.Collection{})
	require.NoError(t, err)
	require.Equal(t, []string{"shop"}, h.swept)
	require.Equal(t, retention.Collected{Content: 3}, done)
	h.broken = decide.ErrMissing
	done, err = retention.New(s, h, none{}, nil).Collect(t.Context(), retention.Collection{})
	require.NoError(t, err)
	require.Equal(t, retention.Collected{Failed: 1}, done, "a world that cannot be followed keeps its content")
}
