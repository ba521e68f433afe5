package gotypes

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// Declarations are the documents of declared types, by name.
type Declarations map[string]value.Value

// Derive returns the document of the type that a Go type stands for, and adds the types that it declares. name, if it is not
// "", is the name under which the type itself is declared, whatever its name is in Go.
func (d Declarations) Derive(t reflect.Type, name string) (doc value.Value, err error) {
	r := &deriver{into: d, open: map[reflect.Type]bool{}}
	if name != "" {
		if t.Kind() != reflect.Struct {
			return nil, fmt.Errorf("%s: must be a struct, to be declared as %q", t, name)
		}
		doc, err = r.record(t, t.String())
		if err == nil {
			err = r.declare(name, doc, t.String())
		}
		return map[string]any{"ref": name}, err
	}
	return r.derive(t, t.String())
}

// Types returns the declared types.
func (d Declarations) Types() (*schema.Types, error) {
	n, err := node(map[string]any(d))
	if err != nil {
		return nil, err
	}
	types, faults := schema.Read(n)
	if len(faults) > 0 {
		return nil, faults
	}
	return types, nil
}

// Read returns the type of a document among declared ones.
func Read(types *schema.Types, doc value.Value) (*schema.Type, error) {
	n, err := node(doc)
	if err != nil {
		return nil, err
	}
	t, faults := types.ReadType(n)
	if len(faults) > 0 {
		return nil, faults
	}
	return t, nil
}

// node returns a value as a document.
func node(v value.Value) (*document.Node, error) {
	data, err := value.JSON(v)
	if err != nil {
		return nil, err
	}
	nodes, err := document.Parse("", data, document.Limits{})
	if err != nil {
		return nil, err
	}
	return nodes[0], nil
}

// deriver makes the documents of one Go type and its parts. Places are paths of Go, as in Order.Lines.
type deriver struct {
	into Declarations
	open map[reflect.Type]bool // structs around the current one
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	unitType     = reflect.TypeFor[struct{}]()
)

// plain returns the word of a type without parts; "" if it has parts.
func plain(t reflect.Type) string {
	switch t {
	case timeType:
		return "time"
	case durationType:
		return "duration"
	case unitType:
		return "unit"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "int"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "nat"
	case reflect.String:
		return "text"
	case reflect.Slice:
		if isByte(t.Elem()) {
			return "bytes"
		}
	case reflect.Array:
		switch {
		case isByte(t.Elem()) && t.Len() == 16:
			return "uuid"
		case isByte(t.Elem()) && t.Len() == 32:
			return "hash"
		}
	}
	return ""
}

func isByte(t reflect.Type) bool { return t.Kind() == reflect.Uint8 }

// derive returns the document of a type.
func (r *deriver) derive(t reflect.Type, at string) (value.Value, error) {
	if word := plain(t); word != "" {
		return word, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		if t.Elem().Kind() == reflect.Pointer {
			return nil, refused(at, t, "an option has one null: use one pointer")
		}
		return r.part("option", t.Elem(), at)
	case reflect.Slice:
		return r.part("list", t.Elem(), at)
	case reflect.Map:
		if t.Elem() == unitType {
			return r.part("set", t.Key(), at)
		}
		return r.dictionary(t, at)
	case reflect.Struct:
		return r.structure(t, at)
	}
	return nil, refused(at, t, instead[t.Kind()])
}

// instead names the replacement of a type that cannot be converted.
var instead = map[reflect.Kind]string{
	reflect.Float32: "machines have no floats: use an integer of the smallest unit, or a string with the tag `type:\"dec128\"`",
	reflect.Float64: "machines have no floats: use an integer of the smallest unit, or a string with the tag `type:\"dec128\"`",
	reflect.Interface: "an interface does not say what it holds: use a type of its own, or a struct of pointers of which one is set, " +
		"with the tag `type:\"variant\"` of a field `_`",
	reflect.Array: "only [16]byte (uuid) and [32]byte (hash) are known: use a slice",
}

// refused is the error of a type that cannot be converted.
func refused(at string, t reflect.Type, why string) error {
	if why == "" {
		why = "it has no values that can be kept"
	}
	return fmt.Errorf("%s: %s: %s", at, t, why)
}

// part returns the document of a type with one part.
func (r *deriver) part(word string, elem reflect.Type, at string) (value.Value, error) {
	doc, err := r.derive(elem, at)
	if err != nil {
		return nil, err
	}
	return map[string]any{word: doc}, nil
}

func (r *deriver) dictionary(t reflect.Type, at string) (value.Value, error) {
	key := plain(t.Key())
	switch key {
	case "text", "int", "nat", "uuid", "hash":
	default:
		return nil, refused(at, t, "the keys of a map are strings, integers, [16]byte or [32]byte")
	}
	elem, err := r.derive(t.Elem(), at)
	if err != nil {
		return nil, err
	}
	return map[string]any{"map": map[string]any{"key": key, "value": elem}}, nil
}

// structure returns the document of a struct, which is a reference if it has a name.
func (r *deriver) structure(t reflect.Type, at string) (value.Value, error) {
	if r.open[t] {
		return nil, refused(at, t, "it contains itself, and a value would have no end: let it hold a key of the other")
	}
	place := at
	if t.Name() != "" {
		place = t.String()
	}
	doc, err := r.record(t, place)
	if err != nil || t.Name() == "" {
		return doc, err
	}
	return map[string]any{"ref": t.Name()}, r.declare(t.Name(), doc, at)
}

// declare adds a declaration.
func (r *deriver) declare(name string, doc value.Value, at string) error {
	if known, ok := r.into[name]; ok && !value.Equal(known, doc) {
		return fmt.Errorf("%s: another type is named %q too: rename one", at, name)
	}
	r.into[name] = doc
	return nil
}

// record returns the document of a struct's fields.
func (r *deriver) record(t reflect.Type, at string) (value.Value, error) {
	r.open[t] = true
	defer delete(r.open, t)
	list, err := fieldsOf(t, at)
	if err != nil {
		return nil, err
	}
	word := "record"
	if isVariant(t) {
		word = "variant"
	}
	fields := make(map[string]any, len(list))
	for _, f := range list {
		ft := f.field.Type
		if word == "variant" {
			if ft.Kind() != reflect.Pointer {
				return nil, refused(f.at, ft, "an arm is a pointer, nil if it is not the one that is set")
			}
			ft = ft.Elem()
		}
		if fields[f.name], err = r.field(f, ft); err != nil {
			return nil, err
		}
	}
	return map[string]any{word: fields}, nil
}

// field returns the document of a field: the type that its tag names, if it fits, or else the one that follows from its Go type.
func (r *deriver) field(f field, t reflect.Type) (value.Value, error) {
	text := f.field.Tag.Get("type")
	if text == "" {
		return r.derive(t, f.at)
	}
	given, err := Read(&schema.Types{}, text)
	if err != nil {
		return nil, fmt.Errorf("%s: type:%q: %w", f.at, text, err)
	}
	if _, err := compile(t, given, f.at); err != nil {
		return nil, err
	}
	return given.Document(), nil
}

// field is a field of a struct that is converted.
type field struct {
	field reflect.StructField
	name  string // in values
	at    string // in Go, as in Order.Lines
}

// fieldsOf returns the fields of a struct.
func fieldsOf(t reflect.Type, at string) (list []field, err error) {
	seen := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		x := field{field: f, name: f.Name, at: at + "." + f.Name}
		switch {
		case tag == "-" || f.Name == "_":
			continue
		case f.Anonymous:
			return nil, refused(x.at, f.Type, "an embedded field has no name of its own: give it one")
		case !f.IsExported():
			return nil, refused(x.at, f.Type, "it is not exported, and its value would be lost: export it, or leave it out with `json:\"-\"`")
		case tag != "":
			x.name = tag
		}
		if seen[x.name] {
			return nil, refused(x.at, f.Type, fmt.Sprintf("two fields are named %q", x.name))
		}
		seen[x.name] = true
		list = append(list, x)
	}
	return list, nil
}

// isVariant reports whether a struct is tagged as a variant.
func isVariant(t reflect.Type) bool {
	f, ok := t.FieldByName("_")
	return ok && f.Tag.Get("type") == "variant"
}
