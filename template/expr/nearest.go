package expr

import (
	"slices"
	"strings"
)

// nearestLength bounds what is compared: a longer word is not a slip of the pen.
const nearestLength = 64

// Nearest returns the known name that word is most likely a misspelling of: the one with the fewest edits (a character
// more, less, other or swapped with its neighbour), if these are few for its length. Case does not count as an edit. Of
// several equally near ones it returns the first in alphabetical order, whatever the order of known. Cost is
// len(known) × len(word)².
func Nearest(word string, known []string) (string, bool) {
	from := []rune(strings.ToLower(word))
	if len(from) == 0 || len(from) > nearestLength {
		return "", false
	}
	limit := min((len(from)+1)/3, 3)
	best, found := "", false
	for _, name := range known {
		to := []rune(strings.ToLower(name))
		if name == word || len(to) > len(from)+limit || len(to)+limit < len(from) {
			continue
		}
		edits := distance(from, to)
		switch {
		case edits < limit || edits == limit && !found:
			best, found, limit = name, true, edits
		case edits == limit && name < best:
			best = name
		}
	}
	return best, found
}

// distance counts edits (optimal string alignment), row by row: before, above and row hold the last three rows.
func distance(from, to []rune) int {
	before, above, row := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(from); i++ {
		row[0] = i
		for j := 1; j <= len(to); j++ {
			cost := 1
			if from[i-1] == to[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(to)]
}

// suggest returns the name nearest to word among all lists, or "".
func suggest(word string, known ...[]string) string {
	name, _ := Nearest(word, slices.Concat(known...))
	return name
}
