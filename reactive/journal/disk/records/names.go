package records

import (
	"context"
	"fmt"
	"iter"

	"github.com/cockroachdb/pebble/v2"
)

// Streams yields the names of all streams with a head, events or content, in order. An error means that records could not be read;
// the iteration continues with those that can.
func Streams(ctx context.Context, db pebble.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		sources := []*names{{db: db, space: SpaceHeads}, {db: db, space: SpaceEvents}, {db: db, space: SpaceContent}}
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

// names iterates over the names of streams in one key space, a page at a time.
type names struct {
	db    pebble.Reader
	space byte
	page  []string
	after []byte // the last key visited
	over  bool
}

// pageNames is how many names one access to the database reads.
const pageNames = 1024

// peek returns the next name. An error is returned once, and the name after it by the next call.
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

// load fills the page. It seeks from the first record of one stream to that of the next.
func (n *names) load() error {
	lower := n.after
	if lower == nil {
		lower = []byte{n.space}
	}
	it, err := n.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: []byte{n.space + 1}})
	if err != nil {
		return err
	}
	defer it.Close()
	n.page = n.page[:0]
	for ok := it.First(); ok && len(n.page) < pageNames; ok = it.SeekGE(n.after) {
		name := nameIn(it.Key())
		n.page = append(n.page, name)
		n.after = append(append(append(n.after[:0], n.space), name...), 0)
		if n.space != SpaceHeads {
			n.after = Behind(n.after)
		}
	}
	if err = it.Error(); err != nil {
		return fmt.Errorf("records behind %q cannot be read: %w", n.after, err)
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
