// Package document reads YAML and JSON into trees of nodes with their places, refuses hostile input before decoding it, and
// defines the errors of the readers of documents.
//
//	nodes, err := document.Parse("orders.yaml", data, document.Limits{})
//	for key := range nodes[0].All() { … }
//
//	bytes ─▶ limits, UTF-8 ─▶ tokens ─▶ guard: depth, keys, no anchors, aliases, tags ─▶ syntax tree ─▶ []*Node
//	                          JSON ──────▶ the same limits, one pass ──────────────────────────────────▶ []*Node
//
// The accepted language is JSON, or the part of YAML 1.2 with the same meaning as JSON: mappings whose keys are scalars,
// sequences, and scalars of the core schema (null, true, 42, 0x2a, 4.2e1, text). Anchors, aliases, tags, merge keys and
// directives are refused, so a document is a tree, and its size in memory is proportional to its text. A number becomes an
// int64 if it is whole and fits, otherwise a float64; infinities and NaN are refused, because JSON cannot express them.
//
// A file may contain several documents, separated by lines of three dashes. Empty documents are skipped.
//
// Errors are collected, not returned one by one. An Error has a place, the offending text and, for a misspelt name, the nearest
// known name; Errors sorts them by place. Nodes are immutable once Parse has returned them, and safe for concurrent use.
package document
