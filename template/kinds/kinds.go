package kinds

import (
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/workflowdef"
)

// reader turns documents of one kind into trees. It may return a tree with an error, for template.Check.
type reader struct {
	kind string
	read func(*document.Node) (*template.Workflow, error)
}

// readers are the readers of all kinds that can be run, in the order in which messages name them.
var readers = []reader{
	{template.Kind, template.ParseNode},
	{workflowdef.Kind, workflowdef.ParseNode},
	{playbook.Kind, playbook.ParseNode},
	{machine.Kind, machine.ParseNode},
}

// others maps kinds that are not workflows to hints: the commands that accept their documents.
var others = map[string]string{
	"Scenario":  ", which sluice test runs",
	"Directory": ", which sluice run takes with --directory",
}

// Kinds returns the kinds of documents that can be read here, in the order in which messages name them. The slice belongs to
// the caller.
func Kinds() []string {
	kinds := make([]string, len(readers))
	for i, r := range readers {
		kinds[i] = r.kind
	}
	return kinds
}

// Load reads and checks a file that contains one workflow of any kind. It reports all faults as document.Errors. A document of
// an unknown kind has one fault, which names the known kinds.
func Load(file string, data []byte, known template.Known) (*template.Checked, error) {
	return template.LoadWith(ParseNode, file, data, known)
}

// ParseStored reads the JSON of Workflow.Document: the stored definition of a run. The tree has no places.
func ParseStored(data []byte) (*template.Workflow, error) {
	nodes, err := document.Parse("", data, document.Limits{Bytes: max(len(data), 1)})
	if err != nil {
		return nil, err
	}
	if kind, _ := nodes[0].Get("kind").Text(); kind == template.Kind {
		w := &template.Workflow{}
		return w, w.UnmarshalJSON(data)
	}
	return ParseNode(nodes[0])
}

// ParseNode turns a document of any kind into a tree, which keeps n for the places of errors. It reports all faults as
// document.Errors. A tree returned with an error contains the parts that could be read, so that template.Check can report
// further faults; for an unknown kind, ParseNode returns no tree.
func ParseNode(n *document.Node) (*template.Workflow, error) {
	kind, fault := kindOf(n)
	if fault != nil {
		return nil, document.Errors{fault}
	}
	for _, r := range readers {
		if r.kind == kind {
			return r.read(n)
		}
	}
	near, _ := expr.Nearest(kind, Kinds())
	return nil, document.Errors{{Pos: n.Get("kind").Pos, Text: kind, Suggestion: near,
		Msg: "kind must be " + choice() + ", not " + document.Quote(kind) + others[kind]}}
}

// kindOf returns the kind of a document, or the fault that prevents reading it.
func kindOf(n *document.Node) (string, *document.Error) {
	if n.Kind != document.Mapping {
		return "", &document.Error{Pos: n.Pos, Msg: "the document must be a mapping, not " + n.Kind.String()}
	}
	v := n.Get("kind")
	if v == nil {
		for e := range n.Entries() {
			if near, ok := expr.Nearest(e.Key, []string{"kind"}); ok {
				return "", &document.Error{Pos: e.Pos, Text: e.Key, Msg: "unknown key " + document.Quote(e.Key), Suggestion: near}
			}
		}
		return "", &document.Error{Pos: n.Pos.Key("kind"), Msg: "kind is missing: it must be " + choice()}
	}
	kind, ok := v.Text()
	if !ok {
		return "", &document.Error{Pos: v.Pos, Msg: "kind must be a string, not " + v.Kind.String()}
	}
	return kind, nil
}

// choice names the kinds in a message.
func choice() string { return "one of " + strings.Join(Kinds(), ", ") }
