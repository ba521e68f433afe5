package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRowsStayAligned(t *testing.T) {
	var out bytes.Buffer
	table := NewTable(&out)
	table.Row("STEP", "STATUS", "REMARK")
	table.Row("  in\tner", "failed", "a\nb\x1b[2J", "")
	table.Row("x", "", "")
	table.End()
	require.Equal(t, "STEP      STATUS  REMARK\n  in ner  failed  a b\nx\n", out.String())
}

func TestObjectsAreOneALineOrOneList(t *testing.T) {
	for list, want := range map[bool][]string{
		false: {"", "1\n", "1\n\"<\"\n"},
		true:  {"[\n]\n", "[\n1\n]\n", "[\n1,\n\"<\"\n]\n"},
	} {
		for n, text := range want {
			var out bytes.Buffer
			o := NewObjects(&out, list)
			for _, v := range []any{1, "<"}[:n] {
				o.Print(v)
			}
			require.NoError(t, o.End())
			require.Equal(t, text, out.String())
		}
	}
	o := NewObjects(gone{}, false)
	o.Print(1)
	require.EqualError(t, o.Flush(), "gone")
	require.EqualError(t, o.End(), "gone")
	o = NewObjects(&bytes.Buffer{}, false)
	o.Print(func() {})
	o.Print(1)
	require.ErrorContains(t, o.End(), "unsupported type")
}

func TestTextsForPeople(t *testing.T) {
	require.Equal(t, "1 step", Plural(1, "step"))
	require.Equal(t, "0 steps", Plural(0, "step"))
	require.Equal(t, strings.Repeat("ü", ShortMax), Short([]byte(strings.Repeat("ü", ShortMax))))
	require.Equal(t, strings.Repeat("ü", ShortMax-1)+"…", Short([]byte(strings.Repeat("ü", ShortMax+1))))
	began := time.Unix(1, 0)
	require.Equal(t, "1.5s", Took(began, began.Add(1500*time.Millisecond), began))
	require.Empty(t, Took(time.Time{}, began, began))
	require.Equal(t, "2.0s", Took(began, time.Time{}, began.Add(2*time.Second)))
	require.Empty(t, Local(time.Time{}))
	require.Equal(t, began.Format(Clock), Local(began.UTC()))
}

func TestAChoiceIsOneOfItsWords(t *testing.T) {
	c := NewChoice("text", "json")
	require.Equal(t, "text|json", c.Type())
	require.ErrorContains(t, c.Set("jsno"), `did you mean "json"?`)
	require.EqualError(t, c.Set("quite another"), "it is one of text, json")
	require.Empty(t, c.String())
	require.NoError(t, c.Set("json"))
	require.Equal(t, "json", c.Value)
}

func TestInputIsJSONOrAFileOrStandardInput(t *testing.T) {
	stdin := strings.NewReader(`{"a": 1}`)
	v, err := ReadInput("", stdin)
	require.NoError(t, err)
	require.Nil(t, v)
	v, err = ReadInput("-", stdin)
	require.NoError(t, err)
	require.Equal(t, `{"a":1}`, string(ValueJSON(v)))
	v, err = ReadInput("[1]", stdin)
	require.NoError(t, err)
	require.Equal(t, `[1]`, string(ValueJSON(v)))
	_, err = ReadInput("@"+t.TempDir()+"/none", stdin)
	require.ErrorContains(t, err, "none")
	_, err = ReadInput("{", stdin)
	require.Error(t, err)
}
