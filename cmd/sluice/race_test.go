//go:build race

package main

// raced says that the race detector looks on, which allocates beside the code.
const raced = true
