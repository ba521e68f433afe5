package scenario

import (
	"slices"
	"strings"
)

// cast is the script while it is performed: whose turn it is to answer, and with what.
//
// Invariants:
//  1. A request gets one answer, fixed when it is asked first; asking again, after a crash, takes nothing.
//  2. A list is taken in turn over all instances of its name, one answer per request (per participant: per dispatch to
//     it); its last answer repeats.
type cast struct {
	operations map[string]*part
	decisions  map[string]*part
	asked      map[string]bool // by request id
}

// part is the script of one name, with how far it has been taken.
type part struct {
	answers
	taken map[string]int // by participant, "" without
}

func newCast(s *Scenario) *cast {
	return &cast{operations: newParts(s.answers), decisions: newParts(s.decisions), asked: map[string]bool{}}
}

func newParts(script map[string]answers) map[string]*part {
	parts := make(map[string]*part, len(script))
	for name, a := range script {
		parts[name] = &part{answers: a, taken: map[string]int{}}
	}
	return parts
}

// first reports whether a request is asked for the first time.
func (c *cast) first(request string) bool {
	known := c.asked[request]
	c.asked[request] = true
	return !known
}

// next is the answer of one participant, or of the call when there is none. It reports false when the script has
// none for it.
func (p *part) next(participant string) (answer, bool) {
	list := p.list
	if p.participants != nil {
		list = p.participants[participant]
	}
	if len(list) == 0 {
		return answer{}, false
	}
	// Counted per participant even where one list serves all: the second provider's first answer is the first one.
	n := p.taken[participant]
	p.taken[participant]++
	return list[min(n, len(list)-1)], true
}

// findPart gives the script of a step of the run at path (such as `quote/`; "" for the run itself): by instance, else by
// step id, each below that path and then as within the run itself; else by the operation's name.
//
// The instance comes before the step, and the longer path before the shorter: what is said about fewer calls was said on
// purpose.
func findPart(parts map[string]*part, path, key, operation string) *part {
	for _, prefix := range slices.Compact([]string{path, stem(path), ""}) {
		for _, name := range []string{prefix + key, prefix + stem(key)} {
			if p := parts[name]; p != nil {
				return p
			}
		}
	}
	return parts[operation]
}

// scripted reports whether a step, or some instance of it, is answered by the script. path is that of a run without
// indexes.
func scripted(parts map[string]*part, path, id, operation string) bool {
	if findPart(parts, path, id, operation) != nil {
		return true
	}
	for name := range parts {
		if s := stem(name); s != name && (s == id || s == path+id) {
			return true
		}
	}
	return false
}

// stem is a key without its indexes: `quote[0]/lookup` is an instance of `quote/lookup`.
func stem(key string) string {
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
