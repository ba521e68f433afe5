// Package schema describes the keys of documents. The JSON Schemas of the documents and their key references are made from this one
// description.
//
//	key("timeout", duration, "how long one attempt may take", "PT30S")
//	   │
//	   ├──JSON──────▶ schema/workflow.json, `sluice schema Workflow`   for editors
//	   └──Markdown──▶ docs/workflow.md                                 for people
//
// A Kind is a kind of document. It consists of shapes, which are mappings; a Shape consists of keys, each with the Type of its value.
// The readers of documents are in other packages (template, template/playbook, coordinator/scenario), and determine which documents
// are accepted. Tests here compare the description with them, key by key.
//
// A schema describes the form of a document: the keys, the types of their values, the required keys, and the keys that exclude or
// need each other. It accepts every document that the readers accept. Only the readers find faults that depend on other parts of the
// document, such as undefined names: `sluice validate`.
//
// Everything here is fixed when the program starts, and safe for concurrent use.
package schema
