// Package results stores the large results of a playbook's run out of line and puts references in their place. The store is
// derived from the journal, as all state of a run, and equal values share an entry.
package results
