package query_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func TestErrorsNameThePlaceTheTextAndTheFix(t *testing.T) {
	for text, want := range map[string]string{
		"staus:failed":              `column 1: "staus": there is no such key: the keys are status workflow kind hash run label.NAME waits held code parent started updated ended due age (did you mean "status"?)`,
		"workflow:a status:faild":   `column 19: "faild": status is one of running waiting paused completed failed partial aborted deadline_exceeded step_timeout damaged (did you mean "failed"?)`,
		"status>failed":             `column 7: ">": status takes : (did you mean "status:"?)`,
		"a status=failed":           `column 9: "=": status takes : (did you mean "status:"?)`,
		"label.team=pay":            `column 11: "=": label.team takes : (did you mean "label.team:"?)`,
		"code!=a:b":                 `column 5: "!=": code takes : (did you mean "-code:"?)`,
		"started=2026-11-01":        `column 8: "=": started takes < <= > >= (did you mean "started>"?)`,
		"started:2026-11-01":        `column 8: ":": started takes < <= > >= (did you mean "started>"?)`,
		"ü started>2026-13-01":      `column 11: "2026-13-01": this is no date and no instant (did you mean "started>2026-11-01"?)`,
		"age>1x":                    `column 5: "1x": this is no age: a number and s, m, h, d or w (did you mean "age>1h"?)`,
		"age>-1h":                   `column 5: "-1h": this is no age: a number and s, m, h, d or w (did you mean "age>1h"?)`,
		"started>2026-01-01,2026":   `column 9: "2026-01-01,2026": started is compared with one value`,
		"code:":                     `column 6: "": a value is missing; an empty one is ""`,
		"code:a,":                   `column 8: "": a value is missing; an empty one is ""`,
		`code:"a`:                   `column 6: "\"a": the quote is not closed`,
		`code:"a"b`:                 `column 9: "b": a space or a comma belongs behind the quote`,
		`code:a"b"`:                 `column 7: "\"b\"": a quote stands before the whole value, or as \" within quotes`,
		`code:"\n"`:                 `column 7: "\\n\"": within quotes, a backslash stands before a quote or a backslash`,
		`label."a b"`:               `column 12: "": a colon and the text of the label belong behind its name (did you mean "label.\"a b\":TEXT"?)`,
		`label."a b">x`:             `column 12: ">": label.a b takes : (did you mean "label.\"a b\":"?)`,
		`label."a b:x`:              `column 7: "\"a b:x": the quote is not closed`,
		`label."":x`:                `column 1: "label.": there is no such key: the keys are status workflow kind hash run label.NAME waits held code parent started updated ended due age (did you mean "label.NAME"?)`,
		"label:x":                   `column 1: "label": there is no such key: the keys are status workflow kind hash run label.NAME waits held code parent started updated ended due age (did you mean "label.NAME"?)`,
		"waits:peron":               `column 7: "peron": waits is one of message person timer gate paused worker (did you mean "person"?)`,
		"a\xff":                     `column 1: "a�": the query is not UTF-8`,
		strings.Repeat("x", 10<<20): `column 1: "` + strings.Repeat("x", 40) + `…": the query has 10485760 bytes, and 4096 are the most`,
		strings.Repeat("x ", 65):    `column 129: "x ": the query has more than 64 terms`,
		strings.Repeat("x,", 65):    `column 129: "x": a term has at most 64 values`,
		"-":                         `column 2: "": a value is missing; an empty one is ""`,
	} {
		_, err := query.Parse(text, now)
		require.EqualError(t, err, want)
	}
}

// A label is named in quotes if its name has spaces or signs, and a query with that label has the same meaning when it is read again.
func TestALabelIsNamedInQuotes(t *testing.T) {
	for _, name := range []string{"team", "my team", "a:b", "a=b", `a"b\c`, "a,b", "-a"} {
		made, err := query.Parse("", now)
		require.NoError(t, err)
		require.NoError(t, made.WithLabel(name, "x y"))
		read, err := query.Parse(made.String(), now)
		require.NoError(t, err, made.String())
		require.Equal(t, made.String(), read.String())
		for text, want := range map[string]bool{"x y": true, "x": false} {
			head := journal.Head{Run: "r", Labels: map[string]string{name: text}}
			require.Equal(t, want, read.Matches(&head), made.String())
		}
	}
	q, err := query.Parse(`-label."my team":x,y status:failed`, now)
	require.NoError(t, err)
	require.Equal(t, `-label."my team":x,y status:failed`, q.String())
}

func TestExplain(t *testing.T) {
	for text, want := range map[string]query.Explanation{
		"": {Index: "start", Terms: []query.Carry{}},
		"status:failed workflow:order -waits:timer": {Index: "status", Terms: []query.Carry{
			{Term: "status:failed", By: "index"}, {Term: "workflow:order", By: "filter"}, {Term: "-waits:timer", By: "filter"}}},
		"workflow:order started>2026-11-01 label.team:a,b": {Index: "label.team", Terms: []query.Carry{
			{Term: "workflow:order", By: "filter"}, {Term: "started>2026-11-01", By: "index"}, {Term: "label.team:a,b", By: "index"}}},
		"label.team:a run:a,b -run:c": {Index: "run", Terms: []query.Carry{
			{Term: "label.team:a", By: "filter"}, {Term: "run:a,b", By: "index"}, {Term: "-run:c", By: "filter"}}},
		"status:damaged 01a2": {Index: "start", Terms: []query.Carry{{Term: "status:damaged", By: "filter"}, {Term: "01a2", By: "filter"}}},
	} {
		q, err := query.Parse(text, now)
		require.NoError(t, err)
		require.Equal(t, want, q.Explain(), text)
		require.Equal(t, text, q.String())
	}
}

func TestACursorBelongsToItsQuery(t *testing.T) {
	a, err := query.Parse("status:failed", now)
	require.NoError(t, err)
	b, err := query.Parse("status:aborted", now)
	require.NoError(t, err)
	cursor := a.Cursor(&journal.Head{Run: "r", Started: 7})
	for _, wrong := range []string{cursor, "x", "ä", "AAAA", cursor[:8]} {
		for _, err := range b.Each(t.Context(), memory.New(), wrong) {
			require.ErrorIs(t, err, query.ErrCursor, wrong)
		}
	}
	for range a.Each(t.Context(), memory.New(), cursor) {
		t.Fatal("there is no run")
	}
}

// word is a term with a naive filter.
type word struct {
	text  string
	holds func(h *journal.Head) bool
}

// words draws terms, each with a filter of the same meaning.
var words = rapid.Custom(func(t *rapid.T) word {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	several := func(from ...string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(from), 1, 2, rapid.ID[string]).Draw(t, "values")
	}
	var w word
	switch pick("key", "status", "workflow", "label", "waits", "started", "age", "code", "parent", "run", "bare") {
	case "status":
		v := several("running", "waiting", "failed", "completed")
		w = word{"status:" + strings.Join(v, ","), func(h *journal.Head) bool { return slices.Contains(v, h.Status) }}
	case "workflow":
		v := several("order", "re fund")
		w = word{`workflow:"` + strings.Join(v, `","`) + `"`, func(h *journal.Head) bool { return slices.Contains(v, h.Name) }}
	case "label":
		v := several("x", "", `a"b\`)
		quoted := make([]string, len(v))
		for i := range v {
			quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v[i]) + `"`
		}
		w = word{"label.team:" + strings.Join(quoted, ","), func(h *journal.Head) bool {
			text, has := h.Labels["team"]
			return has && slices.Contains(v, text)
		}}
	case "waits":
		v := several("person", "timer", "worker")
		w = word{"waits:" + strings.Join(v, ","), func(h *journal.Head) bool {
			for _, wait := range h.Waits {
				if h.Open && slices.Contains(v, wait.Kind) {
					return true
				}
			}
			return false
		}}
	case "started":
		day := rapid.IntRange(19, 24).Draw(t, "day")
		at := time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC)
		sign := pick("sign", "<", "<=", ">", ">=")
		w = word{fmt.Sprintf("started%s2026-11-%02d", sign, day), func(h *journal.Head) bool {
			started := time.Unix(0, h.Started)
			return map[string]bool{"<": started.Before(at), "<=": !started.After(at), ">": started.After(at), ">=": !started.Before(at)}[sign]
		}}
	case "age":
		days := rapid.IntRange(0, 4).Draw(t, "days")
		older := rapid.Bool().Draw(t, "older")
		w = word{fmt.Sprintf("age%s%dd", map[bool]string{true: ">", false: "<"}[older], days), func(h *journal.Head) bool {
			age, than := now.Sub(time.Unix(0, h.Started)), time.Duration(days)*24*time.Hour
			return older && age > than || !older && age < than
		}}
	case "code":
		w = word{"code:timeout", func(h *journal.Head) bool { return h.Code == "timeout" }}
	case "parent":
		w = word{"parent:none", func(h *journal.Head) bool { return !strings.Contains(h.Run, "/") }}
	case "run":
		v := several("a", "b/c#1", "f", "none")
		w = word{"run:" + strings.Join(v, ","), func(h *journal.Head) bool { return slices.Contains(v, h.Run) }}
	default:
		v := pick("bare", "a", "fun", "b/")
		w = word{v, func(h *journal.Head) bool { return strings.HasPrefix(h.Run, v) || strings.Contains(h.Name, v) }}
	}
	if rapid.Bool().Draw(t, "not") {
		return word{"-" + w.text, func(h *journal.Head) bool { return !w.holds(h) }}
	}
	return w
})

// A list has the runs that a naive filter finds, newest first, in one go or in parts.
func TestAListIsThatOfANaiveFilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := memory.New()
		var all []journal.Head
		for i, id := range []string{"a", "ab", "b", "b/c#1", "c", "d", "e", "f"} {
			h := journal.Head{
				Run: id, Name: rapid.SampledFrom([]string{"order", "re fund"}).Draw(t, "name"), Code: rapid.SampledFrom([]string{"", "timeout"}).Draw(t, "code"),
				Status:  rapid.SampledFrom([]string{"running", "waiting", "failed", "completed"}).Draw(t, "status"),
				Started: now.Add(-time.Duration(rapid.IntRange(0, 8).Draw(t, "started")) * 12 * time.Hour).UnixNano(), Last: 1,
			}
			h.Open = h.Status == "running" || h.Status == "waiting"
			if i%2 == 0 {
				h.Labels = map[string]string{"team": rapid.SampledFrom([]string{"x", "", `a"b\`}).Draw(t, "label")}
			}
			for range rapid.IntRange(0, 2).Draw(t, "waits") {
				h.Waits = append(h.Waits, journal.Wait{Kind: rapid.SampledFrom([]string{"person", "timer", "worker"}).Draw(t, "wait")})
			}
			_, err := s.Append(context.Background(), id, 0, []journal.Event{{Type: journal.RunStarted}}, h)
			require.NoError(t, err)
			all = append(all, h)
		}
		terms := rapid.SliceOfN(words, 0, 4).Draw(t, "terms")
		texts := make([]string, len(terms))
		want := []string{}
		for i, w := range terms {
			texts[i] = w.text
		}
		slices.SortStableFunc(all, func(a, b journal.Head) int { return int(b.Started/1e9 - a.Started/1e9) })
		for i := range all {
			if !slices.ContainsFunc(terms, func(w word) bool { return !w.holds(&all[i]) }) {
				want = append(want, all[i].Run)
			}
		}
		q, err := query.Parse(strings.Join(texts, "  "), now)
		require.NoError(t, err)
		for _, part := range []int{100, 1, 3} {
			got, cursor := []string{}, ""
			for more := true; more; {
				more = false
				n := 0
				for row, err := range q.Each(context.Background(), s, cursor) {
					require.NoError(t, err)
					got, cursor = append(got, row.Head.Run), q.Cursor(&row.Head)
					if n++; n == part {
						more = true
						break
					}
				}
			}
			require.Equal(t, want, got, "%q in parts of %d", texts, part)
		}
	})
}

// A written query has the same meaning when it is read again, and no text crashes the process.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "status:failed,aborted workflow:order", `label.team:"a b",c -01a2`, "started>2026-11-01 age>1h", `"`, "-", "a:b:c", "ü,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := query.Parse(text, now)
		if err != nil {
			var e *query.Error
			require.ErrorAs(t, err, &e)
			require.LessOrEqual(t, len(e.Text), 200)
			return
		}
		again, err := query.Parse(q.String(), now)
		require.NoError(t, err)
		require.Equal(t, q, again)
		require.NotEmpty(t, q.Explain().Index)
		_ = q.Matches(&journal.Head{Run: "r", Labels: map[string]string{"k": "v"}})
	})
}
