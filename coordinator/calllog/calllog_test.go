package calllog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rest reads the remaining entries.
func rest(r *Reader) (text string, lost bool) {
	for {
		b, grown := r.Next()
		if grown != nil {
			return text, lost
		}
		lost = lost || b.Lost
		for _, e := range b.Entries {
			text += e.Text
		}
	}
}

func reader(t *testing.T, l *Logs, run, step, place string) *Reader {
	t.Helper()
	r, err := l.Read(run, step, place)
	require.NoError(t, err)
	return r
}

func TestAReaderIsToldWhatIsWrittenOnceAndInOrder(t *testing.T) {
	l := New()
	l.Write("a", Entry{Step: "x", Text: "1"})
	r := reader(t, l, "a", "", "")
	text, _ := rest(r)
	require.Equal(t, "1", text)
	_, grown := r.Next()
	l.Write("b", Entry{Step: "x", Text: "of another run"})
	select {
	case <-grown:
		require.Fail(t, "another run has woken the reader")
	default:
	}
	l.Write("a", Entry{Step: "x[3]", Text: "2"})
	<-grown
	l.Write("a", Entry{Step: "xy", Text: "3"})
	text, lost := rest(r)
	require.Equal(t, "23", text)
	require.False(t, lost)

	text, _ = rest(reader(t, l, "a", "x", ""))
	require.Equal(t, "12", text, "of a step and its items only")
	first := reader(t, l, "a", "x", "")
	_, _ = first.Next()
	place := first.Place()
	l.Write("a", Entry{Step: "x", Text: "4"})
	text, lost = rest(reader(t, l, "a", "", place))
	require.Equal(t, "4", text)
	require.False(t, lost)
}

func TestAReaderThatIsOvertakenIsToldSo(t *testing.T) {
	l := New()
	l.Write("a", Entry{Text: "first"})
	r := reader(t, l, "a", "", "")
	text, lost := rest(r)
	require.Equal(t, "first", text)
	require.False(t, lost)
	for range 2 * RunMax >> 10 {
		l.Write("a", Entry{Text: strings.Repeat("-", 1<<10)})
	}
	require.LessOrEqual(t, l.bytes, RunMax)
	text, lost = rest(r)
	require.True(t, lost)
	require.Greater(t, len(text), RunMax*3/4)
	_, lost = rest(r)
	require.False(t, lost, "it is told once")
}

func TestLogsHaveOneBoundInAll(t *testing.T) {
	l := New()
	held := reader(t, l, "0", "", "")
	resumed := ""
	for i := range 2 * AllMax / RunMax {
		run := fmt.Sprint(i)
		for range RunMax >> 14 {
			l.Write(run, Entry{Text: strings.Repeat("-", 16<<10-entryCost)})
		}
		if i == 1 {
			r := reader(t, l, run, "", "")
			_, _ = r.Next()
			resumed = r.Place()
			r.Close()
		}
	}
	require.LessOrEqual(t, l.bytes, AllMax)
	require.LessOrEqual(t, len(l.runs), AllMax/RunMax+1, "a log without entries and readers is forgotten")
	text, lost := rest(held)
	require.Empty(t, text)
	require.True(t, lost)
	text, lost = rest(reader(t, l, "1", "", resumed))
	require.Empty(t, text)
	require.True(t, lost)
	_, lost = rest(reader(t, l, "new", "", ""))
	require.False(t, lost)
	held.Close()
	require.NotContains(t, l.runs, "0")
}

func TestPlacesAreThoseOfTheseLogs(t *testing.T) {
	l := New()
	l.Write("a", Entry{Text: "x"})
	of := "-" + mark("a")
	for _, place := range []string{"7", "-7", "x-", l.name + "-x" + of, l.name + "-2" + of, l.name + "--1" + of, l.name + "-1", l.name + "-1-" + mark("b")} {
		_, err := l.Read("a", "", place)
		require.ErrorIs(t, err, ErrPlace, place)
	}
	text, lost := rest(reader(t, l, "a", "", "before-99"+of))
	require.Equal(t, "x", text, "of an earlier process: all there is now")
	require.True(t, lost)
	text, lost = rest(reader(t, l, "a", "", l.name+"-1"+of))
	require.Empty(t, text)
	require.False(t, lost)
}

func TestCharactersAreNotCut(t *testing.T) {
	l := New()
	w := l.Writer("a", Entry{Step: "x", Stream: Stdout})
	whole := "für 世界 \U0001F600 "
	for i := range len(whole) {
		n, err := w.Write([]byte(whole[i : i+1]))
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	_, _ = w.Write([]byte("\xff\xe4"))
	require.NoError(t, w.Close())
	r := reader(t, l, "a", "", "")
	b, _ := r.Next()
	for _, e := range b.Entries {
		require.NotContains(t, e.Text[:len(e.Text)-1], "�")
	}
	text, _ := rest(reader(t, l, "a", "", ""))
	require.Equal(t, whole+"��", text)

	long := strings.Repeat("世", entryMax)
	l.Write("b", Entry{Text: long})
	r = reader(t, l, "b", "", "")
	text, _ = rest(r)
	require.Equal(t, long, text)
	for _, e := range l.runs["b"].entries {
		require.LessOrEqual(t, len(e.Text), entryMax)
		require.Equal(t, strings.ToValidUTF8(e.Text, ""), e.Text)
	}
}
