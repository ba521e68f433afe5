// Package directory lists participants, and finds those that hold a valid passport for a capability.
//
//	d, err := directory.Open("directory.yaml", directory.Config{Logger: logger})
//	ids := directory.Resolve(d, step.Target, attemptStarted)
//
//	Of(a document's directory) ─┐
//	Open(a file)  ──────────────┼▶ Directory ──┐
//	a program's own ────────────┘              ├▶ Resolve ─▶ ids, in the order in which they are asked
//	                    target, instant ───────┘
//
// Resolve is a pure function of the directory at the time of the call: no clock, no randomness, and the order of the target or of the
// directory. Callers journal the result, so that later changes of the directory do not affect calls in progress.
//
// A File rereads its file on use if the file has changed; it has no goroutine and needs no Close. All directories of this
// package are safe for concurrent use.
package directory
