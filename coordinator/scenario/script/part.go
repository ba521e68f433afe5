package script

import (
	"slices"
	"strings"
)

// Part is the script of one name, with a count of the answers taken. A list is taken in turn over all instances of its name,
// one answer per request (per participant: per dispatch to it); its last answer repeats.
type Part struct {
	answers
	taken map[string]int // by participant; "": the call has none
}

// Parts are the parts of a script by name.
type Parts map[string]*Part

// Parts returns the parts of the script, with no answers taken.
func (s Script) Parts() Parts {
	parts := make(Parts, len(s))
	for name, a := range s {
		parts[name] = &Part{answers: a, taken: map[string]int{}}
	}
	return parts
}

// Next returns the next answer of a participant, or of a call without participants. It reports false when the script has
// none for it.
func (p *Part) Next(participant string) (Answer, bool) {
	list := p.list
	if p.participants != nil {
		list = p.participants[participant]
	}
	if len(list) == 0 {
		return Answer{}, false
	}
	// Counted per participant even if one list serves all: every participant's first answer is the first of the list.
	n := p.taken[participant]
	p.taken[participant]++
	return list[min(n, len(list)-1)], true
}

// Find returns the script of a step of the run at path (such as `quote/`; "" for the run itself): by instance, else by step
// id, each below that path and then as within the run itself; else by the operation's name.
//
// An instance precedes a step, and a longer path a shorter one: a more specific script takes precedence.
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

// Has reports whether the script answers a step or some instance of it. path is that of a run without indexes.
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
