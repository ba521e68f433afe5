// Package limits defines the bounds of a run and of the runs below it: the numbers, their defaults, and the checks of labels and
// names. Other packages enforce the numbers.
package limits
