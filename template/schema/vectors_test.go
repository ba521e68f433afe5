package schema_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/schema"
)

// The file has vectors of other packages too, beside values and keys.
func TestCanonicalVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/canonical-vectors.json")
	require.NoError(t, err)
	var vectors struct {
		Values []struct {
			Label string
			JSON  any
			CBOR  string `json:"cbor_hex"`
			Hash  string
		}
		Keys []struct {
			Key   any
			Bytes string `json:"key_bytes_hex"`
			Hash  string `json:"key_hash"`
		}
	}
	require.NoError(t, json.Unmarshal(data, &vectors))
	require.Len(t, vectors.Values, 4)
	require.Len(t, vectors.Keys, 5)
	for _, v := range vectors.Values {
		tagged, err := schema.Tagged(v.JSON)
		require.NoError(t, err)
		require.Equal(t, v.CBOR, hex.EncodeToString(tagged), v.Label)
		hash, err := schema.HashTagged(v.JSON)
		require.NoError(t, err)
		require.Equal(t, v.Hash, hash, v.Label)
	}
	for _, k := range vectors.Keys {
		tagged, err := schema.Tagged(k.Key)
		require.NoError(t, err)
		require.Equal(t, k.Bytes, hex.EncodeToString(tagged))
		sum := sha256.Sum256(tagged)
		require.Equal(t, k.Hash, hex.EncodeToString(sum[:]))
	}
}

// The definition of a vector is the normal form of a type.
func TestTheVectorOfADefinition(t *testing.T) {
	ts := types(t, "com.acme/Point@1: {record: {y: int, x: int}}")
	hash, err := schema.HashTagged(map[string]any{"$kind": "defschema", "name": "com.acme/Point@1",
		"type": ts.Document().(map[string]any)["com.acme/Point@1"]})
	require.NoError(t, err)
	require.Equal(t, "sha256:9b74eadb8810612f1becfbf9b4502cccb0ef290b90e3e912b316fc279e779add", hash)
}

func TestWhatCannotBeEncodedHasNoHash(t *testing.T) {
	for _, v := range []any{make(chan int), []any{func() {}}} {
		_, err := schema.Tagged(v)
		require.ErrorContains(t, err, "cannot be represented")
		_, err = schema.HashTagged(v)
		require.ErrorContains(t, err, "cannot be represented")
	}
}
