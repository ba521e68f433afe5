//go:build !race

package documents

const raced = false
