package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/internal/usercode"
)

// Value is a value of the model. It holds exactly one of
//
//	nil   bool   int64   float64   string   []any   map[string]any
//
// and the elements of a list or an object are Values too. Invariants, which Of establishes and all functions of this package
// maintain:
//
//  1. a float64 is finite, and not a whole number that int64 can hold;
//  2. strings and keys are valid UTF-8;
//  3. a []any or map[string]any is not nil (that is written nil);
//  4. lists and objects nest at most MaxDepth deep.
type Value = any

// Limits of one value. They bound the cost of hostile input, and are far above the size of values that workflows should
// pass: large data belongs in a file or an object store, with its address in the value.
const (
	MaxDepth     = 128       // how deep lists and objects nest
	MaxSizeBytes = 128 << 20 // of the encoding, and of JSON text that is parsed
)

// ErrTooLarge is wrapped by every error about a value that exceeds MaxDepth, MaxSizeBytes or NodesMax.
var ErrTooLarge = errors.New("value: too large")

// Raw is one encoded value, carried verbatim: code that only stores or forwards it need not decode it. Of, Convert and the
// other functions of this package treat a Raw as the value that it encodes.
type Raw []byte

// MarshalJSON writes the encoded value as JSON, so that a Raw in a struct is written like its value.
func (r Raw) MarshalJSON() ([]byte, error) { return JSON(r) }

// UnmarshalJSON encodes a JSON text.
func (r *Raw) UnmarshalJSON(data []byte) error {
	v, err := ParseJSON(data)
	if err != nil {
		return err
	}
	*r, err = Encode(v)
	return err
}

// Of converts any Go value to the model. It returns a value of the model unchanged, without a copy; otherwise it copies only
// the lists and objects that change. Of refuses NaN, the infinities, integers beyond int64, values that encoding/json cannot
// represent (channels, functions, cycles), that nest deeper than MaxDepth or whose encoding would exceed MaxSizeBytes; the
// error names the place as a JSON pointer.
func Of(v any) (Value, error) {
	w := walk{from: goCode, left: MaxSizeBytes}
	v, _, err := w.visit(v, 0)
	if err != nil {
		return nil, fmt.Errorf("value %w", err)
	}
	return v, nil
}

// Own is Of for a value that its owner may still change: the result shares no list and no object with v.
func Own(v any) (Value, error) {
	w := walk{from: goCode, left: MaxSizeBytes, own: true}
	v, _, err := w.visit(v, 0)
	if err != nil {
		return nil, fmt.Errorf("value %w", err)
	}
	return v, nil
}

// OwnMembers is Own for each member of an object. Its error names the first member, in order, that Own refuses.
func OwnMembers(members map[string]any) (map[string]any, error) {
	own := make(map[string]any, len(members))
	for _, key := range slices.Sorted(maps.Keys(members)) {
		v, err := Own(members[key])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		own[key] = v
	}
	return own, nil
}

// Fits returns an error if v is not valid at a depth in a value of the model: it nests too deep for that place, or is not of
// the model. So a caller that puts one value into another maintains invariant 4 without visiting the other. It refuses
// values that Of refuses.
func Fits(v any, depth int) error {
	w := walk{from: goCode, left: MaxSizeBytes}
	_, _, err := w.visit(v, depth)
	if err == nil && depth > MaxDepth { // the surrounding value would already be too deep
		err = errTooDeep()
	}
	if err != nil {
		return fmt.Errorf("value %w", err)
	}
	return nil
}

// walk converts values to the model: it visits a value and establishes the invariants of Value. It counts the elements that
// it visits, because a small graph of shared lists can expand beyond any memory.
type walk struct {
	from source
	left int  // minimum number of bytes that the rest may take when encoded
	own  bool // copy lists and objects even if nothing in them changes
}

// source is the origin of a value, which determines how parts outside the model are treated.
type source uint8

const (
	goCode    source = iota // any value of a Go program
	marshaled               // output of encoding/json: numbers are json.Number
	jsonText                // foreign text: the same, but strict
	encoded                 // output of the decoder: anything else is damaged or hostile
)

// visit returns the Value for v. The second result reports whether it differs from v, which decides whether the list or
// object around it must be copied.
func (w *walk) visit(v any, depth int) (Value, bool, error) {
	size := 1
	if s, ok := v.(string); ok {
		size += len(s)
	}
	if w.left -= size; w.left < 0 {
		return nil, false, errTooLarge()
	}
	switch t := v.(type) {
	case nil, bool, int64:
		return v, false, nil
	case string:
		if utf8.ValidString(t) {
			return v, false, nil
		}
		return validUTF8(t), true, nil
	case float64:
		if t != math.Trunc(t) && !math.IsNaN(t) {
			return v, false, nil
		}
		n, err := ofFloat(t)
		return n, true, err
	case []any:
		if list, changed, err := w.list(t, depth); changed || err != nil {
			return list, true, err
		}
		return orNil(v, t == nil)
	case map[string]any:
		if object, changed, err := w.object(t, depth); changed || err != nil {
			return object, true, err
		}
		return orNil(v, t == nil)
	case Large:
		return nil, false, ErrLarge
	}
	n, err := w.foreign(v, depth)
	return n, true, err
}

// orNil returns nil for a nil list or object.
func orNil(v Value, isNil bool) (Value, bool, error) {
	if isNil {
		return nil, true, nil
	}
	return v, false, nil
}

// foreign converts a value outside the model.
func (w *walk) foreign(v any, depth int) (Value, error) {
	switch w.from {
	case goCode:
		return w.fromGo(v, depth)
	case marshaled, jsonText:
		if number, ok := v.(json.Number); ok {
			return w.fromNumber(string(number))
		}
	}
	return nil, &placeError{msg: fmt.Sprintf("has a %T, which is not of the model", v)}
}

// list and object return their argument, unless something in it changes.
func (w *walk) list(list []any, depth int) ([]any, bool, error) {
	if depth >= MaxDepth {
		return nil, false, errTooDeep()
	}
	out, changed := list, false
	if w.own && list != nil {
		out, changed = slices.Clone(list), true
	}
	for i, item := range list {
		n, differs, err := w.visit(item, depth+1)
		if err != nil {
			return nil, false, within(strconv.Itoa(i), err)
		}
		if !differs {
			continue
		}
		if !changed {
			out, changed = slices.Clone(list), true
		}
		out[i] = n
	}
	return out, changed, nil
}

// object reports the fault with the least key, so that messages do not depend on the order of the map.
func (w *walk) object(object map[string]any, depth int) (map[string]any, bool, error) {
	if depth >= MaxDepth {
		return nil, false, errTooDeep()
	}
	out, changed := object, false
	if w.own && object != nil {
		out, changed = maps.Clone(object), true
	}
	var fault error
	faultKey := ""
	for key, item := range object {
		n, differs, err := w.member(key, item, depth+1)
		switch {
		case errors.Is(err, ErrTooLarge):
			return nil, false, err
		case err != nil:
			if fault == nil || key < faultKey {
				fault, faultKey = err, key
			}
		case differs:
			if !changed {
				out, changed = maps.Clone(object), true
			}
			out[key] = n
		}
	}
	if fault != nil {
		return nil, false, within(faultKey, fault)
	}
	return out, changed, nil
}

// member visits an element of an object. Invalid keys are not repaired like other strings: two of them could become equal,
// and the survivor would depend on the order of the map.
func (w *walk) member(key string, item any, depth int) (Value, bool, error) {
	w.left -= len(key) + 1
	if !utf8.ValidString(key) {
		return nil, false, &placeError{msg: "has a key that is not valid UTF-8"}
	}
	return w.visit(item, depth)
}

// fromGo converts numbers, common lists and plain structs directly, everything else with encoding/json, whose rules for
// tags, embedding and Marshalers are well known.
func (w *walk) fromGo(v any, depth int) (Value, error) {
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case int16:
		return int64(v), nil
	case int8:
		return int64(v), nil
	case uint8:
		return int64(v), nil
	case uint16:
		return int64(v), nil
	case uint32:
		return int64(v), nil
	case uint:
		return ofUint(uint64(v))
	case uint64:
		return ofUint(v)
	case float32:
		return ofFloat32(v)
	case json.Number:
		return ofNumber(string(v))
	case Raw:
		return w.fromRaw(v, depth)
	case []string:
		return w.fromStrings(v, depth)
	case map[string]string:
		return w.fromStringMap(v, depth)
	}
	if plain, ok := fromPlain(v); ok {
		plain, _, err := w.visit(plain, depth)
		return plain, err
	}
	return w.fromOther(v, depth)
}

// fromOther converts any other Go value to the model. Methods of v, such as MarshalJSON, are called on another goroutine, so
// that a method that ends its goroutine is an error like one that panics.
func (w *walk) fromOther(v any, depth int) (Value, error) {
	var text []byte
	err := toEncode(reflect.TypeOf(v))(func() (err error) {
		text, err = json.Marshal(v)
		return err
	})
	if err != nil {
		return nil, unrepresentable(v, err)
	}
	n, err := decodeJSON(text)
	if err != nil {
		return nil, &placeError{msg: fmt.Sprintf("(a %T) cannot be represented: %v", v, err)}
	}
	inner := walk{from: marshaled, left: w.left}
	n, _, err = inner.visit(n, depth)
	w.left = inner.left
	return n, err
}

// unrepresentable returns why encoding/json cannot encode v. It wraps only a panic, because another error may have methods
// of the user.
func unrepresentable(v any, err error) error {
	if p, ok := err.(*usercode.Panic); ok {
		return &placeError{msg: fmt.Sprintf("(a %T) cannot be represented: %v", v, p), err: p}
	}
	return &placeError{msg: fmt.Sprintf("cannot be represented: %v", err)}
}

// fromRaw decodes, and walks the result again, because of its greater depth and size in the surrounding value.
func (w *walk) fromRaw(r Raw, depth int) (Value, error) {
	v, err := Decode(r)
	if err != nil {
		return nil, &placeError{msg: err.Error(), err: err}
	}
	v, _, err = w.visit(v, depth)
	return v, err
}

// fromStrings converts the most common typed list directly.
func (w *walk) fromStrings(list []string, depth int) (Value, error) {
	if list == nil {
		return nil, nil
	}
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	v, _, err := w.visit(out, depth)
	return v, err
}

// fromStringMap converts labels, headers and environments directly.
func (w *walk) fromStringMap(object map[string]string, depth int) (Value, error) {
	if object == nil {
		return nil, nil
	}
	out := make(map[string]any, len(object))
	for key, s := range object {
		out[key] = s
	}
	v, _, err := w.visit(out, depth)
	return v, err
}

// validUTF8 replaces every byte that is not part of a valid sequence, one by one, as encoding/json does.
func validUTF8(s string) string { return string([]rune(s)) }
