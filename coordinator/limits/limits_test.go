package limits_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template/value"
)

// bounded has the limits with a maximum, which also applies to no limit.
var bounded = map[string]int{"ValueBytesMax": 32 << 20, "ValueNodesMax": value.NodesMax, "DepthMax": 16}

// Each limit keeps its value, or has its default if it is not set, and is at most its maximum.
func TestCompletedFillsInEveryLimit(t *testing.T) {
	defaults := reflect.ValueOf(limits.Default())
	kind := defaults.Type()
	for i := range kind.NumField() {
		name, usual := kind.Field(i).Name, int(defaults.Field(i).Int())
		require.Positive(t, usual, name)
		most, isBounded := bounded[name]
		for _, set := range []int{0, 1, 7, -1, -9, 1 << 40} {
			want := set
			switch {
			case set == 0:
				want = usual
			case isBounded && (set < 0 || set > most):
				want = most
			}
			var l limits.Limits
			reflect.ValueOf(&l).Elem().Field(i).SetInt(int64(set))
			got := reflect.ValueOf(l.Completed())
			require.EqualValues(t, want, got.Field(i).Int(), "%s: %d", name, set)
			for j := range kind.NumField() {
				if j != i {
					require.Equal(t, defaults.Field(j).Int(), got.Field(j).Int(), "%s when %s is set", kind.Field(j).Name, name)
				}
			}
			require.EqualValues(t, set, reflect.ValueOf(l).Field(i).Int(), "the caller's are not changed")
		}
	}
}

// The limits of a run's decisions come from the limits with the same names; others keep their defaults.
func TestOfRunHasTheLimitsOfTheSameName(t *testing.T) {
	var l limits.Limits
	all := reflect.ValueOf(&l).Elem()
	for i := range all.NumField() {
		all.Field(i).SetInt(int64(100 + i))
	}
	of := reflect.ValueOf(l.OfRun())
	for i := range of.NumField() {
		name := of.Type().Field(i).Name
		if own := all.FieldByName(name); own.IsValid() {
			require.Equal(t, own.Int(), of.Field(i).Int(), name)
		} else {
			require.True(t, of.Field(i).IsZero(), name)
		}
	}
}

func TestCheckLabels(t *testing.T) {
	many := map[string]string{}
	for i := range 64 {
		many[fmt.Sprint(i)] = ""
	}
	more := map[string]string{"one more": ""}
	for name, text := range many {
		more[name] = text
	}
	for name, c := range map[string]struct {
		labels map[string]string
		text   string // of the error; "": none
		limit  bool
	}{
		"none":                   {nil, "", false},
		"the most":               {many, "", false},
		"one too many":           {more, "65 labels; a run has at most 64", true},
		"the longest name":       {map[string]string{strings.Repeat("n", 128): "x"}, "", false},
		"a name too long":        {map[string]string{strings.Repeat("n", 129): "x"}, "its name has 129 bytes, at most 128 are allowed", true},
		"no name":                {map[string]string{"": "x"}, `label "": its name is empty or not UTF-8`, false},
		"a name that is no text": {map[string]string{"\xff": "x"}, `label "\xff": its name is empty or not UTF-8`, false},
		"the longest text":       {map[string]string{"n": strings.Repeat("é", 512)}, "", false},
		"a text too long":        {map[string]string{"n": strings.Repeat("é", 513)}, `label "n" has 1026 bytes, at most 1024 are allowed`, true},
		"a text that is none":    {map[string]string{"n": "a\xff"}, `label "n": "a\xff" is not UTF-8`, false},
		"a text of two lines":    {map[string]string{"n": "a\nb"}, `label "n": the text "a\nb": remove the control character U+000A`, false},
		"a text that joins":      {map[string]string{"n": "می\u200cخواهم"}, "", false},
		"words":                  {map[string]string{"the team": "pay ments, München 東京"}, "", false},
		"the first of two":       {map[string]string{"b": "\xff", "a": "\xfe"}, `label "a"`, false},
	} {
		check(t, name, limits.CheckLabels(c.labels), c.text, c.limit)
	}
}

func TestCheckActor(t *testing.T) {
	for actor, c := range map[string]struct {
		text  string
		limit bool
	}{
		"":                       {"", false},
		"me":                     {"", false},
		strings.Repeat("a", 256): {"", false},
		strings.Repeat("a", 257): {"has 257 bytes, at most 256 are allowed", true},
		"\xff":                   {`actor "\xff": a name is written in UTF-8`, false},
	} {
		check(t, actor, limits.CheckActor(actor), c.text, c.limit)
	}
}

func TestCheckTexts(t *testing.T) {
	most := strings.Repeat("t", 64<<10)
	require.NoError(t, limits.CheckTexts("", "", ""))
	require.NoError(t, limits.CheckTexts(most, most, most))
	for i, what := range []string{"reason", "name of the message", "id of the message"} {
		with := func(text string) error {
			var texts [3]string
			texts[i] = text
			return limits.CheckTexts(texts[0], texts[1], texts[2])
		}
		check(t, what, with(most+"t"), "the "+what+" has 65537 bytes, at most 65536 are allowed", true)
		check(t, what, with("a\xff"), `the `+what+`, "a\xff", is not UTF-8`, false)
	}
}

func check(t *testing.T, name string, err error, text string, limit bool) {
	if text == "" {
		require.NoError(t, err, name)
		return
	}
	require.ErrorContains(t, err, text, name)
	require.Less(t, len(err.Error()), 250, "it quotes only the beginning")
	if limit {
		require.ErrorIs(t, err, decide.ErrLimit, name)
	} else {
		require.NotErrorIs(t, err, decide.ErrLimit, name)
	}
}
