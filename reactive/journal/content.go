package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/sluiceflow/sluice/template/value"
)

// Hash is the SHA-256 of a value's encoding, or of content in a ContentStore.
type Hash [sha256.Size]byte

// Stream returns the content stream of the value: `blob/` and the hash in 64 lower-case hexadecimal digits.
func (h Hash) Stream() string { return blobPrefix + hex.EncodeToString(h[:]) }

// HashOf returns the hash of a value's encoding, and the encoding. It fails if v is not a value of package value.
func HashOf(v any) (hash Hash, encoded []byte, err error) {
	if encoded, err = value.Encode(v); err != nil {
		return Hash{}, nil, err
	}
	return sha256.Sum256(encoded), encoded, nil
}

// AppendContent appends the encoding of a ContentStored event, number 1 of its stream, for an encoded value. It is
// Codec.Append for a store that has already encoded the value.
func AppendContent(dst []byte, at int64, encoded []byte) []byte {
	w := encoder{b: dst}
	outer := w.begin()
	w.uint(fieldVersion, formatVersion)
	w.uint(eventType, uint64(ContentStored))
	w.uint(eventSeq, 1)
	w.int(eventAt, at)
	w.bytes(eventValue, encoded)
	w.end(outer)
	return w.b
}

// DecodeContent returns the encoding of the value in a ContentStored event, which is part of data.
func DecodeContent(data []byte) (encoded []byte, err error) {
	d := decoder{b: data}
	n := d.version("an event")
	for key := fieldVersion; n > 0 && d.err == nil; n-- {
		key = d.key(key)
		switch key {
		case eventType, eventSeq:
			d.uint()
		case eventAt:
			d.int()
		case eventValue:
			encoded = d.bytes()
		default:
			d.unknown(key)
		}
	}
	if d.err != nil {
		return nil, fmt.Errorf("decode content: %w", d.err)
	}
	return encoded, nil
}
