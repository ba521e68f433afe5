package schema

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/sluiceflow/sluice/template/document"
)

// Base is the address under which the schemas are published.
const Base = "https://raw.githubusercontent.com/sluiceflow/sluice/main/schema/"

// URL returns the address of the published schema of the kind. The modeline of a document names it.
func (k *Kind) URL() string { return Base + k.file + ".json" }

// JSON returns the JSON Schema (draft 7) of the kind, indented and with a final newline. Every call returns the same bytes.
func (k *Kind) JSON() []byte {
	d := definitions{}
	root := d.object(k.root)
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["$id"] = k.URL()
	root["title"] = k.title
	root["definitions"] = map[string]any(d)
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	_ = e.Encode(root) // of texts, numbers, lists and mappings
	return text.Bytes()
}

// definitions are the shapes that a schema refers to, by name.
type definitions map[string]any

func (d definitions) ref(s *Shape) map[string]any {
	if _, known := d[s.name]; !known {
		d[s.name] = nil // it may refer to itself
		d[s.name] = d.object(s)
	}
	return map[string]any{"$ref": "#/definitions/" + s.name}
}

func (d definitions) object(s *Shape) map[string]any {
	properties := map[string]any{}
	var needed []any
	var guarded []any
	for _, k := range s.keys {
		properties[k.name] = d.property(k)
		if k.needed {
			needed = append(needed, k.name)
		}
		if u := k.of.unless; u != nil {
			guarded = append(guarded, map[string]any{"if": u.has,
				"else": map[string]any{"properties": map[string]any{k.name: d.schema(k.of)}}})
			properties[k.name] = map[string]any{"description": plain(k.text), "type": u.types, "examples": k.examples()}
		}
	}
	o := map[string]any{"type": "object", "description": plain(s.text), "properties": properties}
	if s.others != nil {
		o["additionalProperties"] = d.schema(s.others)
	} else {
		o["additionalProperties"] = false
		o["patternProperties"] = map[string]any{"^x-": true}
	}
	if needed != nil {
		o["required"] = needed
	}
	if guarded != nil {
		o["allOf"] = guarded
	}
	for word, rule := range s.rule {
		o[word] = rule
	}
	return o
}

// property returns a key with its description for editors. It uses allOf, because draft 7 ignores keys beside a $ref.
func (d definitions) property(k Key) map[string]any {
	p := d.schema(k.of)
	if p["$ref"] != nil {
		p = map[string]any{"allOf": []any{p}}
	}
	p["description"], p["examples"] = plain(k.text), k.examples()
	if k.fallback != nil {
		p["default"] = k.fallback
	}
	return p
}

func (d definitions) schema(t *Type) map[string]any {
	s := map[string]any{}
	switch {
	case t.shape != nil:
		return d.ref(t.shape)
	case t.items != nil:
		s["type"], s["items"] = "array", d.schema(t.items)
	case t.values != nil:
		s["type"], s["additionalProperties"] = "object", d.schema(t.values)
	case t.choices != nil:
		var all []any
		for _, c := range t.choices {
			all = append(all, d.schema(c))
		}
		s["anyOf"] = all
	case t.cases != nil:
		s = d.casesSchema(t.cases)
		s["type"] = "object"
	}
	for word, rule := range t.rule {
		s[word] = rule
	}
	return s
}

// casesSchema tries the shapes in turn, so that an editor reports the faults of one shape and not of all.
func (d definitions) casesSchema(cases []oneCase) map[string]any {
	c := cases[0]
	if c.key == "" {
		return d.ref(c.is)
	}
	test := map[string]any{"required": []any{c.key}}
	if c.texts != nil {
		test["properties"] = map[string]any{c.key: map[string]any{"enum": c.texts}}
	}
	return map[string]any{"if": test, "then": d.ref(c.is), "else": d.casesSchema(cases[1:])}
}

// examples returns the example of the key as a value. A test reads each example.
func (k Key) examples() []any {
	nodes, _ := document.Parse("", []byte("x: "+k.written()), document.Limits{})
	return []any{nodes[0].Get("x").Value()}
}

// link matches a link of Markdown.
var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// plain returns a text without links: relative links have no meaning in an editor.
func plain(text string) string { return link.ReplaceAllString(text, "$1") }
