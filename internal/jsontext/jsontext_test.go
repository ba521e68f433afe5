package jsontext_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/internal/jsontext"
)

func TestHalf(t *testing.T) {
	for text, at := range map[string]int{
		`"plain"`: -1, `"\ud83d\ude00"`: -1, `"\\ud800"`: -1, `"\"\\\\ud800"`: -1, `"\n\u00e9\/"`: -1,
		`"\ud800"`: 1, `"ab\udc00"`: 3, `{"\uD800x": 1}`: 2, `"\ud83d\ud83d\ude00"`: 1, `"\ud83d\n"`: 1, `"\\\udfff"`: 3, `"\ud83d\ude00\ude00"`: 13,
	} {
		require.True(t, json.Valid([]byte(text)), text)
		require.Equal(t, at, jsontext.Half([]byte(text)), text)
	}
	require.Equal(t, -1, jsontext.Half([]byte(`"\`)), "what is not valid has no meaning, and no panic")
}

// A text has half a pair if, and only if, encoding/json replaces an escape.
func TestHalfIsWhatEncodingJSONReplaces(t *testing.T) {
	parts := rapid.SampledFrom([]string{`\ud83d`, `\ude00`, `\uD800`, `\\`, `\n`, `\u0041`, "x", "é", "ud83d"})
	rapid.Check(t, func(t *rapid.T) {
		text := `"` + strings.Join(rapid.SliceOfN(parts, 0, 8).Draw(t, "parts"), "") + `"`
		var v string
		require.NoError(t, json.Unmarshal([]byte(text), &v))
		require.Equal(t, strings.ContainsRune(v, '\uFFFD'), jsontext.Half([]byte(text)) >= 0, text)
	})
}

func TestWholeAgreesWithRationals(t *testing.T) {
	require.Equal(t, int64(9007199254740993), whole(t, "9007199254740993.0"))
	require.Equal(t, int64(9223372036854775807), whole(t, "922337203685477580.7e1"))
	require.Equal(t, int64(-9223372036854775808), whole(t, "-9223372036854775808.000"))
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[0-9]{0,21}`)
		before, after := digits.Draw(t, "before"), digits.Draw(t, "after")
		sign := rapid.SampledFrom([]string{"", "-", "+"}).Draw(t, "sign")
		number := fmt.Sprintf("%s0%s.%s0e%d", sign, before, after, rapid.IntRange(-25, 25).Draw(t, "exponent"))
		exact, ok := new(big.Rat).SetString(number)
		require.True(t, ok)
		got, fits := jsontext.Whole(number)
		require.Equal(t, exact.IsInt() && exact.Num().IsInt64(), fits, number)
		if fits {
			require.Equal(t, exact.Num().Int64(), got, number)
		}
	})
	for _, number := range []string{"1e99999999999999999999", "1e1000000000", "-1e-1000000000", "0.5", "9223372036854775808.0"} {
		_, fits := jsontext.Whole(number)
		require.False(t, fits, number)
	}
}

func whole(t *testing.T, number string) int64 {
	v, fits := jsontext.Whole(number)
	require.True(t, fits, number)
	return v
}
