// Package kinds reads a workflow from a document of any kind: it selects the reader by the document's kind.
//
//	checked, err := kinds.Load("orders.yaml", data, template.Known{Operation: registered})
//
//	kind: Workflow ───────────▶ package template ────┐
//	kind: WorkflowDefinition ─▶ package workflowdef ─┼▶ *template.Workflow ─▶ Check ─▶ *template.Checked
//	kind: Playbook ───────────▶ package playbook ────┘
//
// To add a kind, add its reader, a function from the document to the tree, to the list. All functions of this package are
// pure.
package kinds
