// Package duration reads and writes the durations of documents: ISO 8601, of one length and in one spelling.
package duration
