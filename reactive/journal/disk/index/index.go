// Package index keeps the indexes of package disk: keys without values in the database, derived from heads.
//
//	i <index> <length of key> <key> <length of value> <value> <instant, newest first> <run>
//
// So the runs of one key are neighbors, the newest first, and the keys of a head depend on that head alone. A commit writes the
// keys in which the old head and the new one differ.
package index

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Space is the first byte of all keys of indexes. Part of the stored format.
const Space = 'i'

// letters are the second bytes of the keys. Part of the stored format.
var letters = map[journal.Index]byte{
	journal.ByStart: 'n', journal.ByWorkflow: 'f', journal.ByLabel: 'l', journal.ByStatus: 's',
	journal.ByWait: 'w', journal.ByChild: 'c', journal.ByDue: 'd',
}

// Keys is a list of keys, each behind its length in two bytes.
type Keys []byte

// Append appends the keys of a head.
func (k Keys) Append(h *journal.Head) Keys {
	entries := journal.Entries(h)
	for i := range entries {
		e := &entries[i]
		begin := len(k)
		k = appendKey(append(k, 0, 0), prefixOf(e), journal.Position{At: e.At, Run: h.Run})
		binary.BigEndian.PutUint16(k[begin:], uint16(len(k)-begin-2))
	}
	return k
}

// all yields each key.
func (k Keys) all(yield func(key []byte) bool) {
	for len(k) > 0 {
		n := 2 + int(binary.BigEndian.Uint16(k))
		if !yield(k[2:n]) {
			return
		}
		k = k[n:]
	}
}

func (k Keys) has(key []byte) bool {
	for one := range k.all {
		if bytes.Equal(one, key) {
			return true
		}
	}
	return false
}

var seed = maphash.MakeSeed()

// Sum returns a number that is the same for equal keys in this process, and never 0.
func (k Keys) Sum() uint64 { return maphash.Bytes(seed, k) | 1 }

// Stage adds to a batch what changes the keys of one head to those of another. It returns the number of keys written.
func Stage(b *pebble.Batch, before, after Keys) (written int, err error) {
	for key := range before.all {
		if after.has(key) {
			continue
		}
		if err := b.Delete(key, nil); err != nil {
			return written, err
		}
		written++
	}
	for key := range after.all {
		if before.has(key) {
			continue
		}
		if err := b.Set(key, nil, nil); err != nil {
			return written, err
		}
		written++
	}
	return written, nil
}

func prefixOf(e *journal.Entry) prefix { return prefix{letters[e.Index], e.Key, e.Value} }

// prefix is what the keys of one group begin with.
type prefix struct {
	letter     byte
	key, value string
}

func (p prefix) append(dst []byte) []byte {
	dst = append(dst, Space, p.letter)
	dst = append(binary.BigEndian.AppendUint16(dst, uint16(len(p.key))), p.key...)
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(p.value))), p.value...)
}

// appendKey appends a key. Instants are stored so that later ones sort first.
func appendKey(dst []byte, p prefix, at journal.Position) []byte {
	return append(binary.BigEndian.AppendUint64(p.append(dst), stored(at.At)), at.Run...)
}

func stored(at int64) uint64 { return ^(uint64(at) ^ 1<<63) }

// Range is the keys that a query selects.
type Range struct {
	lower, upper []byte
	oldest       bool
	skip         int // bytes before the instant
}

// RangeOf returns the keys that a query selects.
func RangeOf(q *journal.Query) Range {
	p := prefix{letters[q.Index], q.Key, q.Value}
	r := Range{oldest: q.Oldest, skip: len(p.append(nil))}
	r.lower = p.append(nil)
	r.upper = binary.BigEndian.AppendUint64(p.append(nil), 1<<64-1)
	r.upper = append(r.upper, 0xff) // no run's id begins with this byte, since ids are UTF-8
	if q.Before != 0 {
		r.lower = binary.BigEndian.AppendUint64(p.append(nil), stored(q.Before-1))
	}
	if q.From != 0 {
		r.upper = append(binary.BigEndian.AppendUint64(p.append(nil), stored(q.From)), 0xff)
	}
	if q.After != (journal.Position{}) {
		r.GoOn(q.After)
	}
	return r
}

// GoOn removes everything up to a position.
func (r *Range) GoOn(behind journal.Position) {
	key := append(binary.BigEndian.AppendUint64(bytes.Clone(r.lower[:r.skip]), stored(behind.At)), behind.Run...)
	switch {
	case r.oldest && bytes.Compare(key, r.upper) < 0:
		r.upper = key
	case !r.oldest && bytes.Compare(key, r.lower) >= 0:
		r.lower = append(key, 0)
	}
}

// Load appends the next positions in the range to page, until it has most.
func (r *Range) Load(db pebble.Reader, page []journal.Position, most int) ([]journal.Position, error) {
	if bytes.Compare(r.lower, r.upper) >= 0 {
		return page, nil
	}
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: r.lower, UpperBound: r.upper})
	if err != nil {
		return page, err
	}
	first, next := it.First, it.Next
	if r.oldest {
		first, next = it.Last, it.Prev
	}
	for ok := first(); ok && len(page) < most; ok = next() {
		if rest := it.Key()[r.skip:]; len(rest) > 8 {
			page = append(page, journal.Position{At: int64(^binary.BigEndian.Uint64(rest) ^ 1<<63), Run: string(rest[8:])})
		}
	}
	err = it.Error()
	if closeErr := it.Close(); err == nil {
		err = closeErr
	}
	return page, err
}
