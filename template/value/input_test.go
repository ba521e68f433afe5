package value_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/value"
)

func TestInputsSayWhatTheyMean(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1, "a": 2}`: `line 1, column 10: the key "a" comes twice: remove one`,
		"{\"x\": [1, {}],\n \"é\": {\"a\": 1,\n\"é\": 2, \"\\u0061\": 3}}": `line 3, column 9: the key "a" comes twice: remove one`,
		`[{"a": "a", "b": {"a": 1}}, {"a": {}, "a": []}]`:                  `line 1, column 39: the key "a" comes twice: remove one`,
		"{\"a\":\n \"é\\ud800\"}":                                          `line 2, column 4: the escape \ud800 is half a surrogate pair: write both halves, or the character itself`,
		"{\"a\":\n \"é\xff\"}":                                             `line 2, column 4: the byte 0xff is not UTF-8: write the text in UTF-8`,
	} {
		_, err := value.ParseInput([]byte(text))
		require.EqualError(t, err, "parse JSON: "+want)
		_, err = value.ParseJSON([]byte(text))
		require.NoError(t, err, "an answer is taken as it is")
	}
	for _, text := range []string{``, `{`, `{"a":1}}`, `1 2`, `[1e999]`} {
		_, err := value.ParseInput([]byte(text))
		_, as := value.ParseJSON([]byte(text))
		require.Equal(t, as, err)
	}
}

// Output of Sluice is valid input.
func TestEveryValueIsAnInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, err := value.Of(anything(3).Draw(t, "v"))
		require.NoError(t, err)
		text, err := value.JSON(v)
		require.NoError(t, err)
		back, err := value.ParseInput(text)
		require.NoError(t, err)
		require.True(t, value.Equal(v, back))
	})
}

// requireSameParsed requires that the one-pass reader, if it reads a text, returns the value of the general one. It reports whether it
// read it.
func requireSameParsed(t require.TestingT, text []byte) bool {
	got, ok := value.ParseQuickly(text)
	if ok {
		want, err := value.ParseGenerally(text)
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, got, "%q", text)
	}
	return ok
}

func TestMostTextsAreReadInOnePass(t *testing.T) {
	for _, text := range []string{
		`null`, ` [ ] `, "{\n}\t", `[true,false,null,"",{}]`, `{"a":[{"b":1},-2.5e3],"é":"\ud83d\ude00\n"}`, `-0`, `12345678901234567890.5`, `9223372036854775807`,
		strings.Repeat("[", 128) + strings.Repeat("]", 128),
	} {
		require.True(t, requireSameParsed(t, []byte(text)), text)
	}
	for _, text := range []string{
		``, ` `, `{`, `[`, `"`, `"\`, `[1,]`, `{"a":1,}`, `{"a"}`, `{"a" 1}`, `{a:1}`, `{1:1}`, `[1 2]`, `1 2`, `01`, `-`, `+1`, `.5`, `1.`, `1e`, `1e999`, `9223372036854775808`, `nul`, `nulls`,
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `"\ud800"`, `"\x"`, "\"\xff\"", "\"\\n\xff\"", "\"\n\"", "{\"\xff\":1}", "1\x00", strings.Repeat("[", 129) + strings.Repeat("]", 129),
	} {
		require.False(t, requireSameParsed(t, []byte(text)), text)
	}
	rapid.Check(t, func(t *rapid.T) {
		v, err := value.Of(anything(3).Draw(t, "v"))
		require.NoError(t, err)
		text, err := value.JSON(v)
		require.NoError(t, err)
		require.True(t, requireSameParsed(t, text), "%s", text)
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		text[at] = rapid.SampledFrom([]byte("{}[],:\"\\0-.eu ntf\xff\n")).Draw(t, "byte")
		requireSameParsed(t, text)
	})
}

// A message cuts a long key between two characters.
func TestAMessageCutsNoCharacterInHalf(t *testing.T) {
	for name, want := range map[string]string{
		strings.Repeat("a", 39) + "éb":  strings.Repeat("a", 39) + "…",
		strings.Repeat("a", 38) + "éb":  strings.Repeat("a", 38) + "é…",
		strings.Repeat("a", 37) + "😀bc": strings.Repeat("a", 37) + "…",
		strings.Repeat("a", 40):         strings.Repeat("a", 40),
	} {
		_, err := value.ParseInput([]byte(`{"` + name + `": 1, "` + name + `": 2}`))
		require.ErrorContains(t, err, `the key "`+want+`" comes twice`)
	}
}
