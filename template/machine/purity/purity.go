// Package purity implements an analyzer that reports nondeterminism in the steps of machines: clocks, randomness, the operating
// system, goroutines, variables that outlive an activation, addresses, and the order of maps. The command machinevet runs it under
// go vet.
//
// # What is followed
//
// The analyzer begins at the arguments of machine.Define and machine.Migrate, also where a function passes on its own, and follows
// everything named there: a named function counts as called, whether it is called, deferred, passed on, or kept in a variable. So
// function values need not be traced. A method is followed through an interface where a value is converted to the interface. A
// variable of a package is followed to its initial value and to the init functions that assign it, and is impure if anything else
// of its package changes it, by assignment or through an alias, an argument or a receiver.
//
// The findings in a package are exported as facts about its functions and variables, so that a chain of calls may lead through any
// number of packages, those of other modules included. The standard library is judged by a table (std.go), as it has caches, pools
// and assembly that results do not depend on. The methods of an activation are pure by definition.
//
// # What is not found
//
// Functions without a body (assembly) and functions called by reflection count as pure. A variable that another package assigns is
// taken for constant. A map filled by keys that two entries share, an order that a comparison leaves open, and the rounding of
// floats on other processors are not seen. Where the analyzer errs, activations that are run twice in tests find the difference.
package purity

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// machinePath is the package whose functions define machines.
const machinePath = "github.com/sluiceflow/sluice/template/flow/machine"

// Analyzer reports the impurities of the arguments of machine.Define and machine.Migrate.
var Analyzer = &analysis.Analyzer{
	Name:      "purity",
	Doc:       "report code by which a step of a machine may return another result the next time",
	URL:       "https://github.com/sluiceflow/sluice/blob/main/docs/machinevet.md",
	Run:       run,
	FactTypes: []analysis.Fact{(*summary)(nil), (*examined)(nil)},
}

// examiner examines one package.
type examiner struct {
	*analysis.Pass
	nodes  map[types.Object]*node // functions, methods and variables of the package
	bodies []*body                // in the order of the source

	asserted []*types.Interface // interfaces that the package asserts of values
}

func run(pass *analysis.Pass) (any, error) {
	if _, ok := judged(pass.Pkg.Path()); ok && (pass.Module == nil || pass.Module.Path == "" || pass.Module.Path == "std") {
		return nil, nil
	}
	pass.ExportPackageFact(&examined{})
	x := &examiner{Pass: pass, nodes: map[types.Object]*node{}}
	x.declare()
	x.assertions()
	x.aliases()
	x.settleChanges()
	x.settleSorts()
	for _, b := range x.bodies {
		(&reader{examiner: x, body: b, node: b.node}).read(b.syntax)
	}
	x.noteChanges()
	x.directives()
	x.settleNearest()
	roots := x.roots()
	if pass.Pkg.Path() != machinePath {
		x.reportRoots(roots)
		x.valued()
	}
	x.exportFacts()
	return nil, nil
}

// standard returns the judgement of the package of an object, and whether the object is of the standard library.
func (x *examiner) standard(obj types.Object) (judgement, bool) {
	if obj.Pkg() == nil || obj.Pkg() == x.Pkg {
		return judgement{}, false
	}
	j, ok := judged(obj.Pkg().Path())
	return j, ok && !x.ImportPackageFact(obj.Pkg(), &examined{})
}

// isTest reports whether a node is in a file of tests.
func (x *examiner) isTest(n ast.Node) bool {
	name := x.Fset.Position(n.Pos()).Filename
	return len(name) > 8 && name[len(name)-8:] == "_test.go"
}
