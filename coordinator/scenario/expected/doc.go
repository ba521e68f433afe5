// Package expected compares the observed facts of a run with those that a scenario expects: the order of names, the dispatches of a
// step, objects by some of their keys, and the cells of a world.
//
//	document ──Read…──▶ Order, Dispatches, Cell ──Compare──▶ the facts, as text, and whether they are as expected
//	                                               ▲
//	           journal, dispatches, world ─────────┘
//
// It depends neither on the execution of a scenario nor on the place of an expectation in the document.
package expected
