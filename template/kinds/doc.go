// Package kinds reads a workflow in whichever kind of document it is written: it stands above the readers and picks the one
// that the document's kind names.
//
//	checked, err := kinds.Load("orders.yaml", data, template.Known{Operation: registered})
//
//	kind: Workflow ───────────▶ package template ────┐
//	kind: WorkflowDefinition ─▶ package workflowdef ─┼▶ *template.Workflow ─▶ Check ─▶ *template.Checked
//	kind: Playbook ───────────▶ package playbook ────┘
//
// A kind joins with one line in the list of readers: all it needs is a function from the document to the tree. Everything
// here is a pure function of the document.
package kinds
