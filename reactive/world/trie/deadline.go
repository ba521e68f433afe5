package trie

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/sluiceflow/sluice/internal/cborhead"
)

// A Deadline is an entry of the trie of deadlines of cells: a timer fires, or a cell reaches the end of its time to live. It is
// encoded as the array of its fields, in their order.
type Deadline struct {
	// Due is the instant, in nanoseconds since 1970.
	Due int64

	// Order is the order in which timers of one instant fire. No two timers have the same.
	Order uint64

	// Cell is the address of the cell.
	Cell string

	// Node is the key of the timer, or empty: the end of a time to live.
	Node string
}

// LastOrder is the Order of the end of a time to live, which follows the timers of its instant.
const LastOrder = math.MaxUint64

// A Moment is the path of a deadline. Moments are in the order of deadlines.
type Moment [2*8 + momentTie]byte

// momentTie is the number of bytes of a hash that distinguish ends of one instant.
const momentTie = 16

// Moment returns the path of the deadline.
func (d *Deadline) Moment() (m Moment) {
	binary.BigEndian.PutUint64(m[:], uint64(d.Due)^1<<63) // so that instants before 1970 precede others
	binary.BigEndian.PutUint64(m[8:], d.Order)
	if d.Node == "" {
		hash := sha256.Sum256([]byte(d.Cell))
		copy(m[16:], hash[:])
	}
	return m
}

// Compare compares moments.
func (m *Moment) Compare(n *Moment) int { return bytes.Compare(m[:], n[:]) }

// CompareDeadlines compares deadlines by their moments.
func CompareDeadlines(a, b *Deadline) int {
	if c := cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Order, b.Order)); c != 0 || a.Node != "" || b.Node != "" {
		return c
	}
	m, n := a.Moment(), b.Moment()
	return m.Compare(&n)
}

// Deadlines returns a Trie of deadlines: a queue.
func Deadlines(fetch func(hash Hash) ([]byte, error)) Trie {
	return Trie{PathBytes: len(Moment{}), AppendPath: appendMoment, Fetch: fetch}
}

func appendMoment(dst, data []byte) ([]byte, error) {
	d, err := decodeDeadline(data)
	if err != nil {
		return nil, err
	}
	m := d.Moment()
	return append(dst, m[:]...), nil
}

// deadlineFields is the number of fields of an encoded deadline.
const deadlineFields = 4

// Entry returns the deadline as an entry.
func (d *Deadline) Entry() Entry {
	m := d.Moment()
	data := append(make([]byte, 0, 2+2*9+2*5+len(d.Cell)+len(d.Node)), majorArray|deadlineFields)
	data = appendInt(data, d.Due)
	data = cborhead.Append(data, majorUint, d.Order)
	data = appendText(data, d.Cell)
	return Entry{Path: m[:], Data: appendText(data, d.Node)}
}

// DecodeDeadline decodes the result of Entry; any other bytes are ErrDamaged.
func DecodeDeadline(data []byte) (Deadline, error) {
	d, err := decodeDeadline(data)
	if err != nil {
		return Deadline{}, fmt.Errorf("%w: a deadline: %w", ErrDamaged, err)
	}
	return d, nil
}

func decodeDeadline(data []byte) (Deadline, error) {
	d := &decoder{b: data}
	d.array(deadlineFields)
	of := Deadline{Due: d.int(), Order: d.argument(majorUint), Cell: d.text(), Node: d.text()}
	if of.Node == "" && of.Order != LastOrder {
		d.fail(fmt.Errorf("the end of a time to live with order %d", of.Order))
	}
	return of, d.end()
}
