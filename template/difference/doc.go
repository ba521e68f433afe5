// Package difference compares two versions of a workflow: the steps that only one of them has, and the changes of the other
// steps.
//
//	d := difference.Between(old, now)
//	d.Added, d.Removed, d.Changed, d.Whole
//
// A step is compared with the step of the other version that has the same id; in a world, machines are compared by name. A step
// consists of parts: its operation with the binding, its input, the steps that it waits for (edges), the conditions around it
// (guards), its timing, and so on. A change outside all steps, such as a change of the output, is a change of the workflow as a
// whole.
package difference
