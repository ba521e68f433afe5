package dag

import (
	"hash/maphash"
	"strings"
)

// keyTable maps node keys to dense ids and back. All keys are in one string and the table is one array of integers, so a
// million nodes are a few objects for the garbage collector and take about 30 bytes a node; a map[string]int32 with its strings
// takes over three times that.
//
//	text   "fetchpayship"
//	ends    5    8   12                  key of id i is text[ends[i-1]:ends[i]]
//	slots   open addressing, linear probing: hash in the upper half, id+1 in the lower, 0 is free
//
// Invariants:
//  1. len(slots) is a power of two and at most three quarters of it is used.
//  2. Every id is in exactly one slot, reachable from the one its hash names without crossing a free slot.
//  3. ends never decreases and ends at len(text).
type keyTable struct {
	seed  maphash.Seed
	buf   strings.Builder
	text  string // the contents of buf as a string, so that reading a key does not copy
	ends  []uint32
	slots []uint64
}

const slotsMin = 8

func newKeyTable() *keyTable {
	return &keyTable{seed: maphash.MakeSeed(), slots: make([]uint64, slotsMin)}
}

func (t *keyTable) len() int { return len(t.ends) }

func (t *keyTable) key(id int32) string {
	if id == 0 {
		return t.text[:t.ends[0]]
	}
	return t.text[t.ends[id-1]:t.ends[id]]
}

// find returns the id of a key.
func (t *keyTable) find(key string) (int32, bool) {
	id, _ := t.probe(key, t.hash(key))
	return id, id >= 0
}

// insert returns the id of a key and whether it was added just now.
func (t *keyTable) insert(key string) (id int32, added bool) {
	hash := t.hash(key)
	id, at := t.probe(key, hash)
	if id >= 0 {
		return id, false
	}
	if 4*(len(t.ends)+1) > 3*len(t.slots) {
		t.resize(2 * len(t.slots))
		at = t.free(hash)
	}
	id = int32(len(t.ends))
	t.slots[at] = slot(hash, id)
	t.buf.WriteString(key)
	t.text = t.buf.String()
	t.ends = append(t.ends, uint32(len(t.text)))
	return id, true
}

// grow reserves room for a total number of nodes, so that adding their keys copies only text.
func (t *keyTable) grow(nodes int) {
	size := len(t.slots)
	for 3*size < 4*nodes {
		size *= 2
	}
	if size > len(t.slots) {
		t.resize(size)
	}
	if extra := nodes - len(t.ends); extra > 0 {
		t.ends = append(make([]uint32, 0, nodes), t.ends...)
	}
}

// trim releases the spare room of text, if it is more than an eighth.
func (t *keyTable) trim() {
	if t.buf.Cap() > len(t.text)+len(t.text)/8 {
		t.text = strings.Clone(t.text)
	}
	t.buf = strings.Builder{}
}

func (t *keyTable) hash(key string) uint32 { return uint32(maphash.String(t.seed, key)) }

func slot(hash uint32, id int32) uint64 { return uint64(hash)<<32 | uint64(id+1) }

// probe returns the id of a key, or -1 and the free slot where the search ended.
func (t *keyTable) probe(key string, hash uint32) (id int32, at uint32) {
	mask := uint32(len(t.slots) - 1)
	for at = hash & mask; t.slots[at] != 0; at = (at + 1) & mask {
		// Comparing hashes first avoids reading the text of nearly all other keys.
		if s := t.slots[at]; uint32(s>>32) == hash {
			if id = int32(uint32(s)) - 1; t.key(id) == key {
				return id, at
			}
		}
	}
	return -1, at
}

func (t *keyTable) free(hash uint32) uint32 {
	mask := uint32(len(t.slots) - 1)
	at := hash & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	return at
}

// resize moves every slot into a table of size slots. Slots contain the hashes, so it reads no keys.
func (t *keyTable) resize(size int) {
	old := t.slots
	t.slots = make([]uint64, size)
	for _, s := range old {
		if s != 0 {
			t.slots[t.free(uint32(s>>32))] = s
		}
	}
}
