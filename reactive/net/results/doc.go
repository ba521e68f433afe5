// Package results stores the large results of a playbook's run out of line and replaces them by references. The store is
// derived from the journal, like all state of a run, and equal values share an entry.
package results
