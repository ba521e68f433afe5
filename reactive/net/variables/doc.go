// Package variables has the named values that the expressions of a playbook's run read and write, by paths such as a.b.
//
// Vars are the variables of one scope. A reader of All sees no later write. Writes keep what the iterations of a
// parallel loop have written to one scope, and refuse two that contradict each other.
package variables
