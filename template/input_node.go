package template

import "github.com/sluiceflow/sluice/template/document"

// InputNode returns the node of the document's input schema, for the places of its faults; nil if there is none or the
// workflow was built in Go.
func (w *Workflow) InputNode() *document.Node {
	if w.Input == nil {
		return nil
	}
	return w.input
}
