package template

import "github.com/sluiceflow/sluice/template/document"

// InputNode returns the document's schema of inputs, for the places of what is wrong with it; nil: there is none, or the workflow was
// built in Go.
func (w *Workflow) InputNode() *document.Node {
	if w.Input == nil {
		return nil
	}
	return w.input
}
