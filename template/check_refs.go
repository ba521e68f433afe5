package template

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// item compiles the texts of an item and resolves the names in them. It is called when all ids are known.
func (c *checker) item(s *spot) {
	it := s.item
	switch n := it.Node.(type) {
	case *Step:
		it.Input = c.template(s, it.Path, "input", n.Input, n.Func)
		for i, id := range n.Needs {
			path := fmt.Sprintf("%s.needs[%d]", it.Path, i)
			if target := c.reference(id, s, path); target != nil && !slices.Contains(it.Needs, target) {
				it.Needs = append(it.Needs, target)
			}
		}
		if n.Fulfillment != nil && n.Fulfillment.Source != nil && n.Fulfillment.Source.Input != nil {
			it.Asks = c.compileDecisionInput(s, it.Path+".fulfillment.decision_source.input", n.Fulfillment.Source.Input)
		}
	case *Conditional:
		path := it.Path + ".conditional"
		if n.Func == nil && !strings.Contains(n.Test, "{{") {
			c.bareTest(s, path+".test", n.Test)
			return
		}
		it.Test = c.template(s, path, "test", expr.Trim(n.Test), n.Func)
		if it.Test != nil && it.Test.Text() {
			c.fault(path+".test", n.Pos, &document.Error{Text: n.Test, Msg: "test must be a step id or one expression, not " + document.Quote(n.Test)})
		}
	case *Map:
		it.Over = c.template(s, it.Path+".map", "over", expr.Trim(n.Over), n.Func)
	}
}

// template compiles the value of key at path, or the arguments of the function that replaces it.
func (c *checker) template(s *spot, path, key string, v value.Value, f *Func) *expr.Template {
	path += "." + key
	if f != nil {
		args := make([]any, len(f.Args))
		copy(args, f.Args)
		path, v = strings.TrimSuffix(path, key)+"func.args", args
	}
	return c.compile(path, v, s.names, func(r expr.Read, path string) {
		if target := c.read(r, s, path); target != nil {
			s.item.addRead(Read{Target: target, Field: r.Field, Defaulted: r.Defaulted})
			c.defaults = append(c.defaults, mention{r, s, path})
		}
	})
}

// addRead records a read. It merges reads of one field of one target.
func (it *Item) addRead(r Read) {
	for i := range it.Reads {
		if known := &it.Reads[i]; known.Target == r.Target && known.Field == r.Field {
			known.Defaulted = known.Defaulted && r.Defaulted
			return
		}
	}
	it.Reads = append(it.Reads, r)
}

// compileDecisionInput compiles the input of a decision source. The input is rendered after the step has completed, so it may read the step
// itself, and it adds no edges.
func (c *checker) compileDecisionInput(s *spot, path string, v value.Value) *expr.Template {
	return c.compile(path, v, s.names, func(r expr.Read, path string) {
		if r.Step != s.item.ID {
			c.read(r, s, path)
		}
	})
}

// bareTest resolves a test that is not an expression: an id, or an operation that only one step calls.
func (c *checker) bareTest(s *spot, path, test string) {
	if test == "" {
		return
	}
	id := test
	if c.checked.ByID[id] == nil {
		var calling []string
		for _, it := range c.checked.Items {
			if n, ok := it.Node.(*Step); ok && n.Operation == test {
				calling = append(calling, it.ID)
			}
		}
		if len(calling) > 1 {
			c.fault(path, s.item.Pos(), &document.Error{Text: test,
				Msg: fmt.Sprintf("test %q is ambiguous: steps %s call that operation", test, strings.Join(calling, ", "))})
			return
		}
		if len(calling) == 1 {
			id = calling[0]
		}
	}
	if target := c.reference(id, s, path); target != nil {
		s.item.TestID = target.ID
		s.item.addRead(Read{Target: target, Field: expr.Status})
	}
}

// read resolves the names that an expression of the item at s reads; s is nil for the output of the run. The rules for all
// references apply. In addition, the output of a step that may be skipped needs a default.
func (c *checker) read(r expr.Read, s *spot, path string) *Item {
	target := c.reference(r.Step, s, path)
	if target == nil || r.Field != expr.Output && r.Field != expr.Reports {
		return target
	}
	if _, isStep := target.Node.(*Step); r.Field == expr.Reports {
		if !isStep {
			c.fault(path, c.nearSpot(s), &document.Error{Text: r.Text, Msg: fmt.Sprintf("%q makes no call, so it has no reports: read those of a step", r.Step)})
			return nil
		}
		return target
	}
	if _, isConditional := target.Node.(*Conditional); isConditional {
		c.fault(path, c.nearSpot(s), &document.Error{Text: r.Text, Msg: fmt.Sprintf("conditional %q has no output: read a step of its branches", r.Step)})
		return nil
	}
	if !r.Defaulted && !r.Optional && mayBeSkipped(s, c.spots[target.Index]) {
		c.fault(path, c.nearSpot(s), &document.Error{Text: r.Text,
			Msg: fmt.Sprintf("step %q may be skipped: give a default with ??", r.Step)})
		return nil
	}
	return target
}

func (c *checker) nearSpot(s *spot) document.Pos {
	if s == nil {
		return c.w.Pos
	}
	return s.item.Pos()
}

// reference resolves an id in the item at s, or reports the reason that s cannot refer to it.
func (c *checker) reference(id string, s *spot, path string) *Item {
	target := c.checked.ByID[id]
	if target == nil {
		near := c.speller.Nearest(id, slices.Values(c.ids))
		c.fault(path, c.nearSpot(s), &document.Error{Text: id, Msg: fmt.Sprintf("unknown step %q", id), Suggestion: near})
		return nil
	}
	t := c.spots[target.Index]
	if each := mapAround(t, s); each != nil {
		c.fault(path, c.nearSpot(s), &document.Error{Text: id, Msg: fmt.Sprintf("step %q is inside map %q", id, each.ID)})
		return nil
	}
	if s == nil {
		return target
	}
	switch msg := order(s, t); msg {
	case before:
		return target
	case later:
		c.fault(path, s.item.Pos(), &document.Error{Text: id, Msg: fmt.Sprintf("step %q comes later", id)})
	case around:
		text := cycleText(id, s.item.ID)
		c.fault(path, s.item.Pos(), &document.Error{Text: text, Msg: "cycle: " + text})
	}
	return nil
}

// cycleText describes the cycle of an item that waits for itself or for an item that contains it.
func cycleText(outer, inner string) string {
	if inner == "" || inner == outer {
		return outer + " -> " + outer
	}
	return outer + " -> " + inner + " -> " + outer
}

// The positions of an item relative to one that refers to it.
const (
	before = iota // the order of the tree allows the item to wait for it
	later         // a sequence runs it after the item
	around        // it is the item itself, or contains it
)

// order returns the position of t relative to s. Elements of a parallel may wait for each other: compilation finds cycles among
// them when all edges are known.
func order(s, t *spot) int {
	isDeeper := t.depth > s.depth
	for s.depth > t.depth {
		s = s.up
	}
	for t.depth > s.depth {
		t = t.up
	}
	if s == t {
		if isDeeper {
			return later // a test cannot wait for its own branches, and a list cannot wait for the steps of its items
		}
		return around
	}
	for s.up != t.up {
		s, t = s.up, t.up
	}
	if s.ordered && s.branch == t.branch && t.index > s.index {
		return later
	}
	return before
}

// mapAround returns the outermost map that contains t but not s.
func mapAround(t, s *spot) *Item {
	var outermost *Item
	for each := t.item.Map; each != nil; each = each.Map {
		if s != nil && isInMap(s.item, each) {
			break
		}
		outermost = each
	}
	return outermost
}

// isInMap reports whether a map contains an item.
func isInMap(it, each *Item) bool {
	for m := it.Map; m != nil; m = m.Map {
		if m == each {
			return true
		}
	}
	return false
}

// mayBeSkipped reports whether t is in a branch that does not contain s.
func mayBeSkipped(s, t *spot) bool {
	for at := t.item; at.Parent != nil; at = at.Parent {
		if _, ok := at.Parent.Node.(*Conditional); ok && !inBranch(s, at.Parent, at.Branch) {
			return true
		}
	}
	return false
}

// inBranch reports whether s is in the given branch of a conditional.
func inBranch(s *spot, conditional *Item, branch int8) bool {
	if s == nil {
		return false
	}
	for at := s.item; at.Parent != nil; at = at.Parent {
		if at.Parent == conditional {
			return at.Branch == branch
		}
	}
	return false
}
