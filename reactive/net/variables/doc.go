// Package variables is what the expressions of a playbook's run write to and read: named values, written by paths such as a.b.
//
// Vars are the variables of one scope. Who was handed them sees no write that comes after. Writes keep what the iterations of a
// parallel loop have written to one scope, and refuse two that contradict each other.
package variables
