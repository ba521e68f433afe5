package trie

import (
	"crypto/sha256"
	"fmt"
)

// An Indexed is an entry of an index, which finds a cell by a value. It is encoded as the array of its fields, in their order, and
// its path is the hash of the value followed by the hash of the key.
type Indexed struct {
	// Value is the hash of the value.
	Value Hash

	// Key is the encoded key of the cell.
	Key []byte
}

// Index returns a Trie of the cells of one machine by one value of each. Walk from the hash of a value to its NextHash yields
// the cells with that value.
func Index(fetch func(hash Hash) ([]byte, error)) Trie {
	return Trie{PathBytes: 2 * len(Hash{}), AppendPath: appendIndexedPath, Fetch: fetch}
}

func appendIndexedPath(dst, data []byte) ([]byte, error) {
	x, err := decodeIndexed(data)
	return x.appendPath(dst), err
}

func (x *Indexed) appendPath(dst []byte) []byte {
	key := sha256.Sum256(x.Key)
	return append(append(dst, x.Value[:]...), key[:]...)
}

// NextHash returns the least bytes after all paths that begin with a hash, or nil if there are none.
func NextHash(hash Hash) []byte {
	for i := len(hash) - 1; i >= 0; i-- {
		if hash[i]++; hash[i] != 0 {
			return hash[:]
		}
	}
	return nil
}

// indexedFields is the number of fields of an encoded Indexed.
const indexedFields = 2

// Entry returns the indexed cell as an entry.
func (x *Indexed) Entry() Entry {
	data := append(make([]byte, 0, 1+2*9+len(x.Value)+len(x.Key)), majorArray|indexedFields)
	data = appendBytes(appendBytes(data, x.Value[:]), x.Key)
	return Entry{Path: x.appendPath(make([]byte, 0, 2*len(Hash{}))), Data: data}
}

// DecodeIndexed decodes the result of Entry; its key is part of data. Any other bytes are ErrDamaged.
func DecodeIndexed(data []byte) (Indexed, error) {
	x, err := decodeIndexed(data)
	if err != nil {
		return Indexed{}, fmt.Errorf("%w: an entry of an index: %w", ErrDamaged, err)
	}
	return x, nil
}

func decodeIndexed(data []byte) (Indexed, error) {
	d := &decoder{b: data}
	d.array(indexedFields)
	x := Indexed{Value: d.hash(), Key: d.bytes()}
	if d.err == nil && x.Value == (Hash{}) {
		d.fail(fmt.Errorf("a value without a hash"))
	}
	return x, d.end()
}
