package scenario

import (
	"slices"
	"strings"
)

// order is a sequence of groups of names; the names within a group may come in any order.
type order [][]string

// mismatch returns the index in got of the first name that is out of order, missing (len(got)) or superfluous; -1: there is
// none.
func (o order) mismatch(got []string) int {
	at := 0
	for _, group := range o {
		open := slices.Clone(group)
		for range group {
			if at == len(got) {
				return at
			}
			i := slices.Index(open, got[at])
			if i < 0 {
				return at
			}
			open = slices.Delete(open, i, i+1)
			at++
		}
	}
	if at < len(got) {
		return at
	}
	return -1
}

func (o order) String() string {
	texts := make([]string, len(o))
	for i, group := range o {
		texts[i] = strings.Join(group, ", ")
		if len(group) != 1 {
			texts[i] = "[" + texts[i] + "]"
		}
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
