// Package tagged writes canonical CBOR (RFC 8949) with byte strings, which the values of package value do not have, for what is
// named by its hash.
package tagged

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Tag precedes the encoding of what is named by its hash: the value is CBOR.
var Tag = []byte{0xd9, 0xd9, 0xf7}

// Map is the tagged encoding of a map of at most 23 members. Each method appends one; their names ascend by their encodings, in
// which the length comes first.
type Map struct{ b []byte }

// NewMap returns a map without members.
func NewMap() *Map { return &Map{append(append(make([]byte, 0, 512), Tag...), 5<<5)} }

// Text appends a text string.
func (m *Map) Text(name, text string) {
	m.name(name)
	m.b = append(appendHead(m.b, 3, uint64(len(text))), text...)
}

// Bytes appends a byte string.
func (m *Map) Bytes(name string, data []byte) {
	m.name(name)
	m.b = append(appendHead(m.b, 2, uint64(len(data))), data...)
}

// Uint appends a whole number.
func (m *Map) Uint(name string, n uint64) {
	m.name(name)
	m.b = appendHead(m.b, 0, n)
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
	m.b = append(appendHead(m.b, 3, uint64(len(name))), name...)
}

// appendHead appends the head of an item in the shortest form: its major type, and its number or length.
func appendHead(b []byte, major byte, n uint64) []byte {
	major <<= 5
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n < 1<<8:
		return append(b, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), n)
}
