package schema

// Kind is a kind of document.
type Kind struct {
	Name  string // the value of `kind`, and the argument of `sluice schema`
	file  string // name of its schema below schema/, and of its reference below docs/, without extension
	title string // heading of the reference
	text  string // first paragraphs of the reference
	root  *Shape
}

// Kinds returns all kinds of documents; kinds that can be run come first. The slice belongs to the caller.
func Kinds() []*Kind {
	return []*Kind{&workflowKind, &definitionKind, &playbookKind, &worldKind, &scenarioKind, &directoryKind}
}

// Find returns the kind with that name, or nil.
func Find(name string) *Kind {
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Shape is a mapping with known keys. Keys that begin with x- are free in every shape.
type Shape struct {
	name   string // of its definition
	text   string // its meaning
	keys   []Key
	others *Type          // type of the values of other keys; nil: only keys that begin with x- are allowed
	rule   map[string]any // further keywords of JSON Schema
}

// Key is a key of a mapping.
type Key struct {
	name     string
	of       *Type
	needed   bool
	fallback any    // the default; nil: see without
	without  string // the default in words
	text     string // the meaning of the key
	example  string // a value, as YAML; also in the JSON Schema
}

// Type is the type of a value.
type Type struct {
	name    string         // as in the reference
	rule    map[string]any // JSON Schema of a type without parts
	items   *Type          // of a list
	values  *Type          // of a mapping whose keys the author chooses
	shape   *Shape
	choices []*Type // one for each kind of value: text, list, mapping
	cases   []oneCase
	unless  *unless
}

// oneCase is the shape of mappings that have a key, or a certain text as the value of the key.
type oneCase struct {
	key   string // "": any other mapping
	texts []any  // nil: the key has any value
	is    *Shape
}

// unless defines the mappings in which a type does not count: the value then has one of these types.
type unless struct {
	types []any
	has   map[string]any // as JSON Schema
	looks func(map[string]any) bool
}

func key(name string, of *Type, text, example string) Key {
	return Key{name: name, of: of, text: text, example: example}
}

// required makes the key required.
func (k Key) required() Key { k.needed = true; return k }

// withDefault sets the default of the key.
func (k Key) withDefault(fallback any) Key { k.fallback = fallback; return k }

// withDefaultText describes the default in words.
func (k Key) withDefaultText(words string) Key { k.without = words; return k }

func scalar(name string, rule map[string]any) *Type { return &Type{name: name, rule: rule} }

func choice(texts ...any) *Type { return &Type{rule: map[string]any{"enum": texts}} }

func list(of *Type) *Type { return &Type{items: of} }

func mapOf(of *Type) *Type { return &Type{values: of} }

func is(shape *Shape) *Type { return &Type{shape: shape} }

func either(choices ...*Type) *Type { return &Type{choices: choices} }

// narrowed narrows a type by further keywords of JSON Schema.
func (t *Type) narrowed(name string, rule map[string]any) *Type {
	narrow := *t
	narrow.name, narrow.rule = name, rule
	return &narrow
}

// The types of values. A word is a text that must not be empty. Durations are those of package duration.
var (
	anything = scalar("any value", nil)
	text     = scalar("text", map[string]any{"type": "string"})
	word     = scalar("text", map[string]any{"type": "string", "minLength": 1})
	boolean  = scalar("boolean", map[string]any{"type": "boolean"})
	count    = scalar("integer ≥ 1", map[string]any{"type": "integer", "minimum": 1})
	number   = scalar("number", map[string]any{"type": "number"})
	free     = scalar("mapping", map[string]any{"type": "object"})
	values   = scalar("list", map[string]any{"type": "array"})
	argument = scalar("text or integer", map[string]any{"type": []any{"string", "integer"}})
	instant  = scalar("RFC 3339 time", map[string]any{"type": "string", "pattern": `^[0-9]{4}-[0-9]{2}-[0-9]{2}T`})
	duration = scalar("ISO 8601 duration > 0", map[string]any{"type": "string", "maxLength": 200,
		"pattern": `^P([0-9]+(\.[0-9]+)?W)?([0-9]+(\.[0-9]+)?D)?(T([0-9]+(\.[0-9]+)?H)?([0-9]+(\.[0-9]+)?M)?([0-9]+(\.[0-9]+)?S)?)?$`,
		"not":     map[string]any{"pattern": "[PT]$|^[^1-9]*$"}})
	texts   = list(text)
	textMap = mapOf(argument)
)
