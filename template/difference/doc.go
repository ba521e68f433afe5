// Package difference compares two versions of a workflow: the steps that are in only one of them, and the changes of the others.
//
//	d := difference.Between(old, now)
//	d.Added, d.Removed, d.Changed, d.Whole
//
// A step is the same one if it has the same id; in a world, a machine is. A step consists of parts: its operation with the
// binding, its input, the steps that it waits for (edges), the conditions around it (guards), its timing, and so on. A change that is
// seen in no step, such as that of the output, is one of the workflow as a whole.
package difference
