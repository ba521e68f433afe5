package schema

import "github.com/sluiceflow/sluice/template/value"

// Document returns the normal form of the type where it is used: {ref: Name} of a declared type, and otherwise its
// definition, as in {list: {int: {}}}. ReadType of it returns an equal type.
func (t *Type) Document() value.Value {
	if t.Name != "" {
		return map[string]any{"ref": t.Name}
	}
	return t.definition()
}

// definition returns the normal form of a type's definition, not of its name.
func (t *Type) definition() value.Value {
	word := t.Kind.String()
	switch t.Kind {
	case Record, Variant:
		fields := make(map[string]any, len(t.Fields))
		for _, f := range t.Fields {
			fields[f.Name] = f.Type.Document()
		}
		return map[string]any{word: fields}
	case Map:
		return map[string]any{word: map[string]any{"key": t.Key.Document(), "value": t.Elem.Document()}}
	case List, Set, Option:
		return map[string]any{word: t.Elem.Document()}
	}
	return map[string]any{word: map[string]any{}}
}

// Document returns the normal form of the declarations: a mapping from names to definitions. Read of it
// returns equal types.
func (ts *Types) Document() value.Value {
	all := make(map[string]any, len(ts.byName))
	for name, t := range ts.byName {
		if t.alias != nil {
			all[name] = t.alias.Document()
		} else {
			all[name] = t.definition()
		}
	}
	return all
}

// String returns the type as a text such as list<Order>. Of a record or a variant without a name it
// returns only the kind.
func (t *Type) String() string {
	switch {
	case t.Name != "":
		return t.Name
	case t.Kind == Map:
		return "map<" + t.Key.String() + ", " + t.Elem.String() + ">"
	case t.Elem != nil:
		return t.Kind.String() + "<" + t.Elem.String() + ">"
	}
	return t.Kind.String()
}
