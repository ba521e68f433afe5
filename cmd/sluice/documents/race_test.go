//go:build race

package documents

// raced reports whether the race detector is on, which allocates additional memory.
const raced = true
