package template

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/fields"
)

// spot is the position of an element in a list of steps, below the element that contains the list. The spots of two items
// determine whether one is inside the other or comes later.
type spot struct {
	item    *Item    // nil for a sequential or parallel
	up      *spot    // the element around it; nil at the root
	depth   int      // number of elements around it
	branch  int8     // the list of up that contains it: 0, or 1 for else
	index   int      // in that list
	ordered bool     // whether elements of that list run one after the other
	names   []string // that expressions may read there
}

// list is a list of steps and the element that contains it.
type list struct {
	path    string
	ordered bool
	up      *spot
	branch  int8  // its number among the lists of up
	parent  *Item // innermost conditional or map
	within  int8  // the branch of parent that contains it, possibly through other containers
	each    *Item // innermost map
	names   []string
}

// elements adds the items of a list of steps in template order, with their ids, and applies the checks of single items.
func (c *checker) elements(steps []Node, l list) {
	for i, n := range steps {
		path := c.elementPath(n, l.path, i)
		s := &spot{up: l.up, branch: l.branch, index: i, ordered: l.ordered, names: l.names}
		if l.up != nil {
			s.depth = l.up.depth + 1
		}
		if s.depth > DepthMax {
			c.faultf(path, c.near(path), "containers nest deeper than %d", DepthMax)
			return
		}
		inner := list{up: s, parent: l.parent, within: l.within, each: l.each, names: l.names}
		switch n := n.(type) {
		case *Step:
			c.add(s, l, n, n.ID, path)
			c.step(n, path)
		case *Sequential:
			inner.path, inner.ordered = path+".sequential.steps", true
			c.elements(n.Steps, inner)
		case *Parallel:
			inner.path = path + ".parallel.steps"
			c.limit(path+".parallel.max_concurrency", n.Pos, n.MaxConcurrency)
			c.elements(n.Steps, inner)
		case *Conditional:
			it := c.add(s, l, n, n.ID, path)
			c.conditional(n, path+".conditional")
			inner.parent, inner.ordered, inner.path, inner.within = it, true, path+".conditional.then", 0
			c.elements(n.Then, inner)
			inner.branch, inner.path, inner.within = 1, path+".conditional.else", 1
			c.elements(n.Else, inner)
		case *Map:
			it := c.add(s, l, n, n.ID, path)
			c.each(n, path+".map")
			inner.parent, inner.within, inner.each, inner.ordered, inner.path = it, 0, it, true, path+".map.steps"
			inner.names = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(l.names), n.As, "index"))))
			c.elements(n.Steps, inner)
		default:
			c.faultf(path, c.w.Pos, "a tree cannot contain a %T", n)
		}
	}
}

// elementPath returns the path of an element: in the document, where it may differ from the path in the tree, or in the tree if
// the tree was built in Go.
func (c *checker) elementPath(n Node, list string, i int) string {
	if c.w.source != nil {
		if path := n.pos().Path; path != "" {
			return path
		}
	}
	return list + "[" + strconv.Itoa(i) + "]"
}

// add adds the item of an element and its id.
func (c *checker) add(s *spot, l list, n Node, id, path string) *Item {
	it := &Item{
		Index: len(c.checked.Items), Node: n, ID: id, Path: path, Parent: l.parent, Branch: l.within, Map: l.each,
	}
	s.item = it
	c.checked.Items = append(c.checked.Items, it)
	c.spots = append(c.spots, s)
	if c.checked.Of[n] != nil {
		c.faultf(path, it.Pos(), "step %q is in the tree twice", id)
		return it
	}
	c.checked.Of[n] = it
	c.recordID(it)
	return it
}

// IDBytesMax bounds the id of a step or a run.
const IDBytesMax = 128

// ValidID returns an error that quotes id if it cannot be the id of a step or a run. Keys are composed of ids, and check[2],
// run/step and step#1 must be unambiguous: an id is printable, and contains no white space and none of / [ ] #.
func ValidID(id string) error { return document.ValidName("an id", id, "/[]#", IDBytesMax) }

// recordID checks and records an item's id. A map must have one.
func (c *checker) recordID(it *Item) {
	if it.ID == "" {
		if _, isMap := it.Node.(*Map); isMap {
			c.faultf(c.idPath(it), it.Pos(), "id is missing")
		}
		return
	}
	if err := ValidID(it.ID); err != nil {
		path, remedy := c.idPath(it), ""
		if strings.HasSuffix(path, ".operation") {
			remedy = ": the name of the operation is no id, so give the step one"
		}
		c.fault(path, it.Pos(), &document.Error{Text: it.ID, Msg: "invalid step id " + err.Error() + remedy})
	}
	if first := c.checked.ByID[it.ID]; first != nil {
		c.fault(c.idPath(it), it.Pos(), &document.Error{Text: it.ID,
			Msg: fmt.Sprintf("duplicate step id %q, first at %s", it.ID, first.Path)})
		return
	}
	c.checked.ByID[it.ID] = it
	c.ids = append(c.ids, it.ID)
}

// idPath returns the path of an item's id, or of the operation that is its default.
func (c *checker) idPath(it *Item) string {
	switch n := it.Node.(type) {
	case *Conditional:
		return it.Path + ".conditional.id"
	case *Map:
		return it.Path + ".map.id"
	case *Step:
		if n.ID == n.Operation && !c.hasValueAt(it.Path+".id") {
			return it.Path + ".operation"
		}
	}
	return it.Path + ".id"
}

var (
	nameForm     = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,499}$`)
	variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// reservedNames cannot name a map's item: they have another meaning in expressions.
var reservedNames = []string{"input", "run", "steps", "index", "participant", "attempt", "true", "false", "null", "nil", "let", "if", "else", "not", "in", "and", "or"}

// root checks the keys of the workflow other than the steps.
func (c *checker) root() {
	w := c.w
	switch {
	case w.Name == "":
		c.faultf(c.rootPath("name"), w.Pos, "name is missing")
	case !nameForm.MatchString(w.Name):
		c.fault(c.rootPath("name"), w.Pos, &document.Error{Text: w.Name,
			Msg: fmt.Sprintf("invalid name %s: a name has a-z, 0-9, dots, dashes and underscores, at most 500", document.Quote(w.Name))})
	}
	c.duration(c.rootPath("deadline"), w.Pos, w.Deadline)
	c.oneOf(c.rootPath("failure_policy"), w.Pos, string(w.FailurePolicy),
		string(ContinueRunning), string(AbortDependents), string(AbortAll))
	c.limit(c.rootPath("max_concurrency"), w.Pos, w.MaxConcurrency)
	if w.Directory != nil {
		c.directory(w.Directory, w.Pos.Key("directory"))
	}
}

// limit checks a maximum number of slots or participants. Zero means no limit in the tree; the reader refuses it in a document.
func (c *checker) limit(path string, near document.Pos, n int) {
	if n < 0 {
		c.faultf(path, near, "%s must be at least 1, not %d", fields.LastKey(path), n)
	}
}

// conditional checks that there is exactly one test. The names in it are checked when all ids are known.
func (c *checker) conditional(n *Conditional, path string) {
	switch {
	case n.Func != nil && n.Test != "":
		c.faultf(path+".func", n.Pos, "func cannot be combined with test")
	case n.Func == nil && n.Test == "" && !c.w.refused[path+".func"]:
		c.faultf(path+".test", n.Pos, "test is missing")
	}
	c.function(n.Func, path+".func")
}

// each checks a map: it has exactly one list; expressions can use the name of its item; and it has steps, because the output of
// its last step is the item's output.
func (c *checker) each(n *Map, path string) {
	switch {
	case n.Func != nil && n.Over != nil:
		c.faultf(path+".func", n.Pos, "func cannot be combined with over")
	case n.Func == nil && n.Over == nil && !c.w.refused[path+".func"]:
		c.faultf(path+".over", n.Pos, "over is missing")
	}
	c.function(n.Func, path+".func")
	if !variableForm.MatchString(n.As) || slices.Contains(reservedNames, n.As) {
		c.fault(path+".as", n.Pos, &document.Error{Text: n.As,
			Msg: fmt.Sprintf("as cannot be %s: use a name that expressions can read and that has no other meaning", document.Quote(n.As))})
	}
	c.limit(path+".max_concurrency", n.Pos, n.MaxConcurrency)
	if len(n.Steps) == 0 {
		c.faultf(path+".steps", n.Pos, "steps must not be empty: the output of the last step is the item's")
	}
}

// function checks that a Func has a name. Only the program that runs the workflow knows whether a function has that name.
func (c *checker) function(f *Func, path string) {
	if f != nil && f.Name == "" {
		c.faultf(path+".name", f.Pos, "name is missing")
	}
}
