// Package kinds reads a workflow from a document of any kind: it selects the reader by the document's kind.
//
//	checked, err := kinds.Load("orders.yaml", data, template.Known{Operation: registered})
//
//	kind: Workflow ───────────▶ package template ────┐
//	kind: WorkflowDefinition ─▶ package workflowdef ─┼▶ *template.Workflow ─▶ Check ─▶ *template.Checked
//	kind: Playbook ───────────▶ package playbook ────┤
//	kind: World ──────────────▶ package machine ─────┘
//
// To add a kind, add its reader to the list: a function from the document to the tree. All functions of this package are pure.
package kinds
