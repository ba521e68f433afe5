package cli

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Escaped JSON has the same value and only printable characters.
func TestEscapedJSONIsTheSameValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := map[string]string{rapid.String().Draw(t, "key"): rapid.String().Draw(t, "text") + "\u009b\u202e\U000e0001\x7f"}
		var out bytes.Buffer
		require.NoError(t, json.NewEncoder(escapingWriter{&out}).Encode(value))
		require.NotRegexp(t, `[\x{7f}-\x{9f}\x{202a}-\x{202e}\x{e0001}]`, out.String())
		var back map[string]string
		require.NoError(t, json.Unmarshal(out.Bytes(), &back))
		require.Equal(t, value, back)
	})
}
