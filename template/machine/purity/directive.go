package purity

import (
	"go/ast"
	"strings"
)

// directive precedes a function that is pure for a reason that the analyzer cannot see, such as a cache in a library.
const directive = "//sluice:pure"

// directives trusts the functions that have the directive with a reason, and reports those without one.
func (x *examiner) directives() {
	for _, b := range x.bodies {
		d, ok := b.syntax.(*ast.FuncDecl)
		if !ok || d.Doc == nil {
			continue
		}
		for _, c := range d.Doc.List {
			reason, ok := strings.CutPrefix(c.Text, directive)
			if !ok {
				continue
			}
			if strings.TrimSpace(reason) == "" {
				x.Reportf(c.Pos(), "%s needs a reason, as in %s the table is built once and never changes", directive, directive)
				continue
			}
			*b.node = node{name: b.node.name, trusted: true, summary: summary{Defines: b.node.summary.Defines}}
		}
	}
}
