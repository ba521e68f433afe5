// Package duration reads and writes durations in documents: ISO 8601, of fixed length and in one spelling.
package duration
