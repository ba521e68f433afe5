package expr

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// nearestLength bounds the words that are compared: a longer one is not a misspelling.
const nearestLength = 64

// Nearest returns the known name that word is most likely a misspelling of: the one with the fewest edits (a character
// inserted, deleted, replaced or swapped with its neighbour), if these are few for its length. Case does not count as an
// edit. Of several equally near names it returns the first in alphabetical order, whatever the order of known. Cost is
// len(known) × len(word)², up to the budget of one Speller.
func Nearest(word string, known []string) (string, bool) {
	var s Speller
	name := s.Nearest(word, slices.Values(known))
	return name, name != ""
}

// spellerMax bounds the characters of all names that one Speller compares with all its words.
const spellerMax = 8 << 20

// Speller is Nearest for the words of one document, with a common budget, after which it has no suggestions: a thousand
// misspelt names among thousands are refused as fast as one. The zero value is ready to use.
type Speller struct{ spent int }

// Nearest returns the known name that word is most likely a misspelling of, or "".
func (s *Speller) Nearest(word string, known iter.Seq[string]) string {
	from := []rune(strings.ToLower(word))
	if len(from) == 0 || len(from) > nearestLength {
		return ""
	}
	limit := min((len(from)+1)/3, 3)
	best := ""
	for name := range known {
		if s.spent += 1 + min(len(name), nearestLength); s.spent > spellerMax {
			return "" // the best of the words compared so far would be a guess
		}
		if name == word || len(name) > utf8.UTFMax*(len(from)+limit) {
			continue
		}
		to := []rune(strings.ToLower(name))
		if len(to) > len(from)+limit || len(to)+limit < len(from) {
			continue
		}
		edits := distance(from, to)
		switch {
		case edits < limit || edits == limit && best == "":
			best, limit = name, edits
		case edits == limit && name < best:
			best = name
		}
	}
	return best
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
