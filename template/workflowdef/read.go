package workflowdef

import (
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// Kind is the kind of the documents that this package reads.
const Kind = "WorkflowDefinition"

// Load reads and checks a file that contains one document of kind WorkflowDefinition, like template.Load for a Workflow. It
// reports all faults as document.Errors, with the keys and places of this document.
func Load(file string, data []byte, known template.Known) (*template.Checked, error) {
	return template.LoadWith(ParseNode, file, data, known)
}

// ParseNode turns a document of kind WorkflowDefinition into a tree, which keeps n for the places of errors. It reports all
// faults as document.Errors. A tree returned with an error contains the parts that could be read, so that template.Check can
// report further faults.
func ParseNode(n *document.Node) (*template.Workflow, error) {
	r := &reader{template.NewReader(n, Kind)}
	known := r.Root()
	known["plan"] = r.plan
	r.Object(n, known)
	r.Required(n, "plan")
	return r.Workflow()
}

// reader adds the keys of a WorkflowDefinition to the common ones.
type reader struct{ *template.Reader }

func (r *reader) plan(n *document.Node) {
	r.Object(n, template.Fields{"steps": func(v *document.Node) { r.SetSteps(arrange(r.records(v), v.Pos)) }})
	r.Required(n, "steps")
}

// record is a step with its place in the order.
type record struct {
	*template.Step
	follows bool // has no depends_on, so it follows the record before it
}

func (r *reader) records(n *document.Node) []record {
	if n.Kind != document.Sequence {
		r.Refuse(n, "steps must be a list, not "+n.Kind.String())
		return nil
	}
	records := make([]record, 0, n.Len())
	for _, item := range n.Items() {
		if item.Kind != document.Mapping {
			r.Refuse(item, "a step must be a mapping, not "+item.Kind.String())
			continue
		}
		records = append(records, r.record(item))
	}
	return records
}

// record reads one step. Check reports its parts under their names in a Workflow, so Moved maps these to the keys here.
func (r *reader) record(n *document.Node) record {
	rec := record{Step: &template.Step{Pos: n.Pos}, follows: n.Get("depends_on") == nil}
	known := r.Step(rec.Step)
	known["step_id"] = func(v *document.Node) { rec.ID = r.Word(v) }
	known["service_type"] = func(v *document.Node) { rec.Operation = r.Word(v) }
	known["depends_on"] = func(v *document.Node) { rec.Needs = r.Texts(v) }
	known["input_from"] = func(v *document.Node) {
		if n.Get("input") != nil {
			r.Refuse(v, "input_from cannot be combined with input")
			return
		}
		rec.Input = r.inputFrom(n, v)
	}
	r.Object(n, known)
	r.Required(n, "step_id", "service_type")
	for name, here := range spellings {
		r.Moved(n.Pos.Key(name).Path, n.Pos.Key(here).Path)
	}
	return rec
}

// spellings maps the keys of a Workflow's step to the keys here.
var spellings = map[string]string{"id": "step_id", "operation": "service_type", "needs": "depends_on"}
