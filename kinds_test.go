package sluice_test

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asker is a reason for functions to depend on the kind of a run or a workflow, with these functions. The first word of a place is the
// package, the others are functions.
type asker struct {
	why    string
	places []string
}

// askers holds the functions outside the packages in ofKinds that depend on the kind of a run or a workflow. All others call a method of
// reactive.Body, cells.Cells, template.Routing or plan.Plan.
var askers = []asker{
	{"it has the table of the kinds, or reads its row", []string{
		"cmd/sluice/graph kinds draw drawPlaybook drawWorld",
		"coordinator/bulk kinds",
		"coordinator/explore kinds kindOf explorable newRoutes",
		"template/difference partsOf",
	}},
	{"it is about worlds alone: their cells, machines and snapshots", []string{
		"coordinator/cells find impossible look",
		"coordinator/pool Host.signed",
		"coordinator/reader Reader.CellAt Reader.giveContent Reader.pass",
		"coordinator/registry Machines.addOf",
		"coordinator/scenario track.takeSnapshot track.restoreFirstStates track.restore track.world",
		"coordinator/scenario/program Library.provideMachines copyTree",
		"coordinator/starting Starts.first",
		"coordinator/transfer fold.add fold.restore needed",
		"reactive/inspect CellWaits Explainer.Restored NewChanges States.Restored Waits waiting.cell",
	}},
	{"it is about the net of a playbook alone", []string{
		"coordinator/feed Hub.checkNet",
		"coordinator/reader Reader.Views Workload",
		"coordinator/rerun Made.previewPast",
		"coordinator/scenario onlyInPlaybook track.observeNet",
		"reactive/decide Stepper.refusePatch",
	}},
	{"people see other things of each kind", []string{
		"cmd/sluice/documents size",
		"cmd/sluice/progress New",
		"cmd/sluice/runs showData",
		"cmd/sluice/view Run.hasOutput lineView.change",
		"coordinator/api runOfState show",
		"coordinator/drawing Of",
		"reactive/inspect Explainer.unknown Unawaited stateOf",
	}},
	{"it refuses what runs of a kind cannot do, or says what they can do instead", []string{
		"coordinator/bulk failedSteps",
		"coordinator/explore explorer.independent newCondition",
		"coordinator/moving move.check",
		"coordinator/rerun Failed Maker.begin Maker.entry",
		"reactive/decide finished",
		"reactive/shadow New Shadow.begun Shadow.branches Shadow.follow",
	}},
	{"the steps of a tree are nodes, and routed steps are none", []string{
		"coordinator/explore explorer.look namesOf play.reply stepOf view.Name view.Step",
		"coordinator/scenario inPlaybook question.task track.recordCall track.task",
		"coordinator/scenario/program Library.Compile binder.bind binder.misspeltNames tasks",
		"reactive/callgraph Graph.follow New",
		"reactive/decide describe waits",
		"reactive/inspect Changes.Apply Changes.Moved NeedsOf fixedInput.Name waiting.routed waitsAfter",
		"reactive/ledger NewLedger",
		"reactive/live Signals.Changed Signals.Step Signals.now",
	}},
	{"a tree has no body: none is called for its events, and nothing is kept for one", []string{
		"coordinator/reader replaying",
		"reactive/decide CallFor Limits.KeptBy Stepper.refuseStep Stepper.settle",
		"reactive/inspect NewExplainer",
	}},
}

// ofKinds lists the packages that belong to one kind, or have the tables of all kinds.
var ofKinds = []string{"reactive", "reactive/net", "reactive/world", "reactive/bodies", "reactive/cells",
	"template", "template/plan", "template/kinds", "template/machine", "template/playbook", "template/workflowdef", "template/flow"}

// kindNames holds the exported names that distinguish kinds, by package.
var kindNames = map[string][]string{
	"template": {"Kind"}, "template/machine": {"Kind", "Of"}, "template/playbook": {"Kind", "Of"}, "template/workflowdef": {"Kind"},
	"reactive/net": {"Of"}, "reactive/world": {"Of"},
}

// kindTypes holds the types that only the runs or documents of one kind have, by package.
var kindTypes = map[string][]string{
	"reactive": {"Cells", "Steps"}, "reactive/net": {"Net"}, "reactive/world": {"World"},
	"template/machine": {"World"}, "template/playbook": {"Playbook"},
}

// kindMethods and kindFields list the methods of roots and the fields with a result that is nil except for some kinds.
var kindMethods, kindFields = []string{"Body", "Cells", "Steps"}, []string{"Routing", "World", "Playbook", "Routed"}

// asksKind calls report with each expression in a source that depends on the kind of a run or a workflow, and its function.
func asksKind(s source, report func(n ast.Node, function string)) {
	imported := importsOf(s.file)
	is := func(e ast.Node, names map[string][]string) bool {
		sel, ok := e.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		x, ok := sel.X.(*ast.Ident)
		return ok && slices.Contains(names[within(imported[x.Name])], sel.Sel.Name)
	}
	isType := func(e ast.Expr) bool {
		if star, ok := e.(*ast.StarExpr); ok {
			e = star.X
		}
		return is(e, kindTypes)
	}
	isName := func(e ast.Expr) bool {
		lit, ok := e.(*ast.BasicLit)
		return ok && slices.Contains([]string{`"Workflow"`, `"WorkflowDefinition"`, `"Playbook"`, `"World"`}, lit.Value)
	}
	for _, d := range s.file.Decls {
		name, parts := nameOf(d), map[string]bool{} // variables with the value of such a field or method
		ast.Inspect(d, func(n ast.Node) bool {
			asks := is(n, kindNames)
			switch x := n.(type) {
			case *ast.AssignStmt:
				if id, ok := x.Lhs[0].(*ast.Ident); ok && len(x.Rhs) == 1 && isPart(x.Rhs[0], nil) {
					parts[id.Name] = true
				}
			case *ast.BinaryExpr:
				if x.Op == token.EQL || x.Op == token.NEQ {
					asks = isName(x.X) || isName(x.Y) || named(x.Y, "nil") && isPart(x.X, parts)
				}
			case *ast.TypeAssertExpr:
				asks = x.Type != nil && isType(x.Type)
			case *ast.CaseClause:
				asks = slices.ContainsFunc(x.List, func(e ast.Expr) bool { return isName(e) || isType(e) })
			case *ast.KeyValueExpr:
				asks = isName(x.Key)
			}
			if asks {
				report(n, name)
			}
			return true
		})
	}
}

// isPart reports whether an expression is a field or method that only some kinds have, or one of the variables.
func isPart(e ast.Expr, variables map[string]bool) bool {
	names := kindFields
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 0 {
		e, names = call.Fun, kindMethods
	}
	switch x := e.(type) {
	case *ast.SelectorExpr:
		return slices.Contains(names, x.Sel.Name)
	case *ast.Ident:
		return variables[x.Name]
	}
	return false
}

// nameOf returns the name of a declaration: Type.Method, the name of a function, or the first name of a group.
func nameOf(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			return receiver(d.Recv.List[0].Type) + "." + d.Name.Name
		}
		return d.Name.Name
	case *ast.GenDecl:
		if v, ok := d.Specs[0].(*ast.ValueSpec); ok {
			return v.Names[0].Name
		}
	}
	return ""
}

func TestOnlyListedPlacesAskForAKind(t *testing.T) {
	listed, used := map[string]bool{}, map[string]bool{}
	for _, a := range askers {
		require.NotEmpty(t, a.why)
		for _, place := range a.places {
			names := strings.Fields(place)
			for _, function := range names[1:] {
				name := names[0] + " " + function
				require.False(t, listed[name], "%s is listed twice", name)
				listed[name] = true
			}
		}
	}
	for _, s := range sources(t, false) {
		p := s.pkg.path()
		if slices.ContainsFunc(ofKinds, func(of string) bool { return p == of || path.Dir(of) != "." && strings.HasPrefix(p, of+"/") }) {
			continue
		}
		asksKind(s, func(n ast.Node, function string) {
			name := p + " " + function
			if used[name] = true; !listed[name] {
				t.Errorf("%s: %s asks of which kind a run or a workflow is", s.at(n), function)
			}
		})
	}
	for name := range listed {
		if !used[name] {
			t.Errorf("askers: %s does not ask", name)
		}
	}
}

func TestQuestionsForAKindAreFound(t *testing.T) {
	var found []string
	asksKind(planted(t, "coordinator/planted", `package planted

import (
	"github.com/sluiceflow/sluice/reactive"
	book "github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/reactive/world"
)

var table = map[string]int{"World": 1}

func literal() bool { return head.Kind == "Playbook" }

func cases() {
	switch head.Kind {
	case "World":
	}
}

func constant() bool { return kind == book.Kind }

func asserted() { _, _ = w.Routing.(*book.Playbook) }

func switched() {
	switch root.Body().(type) {
	case reactive.Steps:
	}
}

func method() bool { return root.Body() != nil }

func variable() {
	if steps := root.Steps(); steps != nil {
	}
}

func field() bool { return s.World != nil }

func (r *T) body() { _ = world.Of(root) }

func none() {
	_ = root.Cells().Err()
	_ = req.Body != nil
	_ = text + "World"
	_, _ = x.(reactive.Status)
	if err := root.Steps().RefusePatch(nil); err != nil {
	}
}
`), func(_ ast.Node, function string) { found = append(found, function) })
	require.Equal(t, []string{"table", "literal", "cases", "constant", "asserted", "switched", "method", "variable", "field", "T.body"}, found)
}
