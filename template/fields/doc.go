// Package fields reads the values of a document's mappings into Go values, and writes them back.
//
// A Reader takes values from nodes one by one: texts, numbers, durations, lists. It refuses a value of the wrong kind and an
// unknown key, and continues, so that its Err returns all faults of a document at once. An Object is a mapping to be
// written: it omits zero values.
//
// The readers of all kinds of documents are built on these, so that all report the same fault in the same words.
package fields
