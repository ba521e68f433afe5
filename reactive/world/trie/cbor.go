package trie

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/internal/cborhead"
)

// This file implements the part of CBOR (RFC 8949) that nodes need. It writes and accepts only the deterministic form of
// section 4.2.1, so each item has one encoding: definite lengths and the shortest form of every number.

// Major types of CBOR, in the upper three bits of an item's first byte.
const (
	majorUint  = 0 << 5
	majorNeg   = 1 << 5
	majorBytes = 2 << 5
	majorText  = 3 << 5
	majorArray = 4 << 5
	majorOther = 7 << 5

	itemFalse = majorOther | 20
	itemTrue  = majorOther | 21
	itemNull  = majorOther | 22
)

func appendInt(dst []byte, n int64) []byte {
	if n < 0 {
		return cborhead.Append(dst, majorNeg, uint64(^n))
	}
	return cborhead.Append(dst, majorUint, uint64(n))
}

func appendBytes(dst, b []byte) []byte {
	return append(cborhead.Append(dst, majorBytes, uint64(len(b))), b...)
}

func appendText(dst []byte, text string) []byte {
	return append(cborhead.Append(dst, majorText, uint64(len(text))), text...)
}

var errTruncated = errors.New("truncated")

// decoder reads items from b. After an error, it returns zero values and keeps the error.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.b = nil
}

// head reads the first byte of an item and its argument.
func (d *decoder) head() (major byte, n uint64) {
	if len(d.b) == 0 {
		d.fail(errTruncated)
		return 0, 0
	}
	first := d.b[0]
	major, n = first&0xe0, uint64(first&0x1f)
	d.b = d.b[1:]
	if n < 24 {
		return major, n
	}
	if n > 27 {
		d.fail(fmt.Errorf("an item that begins with %#02x", first))
		return 0, 0
	}
	size := 1 << (n - 24)
	if len(d.b) < size {
		d.fail(errTruncated)
		return 0, 0
	}
	n = 0
	for _, c := range d.take(size) {
		n = n<<8 | uint64(c)
	}
	if size == 1 && n < 24 || size > 1 && n>>(4*size) == 0 {
		d.fail(fmt.Errorf("%d is not in its shortest form", n))
		return 0, 0
	}
	return major, n
}

// argument reads the head of an item of a major type.
func (d *decoder) argument(want byte) uint64 {
	major, n := d.head()
	if d.err == nil && major != want {
		d.fail(fmt.Errorf("an item of major type %d, not %d", major>>5, want>>5))
		return 0
	}
	return n
}

// length reads the head of an item of a major type with an argument that counts bytes, or items of at least one byte.
func (d *decoder) length(want byte) int {
	n := d.argument(want)
	if n > uint64(len(d.b)) {
		d.fail(errTruncated)
		return 0
	}
	return int(n)
}

// array reads the head of an array of a known length.
func (d *decoder) array(want int) {
	if n := d.length(majorArray); d.err == nil && n != want {
		d.fail(fmt.Errorf("%d items, not %d", n, want))
	}
}

// take returns the next n bytes, which must exist.
func (d *decoder) take(n int) []byte {
	taken := d.b[:n:n]
	d.b = d.b[n:]
	return taken
}

func (d *decoder) bytes() []byte { return d.take(d.length(majorBytes)) }

// text reads a text. item verifies that texts are UTF-8; text does not.
func (d *decoder) text() string { return string(d.take(d.length(majorText))) }

func (d *decoder) int() int64 {
	major, n := d.head()
	switch {
	case d.err != nil:
	case major != majorUint && major != majorNeg:
		d.fail(fmt.Errorf("an item of major type %d, not an integer", major>>5))
	case n > math.MaxInt64:
		d.fail(fmt.Errorf("%d is beyond 64 bits with sign", n))
	case major == majorNeg:
		return ^int64(n)
	default:
		return int64(n)
	}
	return 0
}

// hash reads a hash, or null as the zero Hash.
func (d *decoder) hash() (hash Hash) {
	if len(d.b) > 0 && d.b[0] == itemNull {
		d.take(1)
		return Hash{}
	}
	b := d.bytes()
	switch {
	case d.err != nil:
	case len(b) != len(hash):
		d.fail(fmt.Errorf("a hash of %d bytes", len(b)))
	case Hash(b) == Hash{}:
		d.fail(errors.New("a hash of zeros, not null"))
	default:
		return Hash(b)
	}
	return Hash{}
}

// item returns the encoding of the next item: an integer, byte string, text, boolean, null, or an array of items.
func (d *decoder) item() []byte {
	start := d.b
	for open := 1; open > 0 && d.err == nil; open-- {
		major, n := d.head()
		if d.err == nil {
			open += d.skip(major, n)
		}
	}
	size := len(start) - len(d.b)
	return start[:size:size]
}

// skip reads the rest of an item with a head, except for the items of an array, which it counts.
func (d *decoder) skip(major byte, n uint64) (items int) {
	switch major {
	case majorUint, majorNeg:
		return 0
	case majorBytes, majorText, majorArray:
		if n > uint64(len(d.b)) {
			d.fail(errTruncated)
			return 0
		}
		if major == majorArray {
			return int(n)
		}
		if b := d.take(int(n)); major == majorText && !utf8.Valid(b) {
			d.fail(errors.New("a text that is not UTF-8"))
		}
		return 0
	case majorOther:
		if first := major | byte(n); n < 24 && (first == itemFalse || first == itemTrue || first == itemNull) {
			return 0
		}
	}
	d.fail(fmt.Errorf("an item of major type %d", major>>5))
	return 0
}

// end returns the first error, or one if bytes are left.
func (d *decoder) end() error {
	if len(d.b) > 0 {
		d.fail(fmt.Errorf("%d bytes after the end", len(d.b)))
	}
	return d.err
}
