package records

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// IndexSpace is the first byte of all keys of indexes. Part of the stored format.
const IndexSpace = 'i'

// indexLetters are the second bytes of the keys. Part of the stored format.
var indexLetters = map[journal.Index]byte{
	journal.ByStart: 'n', journal.ByWorkflow: 'f', journal.ByLabel: 'l', journal.ByStatus: 's',
	journal.ByWait: 'w', journal.ByChild: 'c', journal.ByDue: 'd',
}

// IndexKeys is a list of keys, each preceded by its length in two bytes.
type IndexKeys []byte

// Append appends the keys of a head.
func (k IndexKeys) Append(h *journal.Head) IndexKeys {
	entries := journal.Entries(h)
	for i := range entries {
		e := &entries[i]
		begin := len(k)
		k = appendIndexKey(append(k, 0, 0), indexPrefixOf(e), journal.Position{At: e.At, Run: h.Run})
		binary.BigEndian.PutUint16(k[begin:], uint16(len(k)-begin-2))
	}
	return k
}

// all yields each key.
func (k IndexKeys) all(yield func(key []byte) bool) {
	for len(k) > 0 {
		n := 2 + int(binary.BigEndian.Uint16(k))
		if !yield(k[2:n]) {
			return
		}
		k = k[n:]
	}
}

func (k IndexKeys) has(key []byte) bool {
	for one := range k.all {
		if bytes.Equal(one, key) {
			return true
		}
	}
	return false
}

var sumSeed = maphash.MakeSeed()

// SumOf returns a hash of the keys of a head, never 0: in this process, heads with equal sums have equal keys. It computes no
// keys, because nearly all heads of a run have the keys of the head before.
func SumOf(h *journal.Head) uint64 {
	var m maphash.Hash
	m.SetSeed(sumSeed)
	addText(&m, h.Run)
	addText(&m, h.Name)
	addText(&m, h.Status)
	addNumber(&m, uint64(h.Started))
	var waits uint64 // a set of kinds, like the keys
	if h.Open {
		addNumber(&m, 1)
		if h.Due != 0 && !h.Moves() {
			addNumber(&m, uint64(h.Due))
		}
		for i := range h.Waits {
			if kind := h.Waits[i].Kind; !slices.ContainsFunc(h.Waits[:i], func(w journal.Wait) bool { return w.Kind == kind }) {
				waits += maphash.String(sumSeed, kind)
			}
		}
	}
	addNumber(&m, waits)
	var labels uint64
	for name, text := range h.Labels { // the sum does not depend on the order
		var one maphash.Hash
		one.SetSeed(sumSeed)
		addText(&one, name)
		addText(&one, text)
		labels += one.Sum64()
	}
	addNumber(&m, labels)
	return m.Sum64() | 1
}

func addText(m *maphash.Hash, text string) {
	addNumber(m, uint64(len(text)))
	_, _ = m.WriteString(text) // it has no errors
}

func addNumber(m *maphash.Hash, n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	_, _ = m.Write(b[:])
}

// StageIndex adds to a batch the changes from the keys of one head to those of another. It returns the number of keys written.
func StageIndex(b *pebble.Batch, before, after IndexKeys) (written int, err error) {
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

func indexPrefixOf(e *journal.Entry) indexPrefix {
	return indexPrefix{indexLetters[e.Index], e.Key, e.Value}
}

// indexPrefix is the common prefix of the keys of one group.
type indexPrefix struct {
	letter     byte
	key, value string
}

func (p indexPrefix) append(dst []byte) []byte {
	dst = append(dst, IndexSpace, p.letter)
	dst = append(binary.BigEndian.AppendUint16(dst, uint16(len(p.key))), p.key...)
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(p.value))), p.value...)
}

// appendIndexKey appends a key. Instants are stored so that later ones sort first.
func appendIndexKey(dst []byte, p indexPrefix, at journal.Position) []byte {
	return append(binary.BigEndian.AppendUint64(p.append(dst), storedInstant(at.At)), at.Run...)
}

func storedInstant(at int64) uint64 { return ^(uint64(at) ^ 1<<63) }

// IndexRange is the range of keys that a query selects.
type IndexRange struct {
	lower, upper []byte
	oldest       bool
	skip         int // bytes before the instant
}

// IndexRangeOf returns the keys that a query selects.
func IndexRangeOf(q *journal.Query) IndexRange {
	p := indexPrefix{indexLetters[q.Index], q.Key, q.Value}
	r := IndexRange{oldest: q.Oldest, skip: len(p.append(nil))}
	r.lower = p.append(nil)
	r.upper = binary.BigEndian.AppendUint64(p.append(nil), 1<<64-1)
	r.upper = append(r.upper, 0xff) // no run's id begins with this byte, since ids are UTF-8
	if q.Before != 0 {
		r.lower = binary.BigEndian.AppendUint64(p.append(nil), storedInstant(q.Before-1))
	}
	if q.From != 0 {
		r.upper = append(binary.BigEndian.AppendUint64(p.append(nil), storedInstant(q.From)), 0xff)
	}
	if q.After != (journal.Position{}) {
		r.GoOn(q.After)
	}
	return r
}

// GoOn removes the keys up to a position.
func (r *IndexRange) GoOn(behind journal.Position) {
	key := append(binary.BigEndian.AppendUint64(bytes.Clone(r.lower[:r.skip]), storedInstant(behind.At)), behind.Run...)
	switch {
	case r.oldest && bytes.Compare(key, r.upper) < 0:
		r.upper = key
	case !r.oldest && bytes.Compare(key, r.lower) >= 0:
		r.lower = append(key, 0)
	}
}

// Load appends the next positions in the range to page, until it has most.
func (r *IndexRange) Load(db pebble.Reader, page []journal.Position, most int) ([]journal.Position, error) {
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

// IndexCheck compares the indexes with the heads from which they are derived.
type IndexCheck struct {
	DB      pebble.Reader // of the heads and the indexes
	Unknown bool          // some heads cannot be read

	keys  IndexKeys
	count int
}

// Add checks that the indexes have the keys of a head.
func (c *IndexCheck) Add(h *journal.Head) error {
	c.keys = c.keys[:0].Append(h)
	for key := range c.keys.all {
		c.count++
		_, closer, err := c.DB.Get(key)
		if errors.Is(err, pebble.ErrNotFound) {
			return fmt.Errorf("%w: run %s is missing in a list", journal.ErrDamaged, h.Run)
		}
		if err != nil {
			return err
		}
		if err = closer.Close(); err != nil {
			return err
		}
	}
	return nil
}

// End checks that the indexes have no other keys.
func (c *IndexCheck) End() error {
	it, err := c.DB.NewIter(&pebble.IterOptions{LowerBound: []byte{IndexSpace}, UpperBound: []byte{IndexSpace + 1}})
	if err != nil {
		return err
	}
	found := 0
	for ok := it.First(); ok; ok = it.Next() {
		found++
	}
	err = errors.Join(it.Error(), it.Close())
	if err == nil && found != c.count && !c.Unknown {
		err = fmt.Errorf("%w: the lists have %d entries, and %d belong there", journal.ErrDamaged, found, c.count)
	}
	return err
}

// indexedPage is the number of positions that Indexed reads at a time.
const indexedPage = 1024

// Indexed returns the id and the instant of a run from the index of all runs, or the zero Head if the index lacks the run. It reads
// the keys of all newer runs.
func Indexed(db pebble.Reader, run string) (journal.Head, error) {
	r := IndexRangeOf(&journal.Query{Index: journal.ByStart})
	for {
		page, err := r.Load(db, nil, indexedPage)
		if err != nil || len(page) == 0 {
			return journal.Head{}, err
		}
		for _, p := range page {
			if p.Run == run {
				return journal.Head{Run: p.Run, Started: p.At}, nil
			}
		}
		r.GoOn(page[len(page)-1])
	}
}
