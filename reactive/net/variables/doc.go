// Package variables implements the variables that the expressions of a playbook's run read and write, by paths such as a.b.
//
// Vars are the variables of one scope. All returns a snapshot. Writes record the writes of a parallel loop's
// iterations to one scope, and refuse conflicting writes.
package variables
