// Package schema describes the keys of documents: one description from which the JSON Schemas of the documents and their key
// references are made.
//
//	key("timeout", duration, "how long one attempt may take", "PT30S")
//	   │
//	   ├──JSON──────▶ schema/workflow.json, `sluice schema Workflow`   for editors
//	   └──Markdown──▶ docs/workflow.md                                 for people
//
// A Kind is a kind of document. It is made of shapes, which are mappings, and a Shape is made of keys, each with the Type of
// its value. The readers of documents stand elsewhere (template, template/playbook, coordinator/scenario) and decide which documents
// they accept; tests here compare the description with them, key by key.
//
// A schema describes the form of a document: which keys there are, the types of their values, which are required, and which
// exclude or need each other. It accepts every document that the readers accept. Faults that depend on other parts of the
// document, such as names that are not defined, only the readers find: `sluice validate`.
//
// Everything here is fixed when the program starts, and safe for concurrent use.
package schema
