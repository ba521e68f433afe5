// Package gate holds what is denied until something changes that it was denied for.
//
// What decides about each thing at a gate is a computed over the keys of the context that its rules read: a write of other keys
// costs nothing, and a write of one of these has it judged again when Look is called, once.
package gate
