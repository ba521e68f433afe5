// Package limits defines what bounds a run and the runs below it: the numbers, their defaults, and the checks of labels and
// names. Other packages enforce the numbers.
package limits
