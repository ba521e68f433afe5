//go:build race

package documents

// raced reports whether the race detector is on, which allocates memory, too.
const raced = true
