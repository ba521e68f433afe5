// Package tagged writes canonical CBOR (RFC 8949) with byte strings, which the values of package value do not have, for what is
// named by its hash.
package tagged

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Tag precedes the encoding of what is named by its hash: the value is CBOR.
var Tag = []byte{0xd9, 0xd9, 0xf7}

// Member is a key of a map and its encoded value.
type Member struct {
	Name    string // of the key
	Encoded []byte // value
}

// Map returns the tagged encoding of a map, whose keys are sorted by their encodings.
func Map(members ...Member) []byte {
	slices.SortFunc(members, func(a, b Member) int { return bytes.Compare(Text(a.Name), Text(b.Name)) })
	out := append(slices.Clone(Tag), Head(5, uint64(len(members)))...)
	for _, m := range members {
		out = append(append(out, Text(m.Name)...), m.Encoded...)
	}
	return out
}

// Text returns a text string.
func Text(text string) []byte { return append(Head(3, uint64(len(text))), text...) }

// Bytes returns a byte string.
func Bytes(data []byte) []byte { return append(Head(2, uint64(len(data))), data...) }

// Head returns the head of an item in the shortest form: its major type, and its number or length.
func Head(major byte, n uint64) []byte {
	major <<= 5
	switch {
	case n < 24:
		return []byte{major | byte(n)}
	case n < 1<<8:
		return []byte{major | 24, byte(n)}
	case n < 1<<16:
		return binary.BigEndian.AppendUint16([]byte{major | 25}, uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32([]byte{major | 26}, uint32(n))
	}
	return binary.BigEndian.AppendUint64([]byte{major | 27}, n)
}
