package records

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Streams yields the names of all streams with a head, events or content, in order. An error means that records could not be read;
// the iteration continues with readable records.
func Streams(ctx context.Context, db pebble.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		sources := []*names{inSpace(db, SpaceHeads), inSpace(db, SpaceEvents), inSpace(db, SpaceContent)}
		for {
			next, found := "", false
			for _, n := range sources {
				name, ok, err := n.peek(ctx)
				if err != nil && !yield("", err) {
					return
				}
				if ok && (!found || name < next) {
					next, found = name, true
				}
			}
			if !found || !yield(next, nil) {
				return
			}
			for _, n := range sources {
				n.pass(next)
			}
		}
	}
}

// Published yields, in order, the names of workflows that have a stream and the prefix begun. It does not read their versions.
// view calls its argument with the database, once for each page.
func Published(ctx context.Context, begun string, view func(use func(db pebble.Reader) error) error) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		lower := append([]byte{SpaceEvents}, journal.NameStream(begun)...)
		n := &names{space: SpaceEvents, lower: lower, upper: behindAll(lower)}
		for !n.over {
			err := view(func(db pebble.Reader) error {
				n.db = db
				_, _, err := n.peek(ctx)
				return err
			})
			for _, stream := range n.page {
				if !yield(strings.TrimPrefix(stream, journal.NameStream("")), nil) {
					return
				}
			}
			if n.page = n.page[:0]; err != nil {
				yield("", fmt.Errorf("list published workflows: %w", err))
				return
			}
		}
	}
}

// behindAll returns the first key after all keys with a prefix.
func behindAll(prefix []byte) []byte {
	end := bytes.TrimRight(bytes.Clone(prefix), "\xff")
	end[len(end)-1]++
	return end
}

// names iterates over the names of streams in a part of one key space, a page at a time.
type names struct {
	db    pebble.Reader
	space byte
	page  []string
	lower []byte // the next key to visit
	upper []byte // the key behind the last
	over  bool
}

// inSpace returns the names of all streams in a key space.
func inSpace(db pebble.Reader, space byte) *names {
	return &names{db: db, space: space, lower: []byte{space}, upper: []byte{space + 1}}
}

// pageNames is the number of names that one access to the database reads.
const pageNames = 1024

// peek returns the next name. It returns an error once; the next call returns the name after it.
func (n *names) peek(ctx context.Context) (name string, ok bool, err error) {
	if len(n.page) == 0 && !n.over {
		if err = ctx.Err(); err == nil {
			err = n.load()
		}
		n.over = n.over || err != nil || len(n.page) < pageNames
	}
	if len(n.page) == 0 {
		return "", false, err
	}
	return n.page[0], true, err
}

func (n *names) pass(name string) {
	if len(n.page) > 0 && n.page[0] == name {
		n.page = n.page[1:]
	}
}

// load fills the page. It seeks from the first record of a stream to the first record of the next.
func (n *names) load() error {
	it, err := n.db.NewIter(&pebble.IterOptions{LowerBound: n.lower, UpperBound: n.upper})
	if err != nil {
		return err
	}
	defer it.Close()
	n.page = n.page[:0]
	for ok := it.First(); ok && len(n.page) < pageNames; ok = it.SeekGE(n.lower) {
		name := nameIn(it.Key())
		n.page = append(n.page, name)
		n.lower = append(append(append(n.lower[:0], n.space), name...), 0)
		if n.space != SpaceHeads {
			n.lower = Behind(n.lower)
		}
	}
	if err = it.Error(); err != nil {
		return fmt.Errorf("records behind %q cannot be read: %w", n.lower, err)
	}
	return nil
}

// nameIn returns the name of the stream that a key belongs to.
func nameIn(key []byte) string {
	for i, b := range key {
		if b == 0 && key[0] != SpaceHeads {
			return string(key[1:i])
		}
	}
	return string(key[1:])
}
