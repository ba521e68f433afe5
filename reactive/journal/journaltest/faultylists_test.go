package journaltest_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// faultyLists is a correct store except for one method.
type faultyLists struct {
	journal.Store
	list    func(ctx context.Context, q journal.Query) iter.Seq2[journal.Head, error]
	changes func(ctx context.Context, after journal.Place) iter.Seq2[journal.Change, error]
	remove  func(ctx context.Context, stream string, t journal.Tombstone) error
	rebuild func(ctx context.Context) error
	append  func(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error)
	names   func(ctx context.Context, begun string) iter.Seq2[string, error]
}

func (f *faultyLists) Published(ctx context.Context, begun string) iter.Seq2[string, error] {
	return f.names(ctx, begun)
}

func (f *faultyLists) List(ctx context.Context, q journal.Query) iter.Seq2[journal.Head, error] {
	return f.list(ctx, q)
}

func (f *faultyLists) Changes(ctx context.Context, after journal.Place) iter.Seq2[journal.Change, error] {
	return f.changes(ctx, after)
}

func (f *faultyLists) Delete(ctx context.Context, stream string, t journal.Tombstone) error {
	return f.remove(ctx, stream, t)
}

func (f *faultyLists) Rebuild(ctx context.Context) error { return f.rebuild(ctx) }

func (f *faultyLists) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	return f.append(ctx, stream, after, events, head)
}

// without returns a sequence without the values for which drop returns true.
func without[T any](seq iter.Seq2[T, error], drop func(n int, one T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		n := 0
		for one, err := range seq {
			if n++; err == nil && drop(n, one) {
				continue
			}
			if !yield(one, err) {
				return
			}
		}
	}
}

// asked returns a list that changes the query.
func asked(f *faultyLists, change func(q *journal.Query)) {
	list := f.list
	f.list = func(ctx context.Context, q journal.Query) iter.Seq2[journal.Head, error] {
		if journal.CheckQuery(&q) == nil {
			change(&q)
		}
		return list(ctx, q)
	}
}

// listFaults has ways to break a correct store, and the test that must fail for each.
var listFaults = map[string]struct {
	test  string
	spoil func(f *faultyLists)
}{
	"lists the oldest first": {"every_index_has_its_heads,_newest_first", func(f *faultyLists) {
		asked(f, func(q *journal.Query) { q.Oldest = !q.Oldest })
	}},
	"forgets the first of a list": {"every_index_has_its_heads,_newest_first", func(f *faultyLists) {
		list := f.list
		f.list = func(ctx context.Context, q journal.Query) iter.Seq2[journal.Head, error] {
			return without(list(ctx, q), func(n int, _ journal.Head) bool { return n == 1 })
		}
	}},
	"begins anew instead of going on": {"a_list_goes_on_from_everywhere,_in_both_orders", func(f *faultyLists) {
		asked(f, func(q *journal.Query) { q.After = journal.Position{} })
	}},
	"skips runs of the same instant": {"a_list_goes_on_from_everywhere,_in_both_orders", func(f *faultyLists) {
		asked(f, func(q *journal.Query) {
			if q.After.Run != "" {
				q.After.Run = "\xff"
			}
		})
	}},
	"has no bound in time": {"a_list_is_bounded_in_time", func(f *faultyLists) {
		asked(f, func(q *journal.Query) { q.Before = 0 })
	}},
	"forgets to move a run between lists": {"a_head_that_changes_moves_between_lists", func(f *faultyLists) {
		add := f.append
		f.append = func(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
			if !head.Open && len(events) > 0 {
				head = journal.Head{}
			}
			return add(ctx, stream, after, events, head)
		}
	}},
	"takes the texts of labels for one": {"labels_of_any_text_are_apart", func(f *faultyLists) {
		asked(f, func(q *journal.Query) {
			if q.Index == journal.ByLabel {
				q.Index, q.Key, q.Value = journal.ByStart, "", ""
			}
		})
	}},
	"lists nothing where nothing can be": {"a_list_that_no_store_has_is_refused", func(f *faultyLists) {
		list := f.list
		f.list = func(ctx context.Context, q journal.Query) iter.Seq2[journal.Head, error] {
			if journal.CheckQuery(&q) != nil {
				return func(func(journal.Head, error) bool) {}
			}
			return list(ctx, q)
		}
	}},
	"forgets a change": {"changes_go_on_from_every_place", func(f *faultyLists) {
		changes := f.changes
		f.changes = func(ctx context.Context, after journal.Place) iter.Seq2[journal.Change, error] {
			return without(changes(ctx, after), func(_ int, c journal.Change) bool { return c.Run == "run-3" })
		}
	}},
	"has a change twice": {"changes_go_on_from_every_place", func(f *faultyLists) {
		changes, before := f.changes, journal.Place("")
		f.changes = func(ctx context.Context, after journal.Place) iter.Seq2[journal.Change, error] {
			if len(after) > 1 {
				after = before
			}
			return changes(ctx, after)
		}
	}},
	"does not tell of a deletion": {"changes_go_on_from_every_place", func(f *faultyLists) {
		changes := f.changes
		f.changes = func(ctx context.Context, after journal.Place) iter.Seq2[journal.Change, error] {
			return without(changes(ctx, after), func(_ int, c journal.Change) bool { return c.Last == 0 })
		}
	}},
	"goes on from places that it does not know": {"a_place_that_is_not_known_is_a_gap", func(f *faultyLists) {
		changes := f.changes
		f.changes = func(ctx context.Context, after journal.Place) iter.Seq2[journal.Change, error] {
			return func(yield func(journal.Change, error) bool) {
				for c, err := range changes(ctx, after) {
					if errors.Is(err, journal.ErrGap) || !yield(c, err) {
						return
					}
				}
			}
		}
	}},
	"lists all published names": {"published_names_are_listed_by_how_they_begin", func(f *faultyLists) {
		names := f.names
		f.names = func(ctx context.Context, _ string) iter.Seq2[string, error] { return names(ctx, "") }
	}},
	"ends behind the first page of names": {"published_names_are_listed_by_how_they_begin", func(f *faultyLists) {
		names := f.names
		f.names = func(ctx context.Context, begun string) iter.Seq2[string, error] {
			return without(names(ctx, begun), func(n int, _ string) bool { return n > 1024 })
		}
	}},
	"deletes a run of a similar name, too": {"what_is_deleted_is_gone,_and_its_id_is_not_free", func(f *faultyLists) {
		remove := f.remove
		f.remove = func(ctx context.Context, stream string, t journal.Tombstone) error {
			return errors.Join(remove(ctx, stream, t), remove(ctx, stream+"b", t))
		}
	}},
	"takes the id of a deleted run": {"what_is_deleted_is_gone,_and_its_id_is_not_free", func(f *faultyLists) {
		add := f.append
		f.append = func(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
			last, err := add(ctx, stream, after, events, head)
			if errors.Is(err, journal.ErrDeleted) {
				return after + uint64(len(events)), nil
			}
			return last, err
		}
	}},
	"deletes what is open": {"what_must_stay_is_not_deleted", func(f *faultyLists) {
		remove := f.remove
		f.remove = func(ctx context.Context, stream string, t journal.Tombstone) error {
			if err := remove(ctx, stream, t); !errors.Is(err, journal.ErrInvalid) {
				return err
			}
			return nil
		}
	}},
	"loses a list in a rebuild": {"a_rebuild_changes_no_list", func(f *faultyLists) {
		rebuild := f.rebuild
		f.rebuild = func(ctx context.Context) error {
			asked(f, func(q *journal.Query) { q.Before = 7 })
			return rebuild(ctx)
		}
	}},
	"goes on when the caller has gone": {"a_store_that_is_closed_or_a_call_that_is_cancelled_lists_nothing", func(f *faultyLists) {
		list := f.list
		f.list = func(_ context.Context, q journal.Query) iter.Seq2[journal.Head, error] {
			return list(context.Background(), q)
		}
	}},
	"keeps the order of instants only": {"its_lists_are_those_of_a_slice_that_is_sorted", func(f *faultyLists) {
		asked(f, func(q *journal.Query) { q.From++ })
	}},
}

// TestFaultyLists tests a store with the fault that the environment names, or a correct store.
func TestFaultyLists(t *testing.T) {
	fault := listFaults[os.Getenv("SLUICE_FAULT")]
	journaltest.TestLists(t, func(*testing.T) journal.Store {
		s := memory.New()
		f := &faultyLists{s, s.List, s.Changes, s.Delete, s.Rebuild, s.Append, s.Published}
		if fault.spoil != nil {
			fault.spoil(f)
		}
		return f
	})
}

// The suite fails for each fault, in the expected test. It runs in a child process, because it fails.
func TestEveryFaultOfListsIsFound(t *testing.T) {
	for name, fault := range listFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.Command(os.Args[0], "-test.run=^TestFaultyLists$/^"+fault.test+"$", "-test.timeout=10s", "-rapid.nofailfile", "-rapid.checks=100")
			c.Env = append(os.Environ(), "SLUICE_FAULT="+name)
			out, err := c.CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "the suite takes it for sound")
			require.True(t, bytes.Contains(out, []byte("--- FAIL: TestFaultyLists/"+fault.test)), string(out))
			require.False(t, bytes.Contains(out, []byte("panic:")), string(out))
		})
	}
}
