package query

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"strings"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// plan describes the reading of a store's lists for a query: one list for each value of a term, or all runs.
type plan struct {
	lists   []journal.Query // merged, newest first
	carried map[int]bool    // the terms that the lists satisfy
}

// plan chooses the index that is likely to have the fewest runs. The bounds of started and age apply to every index, since each
// has the newest runs first.
func (q *Query) plan() plan {
	p := plan{carried: map[int]bool{}}
	best, rank := -1, 0
	for i := range q.terms {
		if r := q.terms[i].rank(); r > rank {
			best, rank = i, r
		}
	}
	all := journal.Query{Index: journal.ByStart}
	for i := range q.terms {
		if t := &q.terms[i]; !t.not && (t.key == "started" || t.key == "age") && t.bound(&all) {
			p.carried[i] = true
		}
	}
	if best < 0 {
		p.lists = []journal.Query{all}
		return p
	}
	t := &q.terms[best]
	p.carried[best] = true
	seen := map[string]bool{}
	for _, v := range t.values {
		if seen[v] {
			continue
		}
		seen[v] = true
		list := all
		list.Index, list.Key = t.index(), v
		if t.key == "label" {
			list.Key, list.Value = t.label, v
		}
		p.lists = append(p.lists, list)
	}
	return p
}

// rank returns a greater number the better an index carries a term; 0: no index does.
func (t *term) rank() int {
	switch {
	case t.not:
		return 0
	case t.key == "run":
		return 5
	case t.key == "label":
		return 4
	case t.key == "waits":
		return 3
	case t.key == "status":
		for _, v := range t.values {
			if v == "damaged" {
				return 0 // no list has only the heads that cannot be read
			}
			if v == "completed" {
				return 1
			}
		}
		return 3
	case t.key == "workflow":
		return 2
	}
	return 0
}

func (t *term) index() journal.Index {
	switch t.key {
	case "run":
		return journal.ByRun
	case "label":
		return journal.ByLabel
	case "waits":
		return journal.ByWait
	case "status":
		return journal.ByStatus
	}
	return journal.ByWorkflow
}

// bound narrows a list to the instants that a term allows. It reports false if a bound cannot be expressed, because 0 means no bound.
func (t *term) bound(list *journal.Query) bool {
	from, before := int64(math.MinInt64), int64(math.MaxInt64)
	switch t.sign {
	case "<":
		before = t.at
	case "<=":
		before = t.at + 1
	case ">":
		from = t.at + 1
	default:
		from = t.at
	}
	if from == 0 || before == 0 {
		return false
	}
	if from != math.MinInt64 && (list.From == 0 || from > list.From) {
		list.From = from
	}
	if before != math.MaxInt64 && (list.Before == 0 || before < list.Before) {
		list.Before = before
	}
	return true
}

// Explanation lists how every term is evaluated.
type Explanation struct {
	Index string  `json:"index"` // that the runs are read from
	Terms []Carry `json:"terms"` // in the order of the query
}

// Carry is a term, and whether the index or a filter evaluates it.
type Carry struct {
	Term string `json:"term"` // as written
	By   string `json:"by"`   // index, or filter: checked for each run that the index has
}

// Explain returns the index that is read for the query, and the terms that are checked afterwards.
func (q *Query) Explain() Explanation {
	p := q.plan()
	x := Explanation{Index: string(p.lists[0].Index), Terms: []Carry{}}
	if x.Index == string(journal.ByLabel) {
		x.Index += "." + p.lists[0].Key
	}
	for i := range q.terms {
		c := Carry{q.terms[i].text, "filter"}
		if p.carried[i] {
			c.By = "index"
		}
		x.Terms = append(x.Terms, c)
	}
	return x
}

// Lister is the part of a store that Each needs.
type Lister interface {
	// List yields the heads that a query of the store selects, newest first.
	List(ctx context.Context, q journal.Query) iter.Seq2[journal.Head, error]
}

// Holder is implemented by a Lister that reports which runs are held.
type Holder interface {
	// Held reports whether a run, or the run to which it belongs, is held since it was imported.
	Held(run string) bool
}

// Row is a run of a list.
type Row struct {
	Head   journal.Head // as journaled
	Err    error        // error of reading the head; only Run and Started are known then
	Looked int          // heads that were read so far, this one included
}

// Each yields the runs that are selected, newest first, from behind a cursor on; "" is the beginning. A run whose head cannot be read is
// yielded if its id and its start satisfy the query. An error ends the iteration.
func (q *Query) Each(ctx context.Context, store Lister, cursor string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if h, ok := store.(Holder); ok {
			with := *q
			with.held = h.Held
			q = &with
		}
		p := q.plan()
		after, err := q.position(cursor)
		if err != nil {
			yield(Row{}, err)
			return
		}
		looked, last := 0, after
		for h, err := range merged(ctx, store, p.lists, after) {
			if err != nil && h.Run == "" {
				yield(Row{}, err)
				return
			}
			if looked++; positionOf(&h) == last {
				continue // it is in two of the lists
			}
			last = positionOf(&h)
			wanted := err == nil && q.Matches(&h)
			if err != nil {
				wanted = q.damaged(&h)
			}
			if wanted && !yield(Row{h, err, looked}, nil) {
				return
			}
		}
	}
}

// damaged reports whether the query selects a run with only a known id and start.
func (q *Query) damaged(h *journal.Head) bool {
	known := journal.Head{Run: h.Run, Started: h.Started, Status: "damaged", Open: true}
	return q.Matches(&known)
}

func positionOf(h *journal.Head) journal.Position { return journal.PositionOf(journal.ByStart, h) }

// merged yields the heads of several lists in their common order.
func merged(ctx context.Context, store Lister, lists []journal.Query, after journal.Position) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		type source struct {
			head journal.Head
			err  error
			next func() (journal.Head, error, bool)
		}
		var sources []*source
		for _, list := range lists {
			list.After = after
			next, stop := iter.Pull2(store.List(ctx, list))
			defer stop()
			s := &source{next: next}
			var ok bool
			if s.head, s.err, ok = next(); ok {
				sources = append(sources, s)
			}
		}
		for len(sources) > 0 {
			first := 0
			for i, s := range sources {
				if s.head.Run == "" || positionOf(&s.head).Compare(positionOf(&sources[first].head)) < 0 {
					first = i
				}
			}
			s := sources[first]
			if !yield(s.head, s.err) {
				return
			}
			var ok bool
			if s.head, s.err, ok = s.next(); !ok {
				sources = append(sources[:first], sources[first+1:]...)
			}
		}
	}
}

// Cursor returns the cursor with which Each goes on behind a run.
func (q *Query) Cursor(h *journal.Head) string {
	b := binary.BigEndian.AppendUint32(nil, q.checksum())
	b = binary.BigEndian.AppendUint64(b, uint64(h.Started))
	return base64.RawURLEncoding.EncodeToString(append(b, h.Run...))
}

// checksum distinguishes cursors of different queries. It has ages in their written form, so that cursors stay valid while time passes.
func (q *Query) checksum() uint32 {
	f := fnv.New32a()
	_, _ = f.Write([]byte(q.String()))
	return f.Sum32()
}

// ErrCursor is the error of a cursor that belongs to another query.
var ErrCursor = fmt.Errorf("the cursor is not of this query")

func (q *Query) position(cursor string) (p journal.Position, err error) {
	if cursor == "" {
		return p, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) <= 12 || binary.BigEndian.Uint32(b) != q.checksum() {
		return p, fmt.Errorf("%w: %s; begin without one", ErrCursor, short(strings.ToValidUTF8(cursor, "\ufffd")))
	}
	return journal.Position{At: int64(binary.BigEndian.Uint64(b[4:])), Run: string(b[12:])}, nil
}
