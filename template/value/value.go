package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/internal/usercode"
)

// Value is a value of the model. It holds exactly one of
//
//	nil   bool   int64   float64   string   []any   map[string]any
//
// and the elements of a list or an object are Values again. Invariants, which Of establishes and everything else in this
// package keeps:
//
//  1. a float64 is finite, and not a whole number that int64 can hold;
//  2. strings and keys are valid UTF-8;
//  3. a []any or map[string]any is not nil (that is written nil);
//  4. lists and objects nest at most MaxDepth deep.
type Value = any

// Limits of one value. They bound what hostile input can cost, and are far above what a workflow should pass around:
// large data belongs in a file or an object store, with its address in the value.
const (
	MaxDepth     = 128       // how deep lists and objects nest
	MaxSizeBytes = 128 << 20 // of the encoding, and of JSON text that is parsed
)

// ErrTooLarge is wrapped by every error about a value that exceeds MaxDepth, MaxSizeBytes or NodesMax.
var ErrTooLarge = errors.New("value: too large")

// Raw is one encoded value, carried verbatim: code that only stores it or passes it on need not decode it. Of, Convert and
// the other functions of this package take a Raw for the value it encodes.
type Raw []byte

// MarshalJSON writes the encoded value as JSON, so that a Raw in a struct reads like its value.
func (r Raw) MarshalJSON() ([]byte, error) { return JSON(r) }

// UnmarshalJSON encodes the JSON text it is given.
func (r *Raw) UnmarshalJSON(data []byte) error {
	v, err := ParseJSON(data)
	if err != nil {
		return err
	}
	*r, err = Encode(v)
	return err
}

// Of turns any Go value into the model. A value that is of the model already is returned as it is, without a copy; of one
// that is nearly so, only the lists and objects that change are copied. Of refuses NaN, the infinities, integers beyond
// int64, what encoding/json cannot represent (channels, functions, cycles), what nests deeper than MaxDepth and what could
// not be encoded in MaxSizeBytes; the error names the place as a JSON pointer.
func Of(v any) (Value, error) {
	w := walk{from: goCode, left: MaxSizeBytes}
	v, _, err := w.visit(v, 0)
	if err != nil {
		return nil, fmt.Errorf("value %w", err)
	}
	return v, nil
}

// Own is Of for a value that may still be changed: the result shares no list and no object with v.
func Own(v any) (Value, error) {
	w := walk{from: goCode, left: MaxSizeBytes, own: true}
	v, _, err := w.visit(v, 0)
	if err != nil {
		return nil, fmt.Errorf("value %w", err)
	}
	return v, nil
}

// OwnMembers is Own for each member of an object. Its error names the first, in order, that Own refuses.
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

// Fits returns why v may not stand depth levels deep in a value of the model: it nests too deep for that place, or is not of
// the model itself; nil when it may. So a caller that puts one value into another keeps invariant 4 without going through the
// other. It refuses what Of refuses.
func Fits(v any, depth int) error {
	w := walk{from: goCode, left: MaxSizeBytes}
	_, _, err := w.visit(v, depth)
	if err == nil && depth > MaxDepth { // what is around it would be too deep already
		err = errTooDeep()
	}
	if err != nil {
		return fmt.Errorf("value %w", err)
	}
	return nil
}

// walk is the one way into the model: it goes through a value and establishes the invariants of Value. It counts what it
// visits, because a small graph of shared lists can expand to a value that is too large for any memory.
type walk struct {
	from source
	left int  // bytes that the rest may take, at the least, when encoded
	own  bool // lists and objects are made anew, also where nothing in them changes
}

// source is the origin of a value, which determines how parts outside the model are treated.
type source uint8

const (
	goCode    source = iota // anything a Go program makes
	marshaled               // what encoding/json has written: numbers are json.Number
	jsonText                // foreign text: the same, and judged strictly
	encoded                 // what the decoder returns: anything else is damaged or hostile
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
	}
	n, err := w.foreign(v, depth)
	return n, true, err
}

// orNil writes the nil list and the nil object as nil.
func orNil(v Value, isNil bool) (Value, bool, error) {
	if isNil {
		return nil, true, nil
	}
	return v, false, nil
}

// foreign makes a Value of a value outside the model.
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

// object reports one fault of several, the one with the least key, so that messages do not vary with the order of the map.
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

// member visits an element of an object. Invalid keys are not repaired like other strings: two of them could become one,
// and which of them won would depend on the order of the map.
func (w *walk) member(key string, item any, depth int) (Value, bool, error) {
	w.left -= len(key) + 1
	if !utf8.ValidString(key) {
		return nil, false, &placeError{msg: "has a key that is not valid UTF-8"}
	}
	return w.visit(item, depth)
}

// fromGo takes numbers, common lists and plain structs directly, everything else by way of encoding/json, whose rules for
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

// fromOther converts any other Go value into the model. It calls methods of v, such as MarshalJSON, apart: one that panics and one
// that ends its goroutine are the same.
func (w *walk) fromOther(v any, depth int) (Value, error) {
	var text []byte
	err := usercode.Apart(func() (err error) {
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

// unrepresentable reports why encoding/json has no text for v. Of the error only a panic is kept: it may be of a type whose
// methods are not ours.
func unrepresentable(v any, err error) error {
	if p, ok := err.(*usercode.Panic); ok {
		return &placeError{msg: fmt.Sprintf("(a %T) cannot be represented: %v", v, p), err: p}
	}
	return &placeError{msg: fmt.Sprintf("cannot be represented: %v", err)}
}

// fromRaw decodes, and walks again what Decode has walked, because it now stands deeper and counts for more.
func (w *walk) fromRaw(r Raw, depth int) (Value, error) {
	v, err := Decode(r)
	if err != nil {
		return nil, &placeError{msg: err.Error(), err: err}
	}
	v, _, err = w.visit(v, depth)
	return v, err
}

// fromStrings spares the most common of typed lists the way by JSON.
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

// fromStringMap does the same for labels, headers and environments.
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
