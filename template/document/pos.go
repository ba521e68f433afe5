package document

import (
	"cmp"
	"strconv"
)

// Pos is a place in a document: where a node begins, and its path from the root. The zero Pos means no place, as in a tree
// built in Go.
type Pos struct {
	File string // as passed to Parse; may be empty
	Line int    // from 1; 0: unknown
	Col  int    // in characters, from 1; 0: unknown
	Path string // from the document's root, such as steps[1].parallel.steps[0].operation; empty for the root itself
}

// IsZero reports whether p is the zero Pos.
func (p Pos) IsZero() bool { return p == Pos{} }

// String returns file:line:col, as in the output of compilers, without unknown parts.
func (p Pos) String() string {
	s := p.File
	if p.Line > 0 {
		if s != "" {
			s += ":"
		}
		s += strconv.Itoa(p.Line)
		if p.Col > 0 {
			s += ":" + strconv.Itoa(p.Col)
		}
	}
	return s
}

// Key returns the place of the value under key in the mapping at p. It keeps the line and column of p.
func (p Pos) Key(key string) Pos {
	p.Path = joinKey(p.Path, key)
	return p
}

// Index returns the place of item i of the sequence at p. It keeps the line and column of p.
func (p Pos) Index(i int) Pos {
	p.Path += "[" + strconv.Itoa(i) + "]"
	return p
}

// At returns the line and column of p with another path: the place of a missing value.
func (p Pos) At(path string) Pos {
	p.Path = path
	return p
}

// compare orders places by file, line, column and path.
func (p Pos) compare(q Pos) int {
	return cmp.Or(
		cmp.Compare(p.File, q.File),
		cmp.Compare(p.Line, q.Line),
		cmp.Compare(p.Col, q.Col),
		cmp.Compare(p.Path, q.Path),
	)
}

// joinKey appends a mapping's key to a path: after a dot if the key is a plain name, otherwise quoted in brackets.
func joinKey(path, key string) string {
	if !plainKey(key) {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func plainKey(key string) bool {
	for i := range len(key) {
		c := key[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
		case '0' <= c && c <= '9', c == '-':
			if i == 0 {
				return false
			}
		default:
			return false
		}
	}
	return key != ""
}
