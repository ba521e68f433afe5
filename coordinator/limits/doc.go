// Package limits says what bounds a run, with the runs below it, and what is noted of it beside its input: the numbers, their
// defaults, and what refuses labels and names. Whoever meets a limit keeps it.
package limits
