package script

import (
	"slices"
	"strings"
)

// Part is the script of one name, with how far it has been taken. A list is taken in turn over all instances of its name, one
// answer per request (per participant: per dispatch to it); its last answer repeats.
type Part struct {
	answers
	taken map[string]int // by participant, "" without
}

// Parts are what a script answers while it is performed, by name.
type Parts map[string]*Part

// Parts returns the script as it is before anything has been taken of it.
func (s Script) Parts() Parts {
	parts := make(Parts, len(s))
	for name, a := range s {
		parts[name] = &Part{answers: a, taken: map[string]int{}}
	}
	return parts
}

// Next returns the answer of one participant, or of the call when there is none. It reports false when the script has
// none for it.
func (p *Part) Next(participant string) (Answer, bool) {
	list := p.list
	if p.participants != nil {
		list = p.participants[participant]
	}
	if len(list) == 0 {
		return Answer{}, false
	}
	// Counted per participant even where one list serves all: the second provider's first answer is the first one.
	n := p.taken[participant]
	p.taken[participant]++
	return list[min(n, len(list)-1)], true
}

// Find returns the script of a step of the run at path (such as `quote/`; "" for the run itself): by instance, else by
// step id, each below that path and then as within the run itself; else by the operation's name.
//
// The instance comes before the step, and the longer path before the shorter: what is said about fewer calls was said on
// purpose.
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

// Has reports whether a step, or some instance of it, is answered by the script. path is that of a run without
// indexes.
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
