package script

import (
	"slices"
	"strings"
)

// Part is the script of one name, with the numbers of answers taken. All instances of the name share its list: each request takes
// the next answer, and with participants each dispatch to a participant takes the next answer of that participant. The last answer
// repeats.
type Part struct {
	answers
	taken map[string]int // by participant; "": without participants
}

// Parts holds the parts of a script by name.
type Parts map[string]*Part

// Parts returns the parts of a script, with no answer taken.
func (s Script) Parts() Parts {
	parts := make(Parts, len(s))
	for name, a := range s {
		parts[name] = &Part{answers: a, taken: map[string]int{}}
	}
	return parts
}

// Next takes the next answer of a participant, or of the call if participant is "". It returns false if the script has none.
func (p *Part) Next(participant string) (Answer, bool) {
	list := p.list
	if p.participants != nil {
		list = p.participants[participant]
	}
	if len(list) == 0 {
		return Answer{}, false
	}
	// Count per participant even if all share a list: each participant starts with the first answer.
	n := p.taken[participant]
	p.taken[participant]++
	return list[min(n, len(list)-1)], true
}

// Find returns the script of a step of the run at path, such as `quote/` ("" is the run itself), or nil. It looks up the names from
// the most specific to the least: a longer path comes before a shorter one, and an instance before its step. The name of the
// operation comes last.
func (parts Parts) Find(path, key, operation string) *Part {
	for _, prefix := range slices.Compact([]string{path, Stem(path), ""}) {
		for _, name := range []string{prefix + key, prefix + Stem(key)} {
			if p := parts[name]; p != nil {
				return p
			}
		}
	}
	return parts[operation]
}

// Has reports whether the script answers a step or some instance of it. path has no indexes.
func (parts Parts) Has(path, id, operation string) bool {
	if parts.Find(path, id, operation) != nil {
		return true
	}
	for name := range parts {
		if s := Stem(name); s != name && (s == id || s == path+id) {
			return true
		}
	}
	return false
}

// Stem returns a key without its indexes: `quote[0]/lookup` is an instance of `quote/lookup`.
func Stem(key string) string {
	for {
		open := strings.IndexByte(key, '[')
		if open < 0 {
			return key
		}
		end := strings.IndexByte(key[open:], ']')
		if end < 0 {
			return key
		}
		key = key[:open] + key[open+end+1:]
	}
}
