// Package fields reads the values of a document's mappings into Go values, and writes them back.
//
// A Reader takes one value after the other out of nodes: texts, numbers, durations, lists. It refuses a value of the wrong
// kind and an unknown key, and goes on, so that its Err holds all faults of a document at once. An Object is the mapping to
// write: what has the zero value is left out of it.
//
// The readers of all kinds of documents are made of these, so that all refuse the same fault in the same words.
package fields
