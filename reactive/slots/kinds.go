package slots

// Kind is a kind of room, counted from zero.
type Kind uint16

// Kinds is a set of kinds of room. The zero Kinds is empty.
type Kinds []uint64

// With adds a kind to the set, and returns it.
func (s Kinds) With(kind Kind) Kinds {
	s = append(s, make([]uint64, max(0, int(kind/64)+1-len(s)))...)
	s[kind/64] |= 1 << (kind % 64)
	return s
}

// Has reports whether a kind is in the set.
func (s Kinds) Has(kind Kind) bool { return int(kind/64) < len(s) && s[kind/64]>>(kind%64)&1 != 0 }
