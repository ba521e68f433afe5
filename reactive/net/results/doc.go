// Package results keeps the large results of a playbook's run out of line: a reference takes the place of each. The store follows
// from the journal, as everything in a run does, and equal values share an entry.
package results
