package ledger_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template"
)

// Each message is delivered to the oldest open wait of its name, and each wait receives the oldest message: the model searches
// two lists each time.
func TestMessagesMeetWaitsOldestFirst(t *testing.T) {
	type letter struct {
		name string
		text string
	}
	rapid.Check(t, func(t *rapid.T) {
		const steps = 4
		all := make([]*template.Step, steps)
		for i := range all {
			all[i] = &template.Step{}
		}
		b := open(t, beside(all...))
		var letters []letter
		var waits []int32              // waiting nodes, oldest first
		waitsFor := map[int32]string{} // by node that waits
		attempt := map[int32]int32{}
		names := rapid.SampledFrom([]string{"go", "stop"})
		serve := func(t *rapid.T) {
			for i := 0; i < len(waits); i++ {
				v := waits[i]
				at := slices.IndexFunc(letters, func(l letter) bool { return l.name == waitsFor[v] })
				if at < 0 {
					continue
				}
				answer, ok := b.NextMatch()
				require.True(t, ok, "an answer for %d is missing", v)
				require.Equal(t, ledger.Match{Request: b.Request(v, attempt[v]), Output: letters[at].text}, answer)
				require.Equal(t, ledger.Applied, b.step(v, journal.Event{Type: journal.CallResponded, Attempt: attempt[v], Value: answer.Output}))
				letters = slices.Delete(letters, at, at+1)
				waits = slices.Delete(waits, i, i+1)
				delete(waitsFor, v)
				i--
			}
			_, ok := b.NextMatch()
			require.False(t, ok)
		}
		t.Repeat(map[string]func(*rapid.T){
			"wait": func(t *rapid.T) {
				v := rapid.Int32Range(0, steps-1).Draw(t, "step")
				if waitsFor[v] != "" {
					t.Skip("it waits already")
				}
				attempt[v]++
				waitsFor[v] = names.Draw(t, "name")
				waits = append(waits, v)
				b.step(v, journal.Event{Type: journal.CallRequested, Attempt: attempt[v], Detail: &journal.Detail{Name: waitsFor[v]}})
				serve(t)
			},
			"end a wait": func(t *rapid.T) {
				if len(waits) == 0 {
					t.Skip("none waits")
				}
				i := rapid.IntRange(0, len(waits)-1).Draw(t, "wait")
				v := waits[i]
				b.step(v, journal.Event{Type: journal.CallAborted, Attempt: attempt[v]})
				waits = slices.Delete(waits, i, i+1)
				delete(waitsFor, v)
			},
			"send": func(t *rapid.T) {
				l := letter{names.Draw(t, "name"), rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "text")}
				letters = append(letters, l)
				require.Equal(t, ledger.Applied, b.Message(b.next(&journal.Event{Type: journal.MessageReceived, Value: l.text, Detail: &journal.Detail{Name: l.name}})))
				serve(t)
			},
			"": func(t *rapid.T) {
				count, bytes := b.Unasked()
				require.Equal(t, len(letters), count)
				require.Equal(t, count == 0, bytes == 0)
				var awaited []ledger.Awaiting
				for _, name := range []string{"go", "stop"} {
					if i := slices.IndexFunc(waits, func(v int32) bool { return waitsFor[v] == name }); i >= 0 {
						awaited = append(awaited, ledger.Awaiting{Message: name, Request: b.Request(waits[i], attempt[waits[i]])})
					}
				}
				require.Equal(t, awaited, b.Awaiting())
			},
		})
		b.Close(b.next(&journal.Event{Type: journal.RunCancelled}))
		require.Equal(t, ledger.Late, b.Message(b.next(&journal.Event{Detail: &journal.Detail{Name: "go"}})))
	})
}
