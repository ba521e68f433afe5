package journal

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/internal/cborhead"
	"github.com/sluiceflow/sluice/template/value"
)

// This file implements the part of CBOR (RFC 8949) that events and heads need: a general encoder uses reflection and takes
// several times as long. It writes and accepts only the deterministic form of section 4.2.1: definite lengths, shortest
// integers, ascending keys. A struct is a map whose keys are the numbers of its fields, below 24 (one byte), without empty
// fields. So equal events have equal bytes, and equal bytes are equal events.

// Major types of CBOR, in the upper three bits of an item's first byte.
const (
	majorUint  = 0 << 5
	majorNeg   = 1 << 5
	majorBytes = 2 << 5
	majorText  = 3 << 5
	majorArray = 4 << 5
	majorMap   = 5 << 5
	itemTrue   = 7<<5 | 21
)

// maxFields bounds the fields of one map, so that its length and its keys are one byte each.
const maxFields = 23

// encoder appends one item after the other to b. Each method that takes a key writes a field of the innermost open map,
// or nothing if the field is empty; keys must come in ascending order.
type encoder struct {
	b    []byte
	open int // index of the first byte of the innermost open map, which counts its fields
}

// begin opens a map and returns the position of the map around it, for end.
func (e *encoder) begin() (outer int) {
	outer, e.open = e.open, len(e.b)
	e.b = append(e.b, majorMap)
	return outer
}

func (e *encoder) end(outer int) { e.open = outer }

func (e *encoder) key(key byte) {
	e.b[e.open]++
	e.b = append(e.b, majorUint|key)
}

func (e *encoder) uint(key byte, n uint64) {
	if n != 0 {
		e.key(key)
		e.b = cborhead.Append(e.b, majorUint, n)
	}
}

func (e *encoder) int(key byte, n int64) {
	switch {
	case n > 0:
		e.uint(key, uint64(n))
	case n < 0:
		e.key(key)
		e.b = cborhead.Append(e.b, majorNeg, uint64(^n))
	}
}

func (e *encoder) bool(key byte, v bool) {
	if v {
		e.key(key)
		e.b = append(e.b, itemTrue)
	}
}

func (e *encoder) text(key byte, s string) {
	if s != "" {
		e.key(key)
		e.string(s)
	}
}

// string appends a text that is not a field: an item of a list, a label. A text of CBOR is UTF-8, so it replaces invalid bytes:
// an approximate message is better than an event that cannot be stored.
func (e *encoder) string(s string) {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, string(utf8.RuneError))
	}
	e.b = append(cborhead.Append(e.b, majorText, uint64(len(s))), s...)
}

func (e *encoder) bytes(key byte, s []byte) {
	if len(s) != 0 {
		e.key(key)
		e.b = append(cborhead.Append(e.b, majorBytes, uint64(len(s))), s...)
	}
}

// value writes a field of bytes: the encoding of a value, nothing for null, because a missing field is read as null.
func (e *encoder) value(key byte, v any) error {
	start := len(e.b)
	encoded, err := e.encode(v)
	if err == nil && encoded != nil {
		e.wrap(key, start)
	}
	return err
}

// encode appends the encoding of a value and returns it. It returns nil for null and on an error.
func (e *encoder) encode(v any) ([]byte, error) {
	const null = 7<<5 | 22
	if v == nil {
		return nil, nil
	}
	start := len(e.b)
	b, err := value.Append(e.b, v)
	if err != nil || len(b) == start+1 && b[start] == null {
		return nil, err
	}
	e.b = b
	return b[start:], nil
}

// wrap makes a field of the bytes appended since start.
func (e *encoder) wrap(key byte, start int) {
	n := len(e.b) - start
	head := cborhead.Append(append(make([]byte, 0, 10), majorUint|key), majorBytes, uint64(n))
	e.b = append(e.b, head...)
	copy(e.b[start+len(head):], e.b[start:start+n])
	copy(e.b[start:], head)
	e.b[e.open]++
}

func (e *encoder) texts(key byte, list []string) {
	if len(list) == 0 {
		return
	}
	e.key(key)
	e.b = cborhead.Append(e.b, majorArray, uint64(len(list)))
	for _, s := range list {
		e.string(s)
	}
}

// decoder takes items from the front of b. The first error stays in err and empties b, so callers check err once, at the end.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.stop(fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...)))
	}
}

func (d *decoder) stop(err error) { d.b, d.err = nil, err }

// item takes the first byte of an item and its argument.
func (d *decoder) item() (major byte, n uint64) {
	if len(d.b) == 0 {
		d.fail("it ends too early")
		return 0, 0
	}
	first := d.b[0]
	major, n = first&0xe0, uint64(first&0x1f)
	if n < 24 {
		d.b = d.b[1:]
		return major, n
	}
	if n > 27 {
		d.fail("byte %#x starts no item of a definite length", first)
		return 0, 0
	}
	width := 1 << (n - 24)
	if len(d.b) < 1+width {
		d.fail("it ends too early")
		return 0, 0
	}
	arg := d.b[1 : 1+width]
	shortest := false
	switch width {
	case 1:
		n = uint64(arg[0])
		shortest = n >= 24
	case 2:
		n = uint64(binary.BigEndian.Uint16(arg))
		shortest = n > 0xff
	case 4:
		n = uint64(binary.BigEndian.Uint32(arg))
		shortest = n > 0xffff
	default:
		n = binary.BigEndian.Uint64(arg)
		shortest = n > 0xffff_ffff
	}
	if !shortest {
		d.fail("%d is not in its shortest form", n)
		return 0, 0
	}
	d.b = d.b[1+width:]
	return major, n
}

// want takes an item of one major type.
func (d *decoder) want(major byte) uint64 {
	got, n := d.item()
	if got != major && d.err == nil {
		d.fail("major type %d where %d belongs", got>>5, major>>5)
		return 0
	}
	return n
}

// length takes the first byte of an array or a map of labels. An item has at least one byte, so it refuses a length beyond the
// remaining input before any allocation.
func (d *decoder) length(major byte) int {
	n := d.want(major)
	if n > uint64(len(d.b)) {
		d.fail("%d items in %d bytes", n, len(d.b))
		return 0
	}
	return int(n)
}

// fields takes the start of a map and returns the number of fields that follow.
func (d *decoder) fields() int {
	n := d.want(majorMap)
	if n > maxFields {
		d.fail("a map of %d fields", n)
		return 0
	}
	return int(n)
}

// key takes the key of the next field, which must be greater than prev (-1 before the first).
func (d *decoder) key(prev int) int {
	n := d.want(majorUint)
	if d.err == nil && (int64(n) <= int64(prev) || n > maxFields) {
		d.fail("field %d after field %d", n, prev)
		return -1
	}
	return int(n)
}

func (d *decoder) uint() uint64 {
	n := d.want(majorUint)
	if n == 0 {
		d.fail("an empty field")
	}
	return n
}

func (d *decoder) int() int64 {
	major, n := d.item()
	switch {
	case n > 1<<63-1, major == majorUint && n == 0, major != majorUint && major != majorNeg:
		d.fail("no whole number of 64 bits, or an empty field")
		return 0
	case major == majorNeg:
		return ^int64(n)
	}
	return int64(n)
}

func (d *decoder) int32() int32 {
	n := d.int()
	if n != int64(int32(n)) {
		d.fail("%d is no whole number of 32 bits", n)
		return 0
	}
	return int32(n)
}

func (d *decoder) bool() bool {
	if len(d.b) == 0 || d.b[0] != itemTrue {
		d.fail("a field that is true or absent is neither")
		return false
	}
	d.b = d.b[1:]
	return true
}

// raw takes the bytes of a string; they are part of the input.
func (d *decoder) raw(major byte) []byte {
	n := d.length(major)
	s := d.b[:n:n]
	d.b = d.b[n:]
	return s
}

// bytes takes a byte string that is a field.
func (d *decoder) bytes() []byte {
	s := d.raw(majorBytes)
	if len(s) == 0 {
		d.fail("an empty field")
	}
	return s
}

// text takes a text that is a field.
func (d *decoder) text() string {
	s := d.string()
	if s == "" {
		d.fail("an empty field")
	}
	return s
}

// string takes a text that is not a field and may be empty.
func (d *decoder) string() string {
	s := d.raw(majorText)
	if !utf8.Valid(s) {
		d.fail("a text is not UTF-8")
		return ""
	}
	return string(s)
}

func (d *decoder) texts() []string {
	n := d.length(majorArray)
	if n == 0 {
		d.fail("an empty field")
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = d.string()
	}
	return list
}
