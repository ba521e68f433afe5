// Package cborhead writes the heads of items of CBOR (RFC 8949) in the shortest form. The encodings of values, events, tries and
// tagged maps use no other form.
package cborhead

import (
	"encoding/binary"
	"math"
)

// Append appends the first byte of an item and its argument n. major is the major type in the upper three bits.
func Append(dst []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(dst, major|byte(n))
	case n <= math.MaxUint8:
		return append(dst, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, major|27), n)
}
