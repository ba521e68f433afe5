// Package directory says who can be targeted: which participants there are, and which of them hold a valid passport for a
// capability.
//
//	d, err := directory.Open("directory.yaml", directory.Config{Logger: logger})
//	ids := directory.Resolve(d, step.Target, attemptStarted)
//
//	Of(a document's directory) ─┐
//	Open(a file)  ──────────────┼▶ Directory ──┐
//	a program's own ────────────┘              ├▶ Resolve ─▶ ids, in the order in which they are asked
//	                    target, instant ───────┘
//
// Resolve is a pure function of what the directory says when it is called: no clock, no randomness, the order is that of the
// target or of the directory. Whoever resolves a target writes the result down, so that a directory which changes later
// changes nothing about a call under way.
//
// A File is reread when it has changed, which is found out when somebody uses it; there is no goroutine and nothing to
// close. All directories of this package are safe for concurrent use.
package directory
