// Package reader reads runs from a store: their state, changes, explanations, calls, and the obstacles to their going on. A
// Reader follows a run's journal from its beginning and derives everything from it, see package inspect; it does not delay the
// run and changes nothing. A Process provides data that is not in the journal.
package reader
