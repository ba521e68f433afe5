package schema

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// Keys of the normal form of a variant's value.
const (
	tagKey   = "$tag"
	valueKey = "$value"
)

// Normalize returns the normal form of a value; v itself if it is in normal form. It does not change v, and the result
// shares parts with it. v is of the model; parts outside it are converted by value.Of. The error is a *Fault: the first one,
// in an order that is independent of the order of Go's maps.
//
// Values with more nodes than value.NodesMax are refused, and with more bytes of text than value.MaxSizeBytes; the options
// that were left out count.
func (t *Type) Normalize(v value.Value) (value.Value, error) {
	n, _, err := t.normalize(v)
	return n, err
}

// CheckNormal returns an error if a value is not of the type, or not in its normal form. It returns nil if Normalize would return v
// itself.
func (t *Type) CheckNormal(v value.Value) error {
	_, changed, err := t.normalize(v)
	if err == nil && changed {
		err = errors.New("a value is not in its normal form")
	}
	return err
}

// normalize also reports whether the normal form differs from v.
func (t *Type) normalize(v value.Value) (value.Value, bool, error) {
	w := walk{nodes: value.NodesMax, bytes: value.MaxSizeBytes}
	n, changed, f := w.visit(t, v)
	switch {
	case w.isSpent():
		return nil, false, fault("has more than %d lists, objects and scalars, or %d bytes of text", value.NodesMax, value.MaxSizeBytes)
	case f != nil:
		return nil, false, f.suggest()
	}
	return n, changed, nil
}

// walk normalises one value. It counts its visits, since a small graph of shared lists can expand to more than can be
// visited.
type walk struct{ nodes, bytes int }

func (w *walk) isSpent() bool { return w.nodes < 0 || w.bytes < 0 }

// visit returns the normal form of v and whether it differs from v. Once the walk is spent, the results have no meaning.
func (w *walk) visit(t *Type, v value.Value) (value.Value, bool, *Fault) {
	if w.nodes--; w.isSpent() {
		return nil, false, fault("is too large")
	}
	switch t.Kind {
	case Option:
		if isNull(v) {
			return nil, v != nil, nil
		}
		return w.visit(t.Elem, v)
	case Bool:
		if _, ok := v.(bool); ok {
			return v, false, nil
		}
	case Int, Nat:
		if n, ok := v.(int64); ok {
			if n < 0 && t.Kind == Nat {
				return nil, false, fault("must be at least 0")
			}
			return v, false, nil
		}
	case Unit:
		if v == nil {
			return nil, false, nil
		}
	case Record, Variant, Map:
		if object, ok := v.(map[string]any); ok && object != nil {
			return w.object(t, object)
		}
	case List, Set:
		if list, ok := v.([]any); ok && list != nil {
			return w.list(t, list, v)
		}
	case System:
		return nil, false, fault("is made by the run itself, so it cannot be given")
	case Invalid:
		return nil, false, fault("has a type that was refused")
	default:
		if text, ok := v.(string); ok {
			return w.text(t, text, v)
		}
	}
	return w.foreign(t, v)
}

// wanted are the kinds of values that types have, for messages.
var wanted = [...]string{Bool: "a boolean", Int: "an integer", Nat: "an integer", Unit: "null", Record: "an object",
	Variant: "an object", Map: "an object", List: "a list", Set: "a list", System: ""}

// foreign refuses a value of another kind, unless it is of a kind outside the model.
func (w *walk) foreign(t *Type, v value.Value) (value.Value, bool, *Fault) {
	if !isModel(v) {
		n, err := value.Of(v)
		if err != nil {
			return nil, false, fault("%s", strings.TrimPrefix(err.Error(), "value "))
		}
		n, _, f := w.visit(t, n)
		return n, true, f
	}
	want := wanted[t.Kind]
	if want == "" {
		want = "a text"
	}
	return nil, false, fault("must be %s, not %s", want, describe(v))
}

// isModel reports whether v is of the model. It does not look into lists and objects.
func isModel(v value.Value) bool {
	switch v := v.(type) {
	case nil, bool, int64:
		return true
	case string:
		return utf8.ValidString(v)
	case float64:
		return v != math.Trunc(v) || v < -1<<63 || v >= 1<<63
	case []any:
		return v != nil
	case map[string]any:
		return v != nil
	}
	return false
}

// isNull reports whether v is null: nil, or a nil list or object of Go code.
func isNull(v value.Value) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return v == nil
	case map[string]any:
		return v == nil
	}
	return false
}

// text returns the normal form of a text; v is the same text, to be returned without a copy.
func (w *walk) text(t *Type, text string, v value.Value) (value.Value, bool, *Fault) {
	if w.bytes -= len(text); w.isSpent() {
		return nil, false, fault("is too large")
	}
	if t.Kind == Text {
		if !utf8.ValidString(text) {
			return w.foreign(t, v)
		}
		return v, false, nil
	}
	n, f := normalText(t.Kind, text)
	switch {
	case f != nil:
		return nil, false, f
	case n == text:
		return v, false, nil
	}
	return n, true, nil
}

func (w *walk) object(t *Type, object map[string]any) (value.Value, bool, *Fault) {
	var n map[string]any
	var changed bool
	var f *Fault
	switch t.Kind {
	case Record:
		n, changed, f = w.record(t, object)
	case Variant:
		n, changed, f = w.variant(t, object)
	default:
		n, changed, f = w.dictionary(t, object)
	}
	if f != nil {
		return nil, false, f
	}
	return n, changed, nil
}

// edit is an object that is copied before its first change.
type edit struct {
	object  map[string]any
	changed bool
}

func (e *edit) set(key string, v value.Value) {
	if !e.changed {
		e.object, e.changed = maps.Clone(e.object), true
	}
	e.object[key] = v
}

// record visits the fields in the order of their names. A key that is not declared comes first among the faults, since it
// may be the misspelt name of a field that is missing.
func (w *walk) record(t *Type, object map[string]any) (map[string]any, bool, *Fault) {
	e := edit{object: object}
	found := 0
	for i := range t.Fields {
		field := &t.Fields[i]
		item, ok := object[field.Name]
		if ok {
			found++
		} else if field.Type.Kind != Option {
			return nil, false, undeclaredOr(fault("is missing").within(field.Name), object, t)
		}
		n, changed, f := w.visit(field.Type, item)
		if f != nil {
			return nil, false, undeclaredOr(f.within(field.Name), object, t)
		}
		if changed || !ok {
			e.set(field.Name, n)
		}
	}
	if found < len(object) {
		return nil, false, undeclaredOr(nil, object, t)
	}
	return e.object, e.changed, nil
}

// undeclaredOr returns the fault of the least key of object that t does not declare, or else f.
func undeclaredOr(f *Fault, object map[string]any, t *Type) *Fault {
	least, found := "", false
	for key := range object {
		if t.Field(key) == nil && (!found || key < least) {
			least, found = key, true
		}
	}
	if !found {
		return f
	}
	undeclared := &Fault{Text: "is not declared", misspelt: least, known: t.Fields}
	return undeclared.within(least)
}

// variant reads {$tag: Arm, $value: V} and {Arm: V}.
func (w *walk) variant(t *Type, object map[string]any) (map[string]any, bool, *Fault) {
	if tag, ok := object[tagKey]; ok {
		return w.tagged(t, object, tag)
	}
	if len(object) != 1 {
		return nil, false, fault("must be one arm with its value or {%s, %s}, not %d keys", tagKey, valueKey, len(object))
	}
	for name, item := range object {
		arm := t.arms[name]
		if arm == nil {
			return nil, false, noArm(t, name)
		}
		n, _, f := w.visit(arm, item)
		if f != nil {
			return nil, false, f.within(name)
		}
		return map[string]any{tagKey: name, valueKey: n}, true, nil
	}
	return nil, false, nil
}

func noArm(t *Type, name string) *Fault {
	return &Fault{Text: "has no arm " + document.Quote(name), misspelt: name, known: t.Fields}
}

func (w *walk) tagged(t *Type, object map[string]any, tag value.Value) (map[string]any, bool, *Fault) {
	e := edit{object: object}
	name, changed, f := w.visit(textType, tag)
	if f != nil {
		return nil, false, f.within(tagKey)
	}
	if changed {
		e.set(tagKey, name)
	}
	arm := t.arms[name.(string)]
	if arm == nil {
		return nil, false, noArm(t, name.(string))
	}
	item, ok := object[valueKey]
	if !ok && arm.Kind != Option || len(object) > 1 && !ok || len(object) > 2 {
		return nil, false, undeclaredOr(fault("is missing").within(valueKey), object, taggedType)
	}
	n, changed, f := w.visit(arm, item)
	if f != nil {
		return nil, false, f.within(valueKey)
	}
	if changed || !ok {
		e.set(valueKey, n)
	}
	return e.object, e.changed, nil
}

var (
	textType   = &Type{Kind: Text}
	taggedType = &Type{Kind: Record, Fields: []Field{{tagKey, textType}, {valueKey, textType}}}
)

// list visits the elements of a list or a set; v is the same list, to be returned without a copy.
func (w *walk) list(t *Type, list []any, v value.Value) (value.Value, bool, *Fault) {
	out, changed := list, false
	for i, item := range list {
		n, differs, f := w.visit(t.Elem, item)
		if f != nil {
			return nil, false, f.within(strconv.Itoa(i))
		}
		if !differs {
			continue
		}
		if !changed {
			out, changed = slices.Clone(list), true
		}
		out[i] = n
	}
	if t.Kind == Set {
		sorted, differs, f := sortSet(t.Elem, out)
		if f != nil {
			return nil, false, f
		}
		out, changed = sorted, changed || differs
	}
	if !changed {
		return v, false, nil
	}
	return out, true, nil
}

// dictionary visits the values of a map, and then brings its keys into their normal form. It returns the fault with the
// least key.
func (w *walk) dictionary(t *Type, object map[string]any) (map[string]any, bool, *Fault) {
	e := edit{object: object}
	isRenamed := false
	var first *Fault
	for key, item := range object {
		name, f := w.key(t.Key.Kind, key)
		var n value.Value
		var changed bool
		if f == nil {
			n, changed, f = w.visit(t.Elem, item)
		}
		switch {
		case f != nil:
			if first == nil || key < first.Pointer[0] {
				first = f.within(key)
			}
		case changed:
			e.set(key, n)
		}
		isRenamed = isRenamed || name != key
	}
	if first != nil || !isRenamed {
		return e.object, e.changed, first
	}
	return rename(t.Key.Kind, e.object)
}

// key returns the normal form of a key.
func (w *walk) key(k Kind, key string) (string, *Fault) {
	if w.bytes -= len(key); w.isSpent() {
		return key, nil
	}
	n, f := normalKey(k, key)
	if f != nil {
		f.Text = "the key " + f.Text
	}
	return n, f
}

// rename returns an object with the normal forms of the keys, which are valid.
func rename(k Kind, object map[string]any) (map[string]any, bool, *Fault) {
	out := make(map[string]any, len(object))
	for _, key := range slices.Sorted(maps.Keys(object)) {
		name, _ := normalKey(k, key)
		if _, ok := out[name]; ok {
			return nil, false, fault("is the key %s again", document.Quote(name)).within(key)
		}
		out[name] = object[key]
	}
	return out, true, nil
}
