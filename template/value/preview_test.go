package value_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/value"
)

func TestPreview(t *testing.T) {
	tests := []struct {
		v     any
		size  int
		text  string
		whole bool
	}{
		{nil, 10, "null", true},
		{"abc", 5, `"abc"`, true},
		{"abc", 4, `"abc`, false},
		{"日本", 8, `"日本"`, true},
		{"日本", 7, `"日本`, false},
		{"日本", 6, `"日`, false},
		{map[string]any{"b": int64(1), "a": []any{int64(1), int64(2)}}, 15, `{"a":[1,2],"b":`, false},
		{strings.Repeat("x", 1<<20), 3, `"xx`, false},
		{map[string]int{"n": 7}, 10, `{"n":7}`, true},
	}
	for _, test := range tests {
		text, whole, err := value.Preview(test.v, test.size)
		require.NoError(t, err)
		require.Equal(t, test.text, string(text))
		require.Equal(t, test.whole, whole)
	}
	_, _, err := value.Preview(make(chan int), 10)
	require.Error(t, err)
}

// TestPreviewIsTheBeginning: a preview is the beginning of the JSON, as long as allowed, and valid.
func TestPreviewIsTheBeginning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anything(3).Draw(t, "value")
		size := rapid.IntRange(0, 60).Draw(t, "size")
		all, err := value.JSON(v)
		require.NoError(t, err)
		text, whole, err := value.Preview(v, size)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(all), string(text)))
		require.Equal(t, len(all) <= size, whole)
		require.Equal(t, whole, len(text) == len(all))
		require.True(t, utf8.Valid(text))
		require.True(t, whole || len(text) > size-utf8.UTFMax, "cut by more than a character")
	})
}
