package value

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/internal/cborhead"
)

// The part of CBOR that nearly all values consist of, written by hand: a general codec takes several times as long. Both
// directions leave all other values, to convert or to refuse, to the general codec, which also names the faults. So they have no
// errors of their own, and no rule that the general codec does not have.

// Major types of CBOR, in the upper three bits of an item's first byte, and whole items.
const (
	majorUint  = 0 << 5
	majorNeg   = 1 << 5
	majorText  = 3 << 5
	majorArray = 4 << 5
	majorMap   = 5 << 5

	itemFalse   = 7<<5 | 20
	itemTrue    = 7<<5 | 21
	itemNull    = 7<<5 | 22
	itemFloat16 = 7<<5 | 25
	itemFloat32 = 7<<5 | 26
	itemFloat64 = 7<<5 | 27
)

// writer appends encodings to b. Its methods report false for values outside the model, or larger than a value may be.
type writer struct {
	b   []byte
	end int // length of b that is not exceeded by much
}

// value appends the encoding of a value at a depth.
func (w *writer) value(v any, depth int) bool {
	switch v := v.(type) {
	case nil:
		w.b = append(w.b, itemNull)
	case bool:
		item := byte(itemFalse)
		if v {
			item = itemTrue
		}
		w.b = append(w.b, item)
	case int64:
		if v < 0 {
			w.b = cborhead.Append(w.b, majorNeg, uint64(^v))
		} else {
			w.b = cborhead.Append(w.b, majorUint, uint64(v))
		}
	case string:
		return w.text(v)
	case float64:
		return w.float(v)
	case []any:
		return v != nil && depth < MaxDepth && w.list(v, depth)
	case map[string]any:
		return v != nil && depth < MaxDepth && w.object(v, depth)
	default:
		return false
	}
	return true
}

func (w *writer) text(s string) bool {
	if !utf8.ValidString(s) || len(w.b)+len(s) > w.end {
		return false
	}
	w.b = cborhead.Append(w.b, majorText, uint64(len(s)))
	w.b = append(w.b, s...)
	return true
}

func (w *writer) float(f float64) bool {
	if f == math.Trunc(f) || math.IsNaN(f) { // it may be an integer
		return false
	}
	data, err := encMode.Marshal(f)
	w.b = append(w.b, data...)
	return err == nil
}

func (w *writer) list(list []any, depth int) bool {
	w.b = cborhead.Append(w.b, majorArray, uint64(len(list)))
	for _, item := range list {
		if len(w.b) > w.end || !w.value(item, depth+1) {
			return false
		}
	}
	return true
}

// pair is a member of an object.
type pair struct {
	key  string
	item any
}

// object appends the members in the order of their encoded keys, in which the length comes first.
func (w *writer) object(object map[string]any, depth int) bool {
	var few [8]pair
	pairs := few[:0]
	for key, item := range object {
		pairs = append(pairs, pair{key, item})
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		if by := cmp.Compare(len(a.key), len(b.key)); by != 0 {
			return by
		}
		return strings.Compare(a.key, b.key)
	})
	w.b = cborhead.Append(w.b, majorMap, uint64(len(pairs)))
	for i := range pairs {
		if len(w.b) > w.end || !w.text(pairs[i].key) || !w.value(pairs[i].item, depth+1) {
			return false
		}
	}
	return true
}

// reader takes values off the front of b. Its methods report false for data that is not a value in one of the common forms.
type reader struct{ b []byte }

// value takes a value at a depth.
func (r *reader) value(depth int) (Value, bool) {
	if len(r.b) == 0 {
		return nil, false
	}
	switch r.b[0] {
	case itemNull, itemFalse, itemTrue:
		item := r.b[0]
		if r.b = r.b[1:]; item == itemNull {
			return nil, true
		}
		return item == itemTrue, true
	case itemFloat16, itemFloat32, itemFloat64:
		return r.float()
	}
	major, n, ok := r.head()
	switch {
	case !ok:
		return nil, false
	case major == majorUint && n <= math.MaxInt64:
		return int64(n), true
	case major == majorNeg && n <= math.MaxInt64:
		return ^int64(n), true
	case major == majorText:
		return r.boxed(n)
	case depth >= MaxDepth:
		return nil, false
	case major == majorArray:
		return r.list(n, depth)
	case major == majorMap:
		return r.object(n, depth)
	}
	return nil, false
}

// head takes the first byte of an item and its argument.
func (r *reader) head() (major byte, n uint64, ok bool) {
	if len(r.b) == 0 {
		return 0, 0, false
	}
	major, n = r.b[0]&0xe0, uint64(r.b[0]&0x1f)
	if n < 24 {
		r.b = r.b[1:]
		return major, n, true
	}
	width := 1 << (n - 24)
	if n > 27 || len(r.b) < 1+width {
		return 0, 0, false
	}
	n = 0
	for _, c := range r.b[1 : 1+width] {
		n = n<<8 | uint64(c)
	}
	r.b = r.b[1+width:]
	return major, n, true
}

// text takes the bytes of a text.
func (r *reader) text(n uint64) (string, bool) {
	if n > uint64(len(r.b)) || !utf8.Valid(r.b[:n]) {
		return "", false
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s, true
}

func (r *reader) boxed(n uint64) (Value, bool) {
	s, ok := r.text(n)
	return s, ok
}

// float takes a fraction: a whole number may be an integer.
func (r *reader) float() (Value, bool) {
	item := r.b[0]
	_, n, ok := r.head()
	var f float64
	switch item {
	case itemFloat16:
		f = half(n)
	case itemFloat32:
		f = float64(math.Float32frombits(uint32(n)))
	default:
		f = math.Float64frombits(n)
	}
	return f, ok && !math.IsNaN(f) && f != math.Trunc(f)
}

// half returns the fraction of 16 bits: a sign, 5 bits of exponent, 10 of mantissa. Infinities and NaN are NaN.
func half(bits uint64) float64 {
	mantissa, exponent := float64(bits&0x3ff), int(bits>>10&0x1f)
	switch exponent {
	case 0x1f:
		return math.NaN()
	case 0:
		exponent = 1 // without the leading one
	default:
		mantissa += 0x400
	}
	if bits>>15 != 0 {
		mantissa = -mantissa
	}
	return math.Ldexp(mantissa, exponent-25)
}

// list takes n elements. Each has a byte at least, so allocations are in proportion to the data.
func (r *reader) list(n uint64, depth int) (Value, bool) {
	if n > uint64(len(r.b)) {
		return nil, false
	}
	list := make([]any, n)
	for i := range list {
		item, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		list[i] = item
	}
	return list, true
}

// object takes n members with distinct keys.
func (r *reader) object(n uint64, depth int) (Value, bool) {
	if n > uint64(len(r.b))/2 {
		return nil, false
	}
	object := make(map[string]any, n)
	for range n {
		major, length, ok := r.head()
		if !ok || major != majorText {
			return nil, false
		}
		key, ok := r.text(length)
		if !ok {
			return nil, false
		}
		if object[key], ok = r.value(depth + 1); !ok {
			return nil, false
		}
	}
	return object, uint64(len(object)) == n
}
