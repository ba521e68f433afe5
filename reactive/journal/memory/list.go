package memory

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// List implements journal.Store. It collects and sorts the selected heads when the iteration starts: O(n log n).
func (s *Store) List(ctx context.Context, q journal.Query) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		if err := journal.CheckQuery(&q); err != nil {
			yield(journal.Head{}, err)
			return
		}
		heads := s.heads(q.Selects)
		slices.SortFunc(heads, func(a, b journal.Head) int {
			return journal.PositionOf(q.Index, &a).Compare(journal.PositionOf(q.Index, &b))
		})
		if q.Oldest {
			slices.Reverse(heads)
		}
		s.yieldHeads(ctx, heads, yield)
	}
}

// heads returns the heads for which wanted returns true, in no order.
func (s *Store) heads(wanted func(*journal.Head) bool) (list []journal.Head) {
	s.streams.Range(func(_, st any) bool {
		if h := st.(*stream).headNow(); h.Run != "" && wanted(&h) {
			list = append(list, h)
		}
		return true
	})
	return list
}

// yieldHeads yields heads until the reader, its context or the store ends.
func (s *Store) yieldHeads(ctx context.Context, heads []journal.Head, yield func(journal.Head, error) bool) {
	for i := 0; ; i++ {
		if err := s.usable(ctx); err != nil {
			yield(journal.Head{}, fmt.Errorf("list heads: %w", err))
			return
		}
		if i == len(heads) || !yield(heads[i], nil) {
			return
		}
	}
}

// change is the newest change of a stream.
type change struct {
	number uint64 // of all changes of the store; 0: none
	last   uint64 // sequence of the stream; 0: it was deleted
}

// Published implements journal.Store. It collects and sorts the names when the iteration starts.
func (s *Store) Published(ctx context.Context, begun string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var names []string
		s.streams.Range(func(name, st any) bool {
			if strings.HasPrefix(name.(string), journal.NameStream(begun)) && st.(*stream).lastNow() > 0 {
				names = append(names, strings.TrimPrefix(name.(string), journal.NameStream("")))
			}
			return true
		})
		slices.Sort(names)
		for i := 0; ; i++ {
			if err := s.usable(ctx); err != nil {
				yield("", fmt.Errorf("list published workflows: %w", err))
				return
			}
			if i == len(names) || !yield(names[i], nil) {
				return
			}
		}
	}
}

// Changes implements journal.Store. The store keeps only the newest change of each stream, which needs no log and no lock that
// appends share. Changes collects the changes behind a place when the iteration starts: O(n log n).
func (s *Store) Changes(ctx context.Context, after journal.Place) iter.Seq2[journal.Change, error] {
	return func(yield func(journal.Change, error) bool) {
		list, err := s.changesBehind(ctx, after)
		for _, one := range list {
			if err = s.usable(ctx); err != nil || !yield(one, nil) {
				break
			}
		}
		if err != nil {
			yield(journal.Change{}, fmt.Errorf("read changes: %w", err))
		}
	}
}

func (s *Store) changesBehind(ctx context.Context, after journal.Place) ([]journal.Change, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	newest := s.changes.Load() // before reading the streams, so that later changes are found from this place
	from, err := numberOf(after)
	if err != nil || from > newest || after != "" && from < s.fresh.Load() {
		return nil, fmt.Errorf("%w: %q", journal.ErrGap, after)
	}
	type found struct {
		run string
		change
	}
	var list []found
	s.streams.Range(func(name, st any) bool {
		if c := st.(*stream).changeNow(); c.number > from && c.number <= newest && journal.IsRun(name.(string)) {
			list = append(list, found{name.(string), c})
		}
		return true
	})
	slices.SortFunc(list, func(a, b found) int { return int(a.number) - int(b.number) })
	changes := make([]journal.Change, len(list))
	for i, c := range list {
		changes[i] = journal.Change{Place: placeOf(c.number), Run: c.run, Last: c.last}
	}
	return changes, nil
}

func placeOf(number uint64) journal.Place { return journal.Place(strconv.FormatUint(number, 10)) }

func numberOf(p journal.Place) (uint64, error) {
	if p == "" {
		return 0, nil
	}
	return strconv.ParseUint(string(p), 10, 64)
}

// Newest implements journal.Store.
func (s *Store) Newest(ctx context.Context) (journal.Place, error) {
	if err := s.usable(ctx); err != nil {
		return "", fmt.Errorf("read changes: %w", err)
	}
	return placeOf(s.changes.Load()), nil
}

// AwaitChange implements journal.Store.
func (s *Store) AwaitChange(ctx context.Context, after journal.Place) error {
	changed := s.awaited.begin()
	defer s.awaited.end()
	newest, err := s.Newest(ctx)
	if err != nil || newest != after {
		return err
	}
	select {
	case <-changed:
		return nil
	case <-s.closed:
		return journal.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Delete implements journal.Store. The name and a few bytes stay in memory.
func (s *Store) Delete(ctx context.Context, name string, t journal.Tombstone) error {
	if err := journal.CheckDelete(name, &journal.Head{}); err != nil {
		return err
	}
	defer s.awaited.wake()
	return s.change(ctx, "delete", name, func(st *stream) error {
		if err := journal.CheckDelete(name, &st.head); err != nil {
			return err
		}
		st.log, st.head, st.content = log{deleted: &journal.DeletedError{Tombstone: t}}, journal.Head{}, nil
		st.changed = change{number: s.changes.Add(1)}
		st.wake()
		return nil
	})
}

// Rebuild implements journal.Store. Lists are computed from the heads each time, so it only empties the change log.
func (s *Store) Rebuild(ctx context.Context) error {
	if err := s.usable(ctx); err != nil {
		return fmt.Errorf("rebuild indexes: %w", err)
	}
	s.fresh.Store(s.changes.Add(1))
	return nil
}
