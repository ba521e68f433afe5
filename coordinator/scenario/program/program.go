package program

import (
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Program is a compiled workflow. The script answers some of its calls.
type Program struct {
	Plan      *plan.Plan                    // with the scripted steps as calls
	Folder    string                        // to which its paths are relative
	Functions map[string]*template.Function // Go functions by name
	Bytes     int                           // of the document; 0: it is part of the scenario, or built in Go
}

// Source is an uncompiled workflow: a document, or a tree built in Go.
type Source struct {
	node   *document.Node
	built  *template.Workflow // in place of node
	folder string
	bytes  int // of the document; 0: it is part of the scenario, or built in Go

	compiled bool // at least once
	looked   bool
	seen     *template.Workflow // set by look: a tree that is never compiled
	fansOut  bool               // set by look: a step asks participants
	fault    error              // set by look: the tree cannot be read, or is invalid by itself
}

// check reads and checks a source by itself, once.
func (src *Source) check() {
	if src.looked {
		return
	}
	src.looked = true
	w, err := src.tree()
	if err != nil {
		src.fault = err
		return
	}
	checked, err := template.Check(w, template.Known{Lenient: true})
	if err != nil {
		src.fault = err
		return
	}
	src.seen, src.fansOut = w, checked.FansOut()
}

// tree makes a tree of a source for the caller, which owns it. If a document has faults, tree returns the readable part with the
// error.
func (src *Source) tree() (*template.Workflow, error) {
	if src.built != nil {
		return copyTree(src.built)
	}
	return kinds.ParseNode(src.node)
}

// copyTree copies a tree by encoding and reading its document. The copy has the Go functions, machines and child workflows of the
// tree, but not the implementations of its operations, because the script answers in their place.
func copyTree(w *template.Workflow) (*template.Workflow, error) {
	data, err := value.JSON(w.Document())
	if err != nil {
		return nil, fmt.Errorf("workflow %q: %w", w.Name, err)
	}
	c, err := kinds.ParseStored(data)
	if err != nil {
		return nil, fmt.Errorf("workflow %q: %w", w.Name, err)
	}
	if world, ok := machine.Of(w); ok {
		copied, _ := machine.Of(c)
		for _, code := range world.Provided() {
			copied.Provide(code)
		}
	}
	for _, f := range w.Functions() {
		if err := c.Register(f); err != nil {
			return nil, err
		}
	}
	for _, child := range w.Children() {
		c.ProvideChild(child)
	}
	return c, nil
}

// compile makes a program of the tree of a source, and changes the tree. readErr is the error of reading the tree.
func (l *Library) compile(src *Source, w *template.Workflow, readErr error, b *binder, directory *template.Directory) (*Program, error) {
	if directory != nil {
		w.Directory = directory
	}
	b.w = w
	b.bind()
	b.bindCapabilities()
	childErr := l.checkChildren(w, src.folder)
	checked, checkErr := template.Check(w, template.Known{
		Operation:  func(name string) bool { return b.known[name] },
		Operations: b.used(),
	})
	if err := document.Join(readErr, b.errs.Err(), childErr, checkErr); err != nil {
		return nil, err
	}
	if err := b.misspeltNames(); err != nil {
		return nil, err
	}
	if err := l.provideMachines(w); err != nil {
		return nil, err
	}
	p, err := plan.Compile(checked)
	if err != nil {
		return nil, err
	}
	functions := map[string]*template.Function{}
	for _, f := range w.Functions() {
		functions[f.Name] = f
	}
	return &Program{p, src.folder, functions, src.bytes}, nil
}

// binder selects the steps that the script answers. The engine itself carries out the others.
type binder struct {
	operations, decisions script.Parts

	path  string
	w     *template.Workflow
	known map[string]bool // operations that the script answers
	errs  document.Errors
}

// scriptedSuffix marks the operation of a scripted step that was bound to a built-in. No document can name such an operation by
// accident.
const scriptedSuffix = " (scripted)"

// bind changes the steps before they are checked. A step bound to a built-in that the script answers gets an operation of its own
// without a binding, which the engine calls like any other. The step keeps its id. The bindings stay, so their faults are reported
// even if no step uses them.
func (b *binder) bind() {
	if _, isWorld := machine.Of(b.w); isWorld {
		b.bindEffects()
		return
	}
	if places := tasks(b.w); places != nil {
		b.bindTasks(places)
		return
	}
	eachStep(b.w.Steps, func(s *template.Step) {
		if f := s.Fulfillment; f != nil && f.Source != nil && b.decisions.Has(b.path, s.ID, "") {
			b.known[f.Source.Operation] = true
		}
		binding, bound := b.w.Operations[s.Operation]
		switch isScripted := b.operations.Has(b.path, s.ID, s.Operation); {
		case isScripted && bound && builtIn(binding):
			s.Operation += scriptedSuffix
			b.known[s.Operation] = true
		case isScripted:
			b.known[s.Operation] = true
		case bound && !builtIn(binding):
			b.unscripted(s)
		}
	})
	// Of two steps with one operation, one may be scripted by its id and the other not.
	eachStep(b.w.Steps, func(s *template.Step) {
		if b.known[s.Operation] && !b.operations.Has(b.path, s.ID, Operation(s.Operation)) {
			b.unscripted(s)
		}
	})
}

// bindCapabilities marks as known the operations that decide for a capability under its own name. A scenario may omit a decision that
// its run does not reach.
func (b *binder) bindCapabilities() {
	eachStep(b.w.Steps, func(s *template.Step) {
		if f := s.Fulfillment; f != nil && f.Source != nil && f.Source.Operation == "" {
			b.known[f.Source.CapabilityID] = true
		}
	})
}

// answeredSteps records, for each step of a tree before bind, whether the script answers the step and its decision. The effect of bind
// depends on nothing else in the script.
func (b *binder) answeredSteps(w *template.Workflow) string {
	var out []byte
	places := tasks(w)
	eachStep(w.Steps, func(s *template.Step) {
		answer := byte(0)
		switch {
		case places != nil && scriptedTask(b.operations, b.path, places[s]), places == nil && b.operations.Has(b.path, s.ID, s.Operation):
			answer = 1
		}
		if places == nil && b.decisions.Has(b.path, s.ID, "") {
			answer |= 2
		}
		out = append(out, answer)
	})
	return string(out)
}

// used returns the operations that the script answers and the document calls, for suggestions. A name that only the script uses may
// be the misspelt one, so it is not suggested.
func (b *binder) used() []string {
	names := make([]string, 0, len(b.known))
	for name := range b.known {
		names = append(names, Operation(name))
	}
	return names
}

func (b *binder) unscripted(s *template.Step) {
	b.errs.Add(&document.Error{Pos: s.Pos, Text: s.Operation,
		Msg: fmt.Sprintf("operation %q of step %q is not scripted", Operation(s.Operation), s.ID)})
}

// Operation returns the name of an operation as in the document, without the scripted suffix.
func Operation(operation string) string {
	if n := len(operation) - len(scriptedSuffix); n > 0 && operation[n:] == scriptedSuffix {
		return operation[:n]
	}
	return operation
}

// builtIn reports whether the process itself carries out a binding, in an engine and in a scenario.
func builtIn(b template.Binding) bool {
	return b.Sleep != nil || b.Wait != nil || b.Workflow != nil || b.Value != nil || b.Fail != nil
}

// eachStep visits the steps of a tree in template order.
func eachStep(nodes []template.Node, visit func(*template.Step)) {
	for _, n := range nodes {
		switch n := n.(type) {
		case *template.Step:
			visit(n)
		case *template.Sequential:
			eachStep(n.Steps, visit)
		case *template.Parallel:
			eachStep(n.Steps, visit)
		case *template.Conditional:
			eachStep(n.Then, visit)
			eachStep(n.Else, visit)
		case *template.Map:
			eachStep(n.Steps, visit)
		}
	}
}
