package explore

import (
	"fmt"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// kinds has the kinds of workflows whose routing decides their calls, by the name of the routing; nil: their runs cannot be explored. A
// new kind is a line here and a file.
var kinds = map[string]func(*plan.Plan) kind{
	playbook.Kind: newRoutes,
	machine.Kind:  nil, // not yet, see explorable
}

// explorable refuses workflows of kinds whose runs cannot be explored.
func explorable(p *plan.Plan) error {
	if r := p.Workflow.Routing; r != nil && kinds[r.Kind()] == nil {
		return fmt.Errorf("%s: check cannot explore documents of kind %s yet; sluice test tries them with scenarios", p.Workflow.Name, r.Kind())
	}
	return nil
}

// kindOf returns the kind of a workflow; without routing it is a tree.
func kindOf(p *plan.Plan) kind {
	if r := p.Workflow.Routing; r != nil {
		return kinds[r.Kind()](p)
	}
	return tree{p}
}

// kind holds the particulars of documents and runs of one kind of workflow.
type kind interface {
	// reader returns the reader of the document, which uses l.
	reader(l *learner) reader

	// tasks returns the names, besides those of the steps, of calls whose answers can be set.
	tasks() []string

	// once returns the step that must not run twice; "": there is none.
	once() string

	// patches returns the moves that change the context.
	patches(p *play) []move

	// describe returns a step that a state waits for, and the reason that the run does not go on from there.
	describe(p *play) (step, why string)
}

// reader finds the expressions of a document, and follows the values that they read to the steps and inputs that these come from.
type reader interface {
	// outlines returns the outlines of the expressions in a text, and whether the whole text is one expression.
	outlines(text string) (list []*expr.Outline, alone bool, err error)

	// document makes the learner visit the document: all assignments, then all expressions.
	document()

	// assignment records the sources of the variables that an object under a key assigns.
	assignment(key string, v map[string]any)

	// enter calls visit for the value under a key of an object, unless its expressions are visited elsewhere.
	enter(key string, visit func())

	// pointer returns the path in a text under a key, if such texts are JSON pointers.
	pointer(key, text string) (path []string, isPointer bool)

	// read records values that make a difference at a path, or follows the path to its sources.
	read(path []string, values []value.Value)

	// condition is read for a condition of the options, which can read no more than the steps, the context and the run.
	condition(path []string, values []value.Value)
}
