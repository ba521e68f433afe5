package template

import (
	"fmt"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/fields"
	"github.com/sluiceflow/sluice/template/value"
)

// Document returns the workflow as a document of kind Workflow: durations in canonical form, without defaults, whether the
// fields contain them or are zero. Two workflows with the same document run alike. The result shares input values, schemas and
// arguments with w. A workflow with a Routing returns the document of the Routing, which has another kind.
func (w *Workflow) Document() value.Value {
	if w.Routing != nil {
		return w.Routing.Document()
	}
	m := fields.Object{"kind": Kind, "name": w.Name, "steps": documents(w.Steps)}
	m.Text("version", w.Version)
	m.Any("input", w.Input)
	m.Duration("deadline", w.Deadline)
	if w.FailurePolicy != ContinueRunning {
		m.Text("failure_policy", string(w.FailurePolicy))
	}
	m.Count("max_concurrency", w.MaxConcurrency)
	if len(w.Operations) > 0 {
		operations := fields.Object{}
		for name, b := range w.Operations {
			operations[name] = b.Document()
		}
		m["operations"] = map[string]any(operations)
	}
	if w.Directory != nil {
		m["directory"] = w.Directory.document()
	}
	if w.HasOutput {
		m["output"] = w.Output
	}
	return map[string]any(m)
}

// MarshalJSON returns the workflow's document as JSON with sorted keys. The result is always the same for the same workflow.
func (w *Workflow) MarshalJSON() ([]byte, error) {
	doc, err := value.Of(w.Document())
	if err != nil {
		return nil, fmt.Errorf("encode workflow %q: %w", w.Name, err)
	}
	return value.JSON(doc)
}

// UnmarshalJSON reads a document of kind Workflow and reports the errors of ParseNode. Check reports whether it is valid.
func (w *Workflow) UnmarshalJSON(data []byte) error {
	nodes, err := document.Parse("", data, document.Limits{Bytes: max(len(data), 1)})
	if err != nil {
		return err
	}
	read, err := ParseNode(nodes[0])
	if err != nil {
		return err
	}
	*w = *read
	w.source, w.input = nil, nil
	return nil
}

// Hash returns the identity of the workflow: the hash of its canonical document, in hexadecimal, whatever the spelling, place or
// dialect in which it was written. It fails if an input or output contains a value that documents cannot express.
func (w *Workflow) Hash() (string, error) {
	hash, err := value.Hash(w.Document())
	if err != nil {
		return "", fmt.Errorf("hash workflow %q: %w", w.Name, err)
	}
	return hash, nil
}

// setFunction writes a Func under the key func, which is the same for all elements.
func setFunction(m fields.Object, f *Func) {
	if f == nil {
		return
	}
	inner := fields.Object{"name": f.Name}
	inner.List("args", f.Args)
	m["func"] = map[string]any(inner)
}

// documents returns the documents of a list of steps and containers.
func documents(steps []Node) []any {
	list := make([]any, len(steps))
	for i, n := range steps {
		list[i] = nodeDocument(n)
	}
	return list
}

// nodeDocument returns the document of an element. Only types of this package are Nodes, so the default case is a bug of ours.
func nodeDocument(n Node) map[string]any {
	switch n := n.(type) {
	case *Step:
		return n.Document()
	case *Sequential:
		return container("sequential", fields.Object{"steps": documents(n.Steps)})
	case *Parallel:
		m := fields.Object{"steps": documents(n.Steps)}
		m.Count("max_concurrency", n.MaxConcurrency)
		return container("parallel", m)
	case *Conditional:
		m := fields.Object{"then": documents(n.Then)}
		m.Text("id", n.ID)
		m.Text("test", n.Test)
		setFunction(m, n.Func)
		if len(n.Else) > 0 {
			m["else"] = documents(n.Else)
		}
		return container("conditional", m)
	case *Map:
		m := fields.Object{"id": n.ID, "steps": documents(n.Steps)}
		m.Any("over", n.Over)
		setFunction(m, n.Func)
		if n.As != "item" {
			m.Text("as", n.As)
		}
		m.Count("max_concurrency", n.MaxConcurrency)
		return container("map", m)
	default:
		panic(fmt.Sprintf("template: a tree contains a %T", n))
	}
}

// container wraps the body of a container in a mapping, whose only key is the kind of the container.
func container(key string, body fields.Object) map[string]any {
	return map[string]any{key: map[string]any(body)}
}

// Document returns the step as it appears in the document of its workflow.
func (s *Step) Document() map[string]any {
	m := fields.Object{"operation": s.Operation}
	if s.ID != s.Operation {
		m.Text("id", s.ID)
	}
	m.Any("input", s.Input)
	setFunction(m, s.Func)
	m.Texts("needs", s.Needs)
	if s.Target != nil {
		m["target"] = s.Target.document(s.Operation)
	}
	if s.FanIn != nil {
		m["fan_in"] = s.FanIn.document()
	}
	if s.Timing != nil {
		m["timing"] = s.Timing.document()
	}
	if s.Fulfillment != nil {
		m["fulfillment"] = s.Fulfillment.document()
	}
	if s.NonIdempotent {
		m["idempotent"] = false
	}
	return m
}
