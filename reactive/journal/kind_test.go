package journal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Journals contain the words, so they must not change.
func TestKindOfKeepsItsWords(t *testing.T) {
	for want, v := range map[string]any{
		"null": nil, "a boolean": true, "a string": "", "a number": int64(1), "an object": map[string]any{}, "[]interface {}": []any{},
	} {
		require.Equal(t, want, journal.KindOf(v))
	}
	require.Equal(t, "a number", journal.KindOf(1.5))
}
