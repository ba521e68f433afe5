// Package fields reads the values of a document's mappings into Go values, and writes them back.
//
// A Reader reads values from nodes one by one: texts, numbers, durations, lists. It refuses values of the wrong kind and
// unknown keys, and continues, so its Err returns all faults of a document at once. An Object is a mapping under construction:
// it omits zero values.
//
// The readers of all kinds of documents are built on these types, so all report the same fault in the same words.
package fields
