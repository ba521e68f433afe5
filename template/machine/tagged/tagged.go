// Package tagged writes canonical CBOR (RFC 8949) with byte strings, which the values of package value do not have, for data that is
// named by its hash.
package tagged

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/sluiceflow/sluice/internal/cborhead"
)

// Tag precedes the encoding of a value named by its hash: the value is CBOR.
var Tag = []byte{0xd9, 0xd9, 0xf7}

// Map is the tagged encoding of a map of at most 23 members. Each method appends one; their names ascend by their encodings, in
// which the length comes first.
type Map struct{ b []byte }

// NewMap returns a map without members.
func NewMap() *Map { return &Map{append(append(make([]byte, 0, 512), Tag...), 5<<5)} }

// Text appends a text string.
func (m *Map) Text(name, text string) {
	m.name(name)
	m.b = append(cborhead.Append(m.b, 3<<5, uint64(len(text))), text...)
}

// Bytes appends a byte string.
func (m *Map) Bytes(name string, data []byte) {
	m.name(name)
	m.b = append(cborhead.Append(m.b, 2<<5, uint64(len(data))), data...)
}

// Uint appends a whole number.
func (m *Map) Uint(name string, n uint64) {
	m.name(name)
	m.b = cborhead.Append(m.b, 0<<5, n)
}

// Encoding returns the encoding, which is valid until the next member is appended.
func (m *Map) Encoding() []byte { return m.b }

// Hash returns the hash of the encoding.
func (m *Map) Hash() [32]byte { return sha256.Sum256(m.b) }

// HashText returns the hash as a value of the type hash: sha256: and 64 digits.
func (m *Map) HashText() string {
	hash := m.Hash()
	return "sha256:" + hex.EncodeToString(hash[:])
}

func (m *Map) name(name string) {
	m.b[len(Tag)]++ // the number of members
	m.b = append(cborhead.Append(m.b, 3<<5, uint64(len(name))), name...)
}
