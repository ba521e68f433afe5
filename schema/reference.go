package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Markdown returns the key reference of the kind: a table for each shape that no earlier kind has. Every call returns the same
// bytes.
func (k *Kind) Markdown() string {
	known := references()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", k.title, k.text)
	fmt.Fprintf(&b, "This page and the JSON Schema [schema/%s.json](../schema/%s.json) are generated from the package [schema](../schema). "+
		"Editors use the JSON Schema for documents that begin with this line:\n\n```yaml\n# yaml-language-server: $schema=%s\n```\n\n", k.file, k.file, k.URL())
	b.WriteString("A needed key must be present. Unknown keys are refused, except those that begin with `x-`. A type that is a link is a mapping; " +
		"the link leads to its keys.\n")
	for _, s := range shapesOf(k.root) {
		if known[s] == k {
			s.table(&b, k, known)
		}
	}
	return b.String()
}

// references maps each shape to the first kind that has it. The reference of that kind describes the shape.
func references() map[*Shape]*Kind {
	known := map[*Shape]*Kind{}
	for _, k := range Kinds() {
		for _, s := range shapesOf(k.root) {
			if known[s] == nil {
				known[s] = k
			}
		}
	}
	return known
}

// shapesOf returns a shape and the shapes within it, in reading order.
func shapesOf(root *Shape) []*Shape {
	var order []*Shape
	seen := map[*Shape]bool{}
	var visit func(s *Shape)
	visit = func(s *Shape) {
		if seen[s] {
			return
		}
		seen[s] = true
		order = append(order, s)
		for _, k := range s.keys {
			k.of.eachShape(visit)
		}
		if s.others != nil {
			s.others.eachShape(visit)
		}
	}
	visit(root)
	return order
}

// eachShape calls yield with the possible shapes of a value and of its parts.
func (t *Type) eachShape(yield func(*Shape)) {
	switch {
	case t.shape != nil:
		yield(t.shape)
	case t.items != nil:
		t.items.eachShape(yield)
	case t.values != nil:
		t.values.eachShape(yield)
	}
	for _, c := range t.choices {
		c.eachShape(yield)
	}
	for _, c := range t.cases {
		yield(c.is)
	}
}

func (s *Shape) table(b *strings.Builder, k *Kind, known map[*Shape]*Kind) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", s.name, s.text)
	if len(s.keys) == 0 {
		return
	}
	b.WriteString("| key | type | default | meaning | example |\n|---|---|---|---|---|\n")
	for _, key := range s.keys {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", key.name, cell(key.of.show(k, known)), cell(key.absent()), cell(key.text), cell(code(key.written())))
	}
}

// absent describes the default of the key.
func (k Key) absent() string {
	switch {
	case k.needed:
		return "needed"
	case k.fallback != nil:
		text, _ := json.Marshal(k.fallback)
		return code(strings.Trim(string(text), `"`))
	}
	return k.without
}

// written returns the example as written in a document. It quotes a text that begins with a brace, which would otherwise be a
// mapping.
func (k Key) written() string {
	switch {
	case !strings.HasPrefix(k.example, "{{"):
		return k.example
	case strings.Contains(k.example, `"`):
		return "'" + k.example + "'"
	}
	return `"` + k.example + `"`
}

func code(text string) string { return "`" + text + "`" }

// cell escapes a text for a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// show formats a type for people, with links to its shapes.
func (t *Type) show(k *Kind, known map[*Shape]*Kind) string {
	switch {
	case t.shape != nil:
		return t.shape.link(k, known)
	case t.items != nil:
		return "list of " + t.items.show(k, known)
	case t.values != nil:
		return "mapping of " + t.values.show(k, known)
	case t.cases != nil && t.name != "step":
		return t.links(k, known)
	case t.choices != nil && t.name == "":
		return t.links(k, known)
	case t.name != "":
		if s := t.link(k, known); s != "" {
			return s
		}
		return t.name
	}
	var words []string
	for _, word := range t.rule["enum"].([]any) {
		words = append(words, code(fmt.Sprint(word)))
	}
	return strings.Join(words, ", ")
}

// links formats each of the choices.
func (t *Type) links(k *Kind, known map[*Shape]*Kind) string {
	var all []string
	for _, c := range t.choices {
		all = append(all, c.show(k, known))
	}
	for _, c := range t.cases {
		all = append(all, c.is.link(k, known))
	}
	return strings.Join(all, " or ")
}

// link formats a type that has a name and parts: the name, with a link to the description of its parts.
func (t *Type) link(k *Kind, known map[*Shape]*Kind) string {
	if t.choices == nil && t.cases == nil {
		return ""
	}
	var links []string
	t.eachShape(func(s *Shape) {
		if link := s.link(k, known); !slices.Contains(links, link) {
			links = append(links, link)
		}
	})
	if links == nil {
		return ""
	}
	return t.name + ": " + strings.Join(links, ", ")
}

func (s *Shape) link(k *Kind, known map[*Shape]*Kind) string {
	page := ""
	if kind := known[s]; kind != k {
		page = kind.file + ".md"
	}
	return "[" + s.name + "](" + page + "#" + strings.ToLower(s.name) + ")"
}
