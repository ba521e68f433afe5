package schema

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/sluiceflow/sluice/template/value"
)

// Tag precedes values that are named by their hashes: keys, params, definitions and intents. It means that CBOR follows (RFC 8949,
// section 3.4.6).
const Tag = "\xd9\xd9\xf7"

// Tagged returns the tag and the canonical encoding of a value.
func Tagged(v value.Value) ([]byte, error) {
	tagged, err := value.Append([]byte(Tag), v)
	if err != nil {
		return nil, err
	}
	return tagged, nil
}

// HashTagged returns the hash of Tagged(v) as a value of the type hash: sha256: and 64 digits.
func HashTagged(v value.Value) (string, error) {
	tagged, err := Tagged(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(tagged)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
