package value_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/value"
)

// The document and the pointers are those of RFC 6901, section 5.
func TestPointersOfTheRFC(t *testing.T) {
	doc, err := value.ParseJSON([]byte(`{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}`))
	require.NoError(t, err)
	for text, want := range map[string]any{
		"": doc, "/foo": []any{"bar", "baz"}, "/foo/0": "bar", "/": 0, "/a~1b": 1, "/c%d": 2, "/e^f": 3, "/g|h": 4, `/i\j`: 5, `/k"l`: 6, "/ ": 7, "/m~0n": 8,
	} {
		p, err := value.ParsePointer(text)
		require.NoError(t, err)
		require.Equal(t, text, p.String())
		got, err := p.Lookup(doc)
		require.NoError(t, err)
		require.True(t, value.Equal(want, got), text)
	}
	p, err := value.ParsePointer("/~01")
	require.NoError(t, err)
	require.Equal(t, value.Pointer{"~1"}, p)
}

func TestPointersThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"a": `invalid pointer "a": it must be empty or begin with a slash`, "#/a": "begin with a slash", "/a~": "a tilde is written ~0", "/~2": `in "~2"`,
	} {
		_, err := value.ParsePointer(text)
		require.ErrorContains(t, err, want)
	}
}

func TestLookupSaysWhichSegmentIsMissing(t *testing.T) {
	doc := map[string]any{"a": map[string]any{"list": []any{int64(1), "x"}, "n": int64(1), "none": nil, "b/c": true}}
	tests := []struct {
		pointer string
		segment int
		want    string
	}{
		{"/b", 0, `/b: the object at the root has no key "b"`},
		{"/a/x/y", 1, `/a/x/y: the object at /a has no key "x"`},
		{"/a/list/2", 2, `/a/list/2: the list at /a/list has 2 items, so there is no index 2`},
		{"/a/list/99999999999999999999", 2, `so there is no index 99999999999999999999`},
		{"/a/list/-", 2, `/a/list/-: "-" is not an index of the list at /a/list`},
		{"/a/list/01", 2, `"01" is not an index`},
		{"/a/list/-1", 2, `"-1" is not an index`},
		{"/a/list/", 2, `"" is not an index`},
		{"/a/n/x", 2, `/a/n/x: at /a/n there is an integer, which has no "x"`},
		{"/a/none/x", 2, `at /a/none there is null, which has no "x"`},
		{"/a/b~1c/x", 2, `at /a/b~1c there is a boolean, which has no "x"`},
	}
	for _, tt := range tests {
		t.Run(tt.pointer, func(t *testing.T) {
			p, err := value.ParsePointer(tt.pointer)
			require.NoError(t, err)
			_, err = p.Lookup(doc)
			require.ErrorContains(t, err, tt.want)
			var missing *value.MissingError
			require.ErrorAs(t, err, &missing)
			require.Equal(t, tt.segment, missing.Segment)
		})
	}
}

func TestLookupDecodesARaw(t *testing.T) {
	raw, err := value.Encode(map[string]any{"a": 1})
	require.NoError(t, err)
	got, err := value.Pointer{"a"}.Lookup(value.Raw(raw))
	require.NoError(t, err)
	require.Equal(t, int64(1), got)
	_, err = value.Pointer{"a"}.Lookup(value.Raw{0xff})
	require.ErrorContains(t, err, "decode value")
}
