package purity

import (
	"fmt"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// examined marks a package as analyzed: it is not of the standard library, whatever its path.
type examined struct{}

// AFact marks a fact.
func (*examined) AFact() {}

// summary describes a function or variable to the packages that import it.
type summary struct {
	Impure  *finding // the nearest impurity; nil: pure
	Changes []change // made by a function through its parameters
	Defines []int    // the parameters that it passes on to machine.Define or Migrate; the receiver is -1
	Sorts   []int    // the parameters whose elements it sorts
}

// AFact marks a fact.
func (*summary) AFact() {}

func (s *summary) String() string {
	if s.Impure == nil {
		return fmt.Sprint("pure", s.Changes)
	}
	return s.Impure.text()
}

// finding is an impurity, and how it is reached.
type finding struct {
	What, Instead string
	Where         string   // file:line:col of the impurity
	Chain         []string // functions called on the way to it, with the places of the calls
}

func (f *finding) text() string {
	by := ""
	if len(f.Chain) > 0 {
		by = ", reached by way of " + strings.Join(f.Chain, ", ")
	}
	return fmt.Sprintf("%s at %s%s; %s", f.What, f.Where, by, f.Instead)
}

// change is a change that a function makes to the referent of a parameter; -1 is the receiver.
type change struct {
	Param int
	Where string
	Fills bool // it only sets, counts or deletes elements of a map by keys
}

// changes records a change of a parameter, and reports whether it is new.
func (s *summary) changes(c change) bool {
	for i := range s.Changes {
		if was := &s.Changes[i]; was.Param == c.Param {
			isNews := was.Fills && !c.Fills
			if isNews {
				*was = c
			}
			return isNews
		}
	}
	s.Changes = append(s.Changes, c)
	return true
}

// place returns the place of a position, without the folder of the package.
func (x *examiner) place(pos token.Pos) string {
	p := x.Fset.Position(pos)
	return fmt.Sprintf("%s:%d:%d", filepath.Base(p.Filename), p.Line, p.Column)
}

// qualified returns a place with the path of its package.
func qualified(pkg *types.Package, place string) string {
	if strings.Contains(place, "/") {
		return place
	}
	return path.Join(pkg.Path(), place)
}

// factOf returns the summary of an object of another package, or nil.
func (x *examiner) factOf(obj types.Object) *summary {
	var s summary
	if obj.Pkg() == nil || obj.Pkg() == x.Pkg || !x.ImportObjectFact(obj, &s) {
		return nil
	}
	return &s
}

// summaryOf returns the known summary of a function of any package.
func (x *examiner) summaryOf(f *types.Func) *summary {
	if n := x.nodes[f]; n != nil {
		return &n.summary
	}
	if s := x.factOf(f); s != nil {
		return s
	}
	return &summary{}
}

// exportFacts exports the facts about the package's objects, with places that name the package.
func (x *examiner) exportFacts() {
	for obj, n := range x.nodes {
		s := n.summary
		if n.nearest != nil {
			f := *n.nearest
			f.Where, f.Chain = qualified(x.Pkg, f.Where), slices.Clone(f.Chain)
			for i, call := range f.Chain {
				name, at, _ := strings.Cut(call, " (")
				f.Chain[i] = fmt.Sprintf("%s (%s)", name, qualified(x.Pkg, strings.TrimSuffix(at, ")")))
			}
			s.Impure = &f
		}
		s.Changes = slices.Clone(s.Changes)
		for i := range s.Changes {
			s.Changes[i].Where = qualified(x.Pkg, s.Changes[i].Where)
		}
		if s.Impure != nil || len(s.Changes)+len(s.Defines)+len(s.Sorts) > 0 {
			x.ExportObjectFact(obj, &s)
		}
	}
}
