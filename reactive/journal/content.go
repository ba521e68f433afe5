package journal

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/sluiceflow/sluice/template/value"
)

// Hash is the SHA-256 of a value's encoding.
type Hash [sha256.Size]byte

// Stream is the content stream that keeps the value: `blob/` and the hash in 64 lower-case hexadecimal digits.
func (h Hash) Stream() string { return blobPrefix + hex.EncodeToString(h[:]) }

// HashOf returns the hash of the value's encoding, and the encoding itself. It fails when v is not of the value model.
func HashOf(v any) (hash Hash, encoded []byte, err error) {
	if encoded, err = value.Encode(v); err != nil {
		return Hash{}, nil, err
	}
	return sha256.Sum256(encoded), encoded, nil
}

// encodeValue is the encoding of v, or nil for null: a field that is not there reads as null.
func encodeValue(v any) ([]byte, error) {
	const null = 7<<5 | 22
	if v == nil {
		return nil, nil
	}
	encoded, err := value.Encode(v)
	if err != nil || len(encoded) == 1 && encoded[0] == null {
		return nil, err
	}
	return encoded, nil
}
