//go:build race

package documents

// raced says that the race detector looks on, which allocates beside the code.
const raced = true
