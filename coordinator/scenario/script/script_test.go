package script_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/template/document"
)

// read reads a valid script.
func read(t *testing.T, text string) script.Script {
	nodes, err := document.Parse("script.yaml", []byte(text), document.Limits{})
	require.NoError(t, err)
	var r script.Reader
	s := r.Script(nodes[0])
	require.NoError(t, r.Err())
	return s
}

// next returns the output of the next answer of a participant.
func next(t *testing.T, p *script.Part, participant string) any {
	a, ok := p.Next(participant)
	require.True(t, ok)
	return a.Output
}

func TestAnswersAreTakenInTurnAndTheLastRepeats(t *testing.T) {
	s := read(t, `
shared: [{output: 1}, {output: 2}]
asked: {participants: {x: {output: 3}, y: [{output: 4}, {output: 5}]}}
`)
	parts := s.Parts()
	for _, want := range []int64{1, 2, 2} {
		require.Equal(t, want, next(t, parts["shared"], ""))
	}
	require.Equal(t, int64(1), next(t, parts["shared"], "x"), "each participant begins at the first")
	for _, want := range []int64{4, 5, 5} {
		require.Equal(t, want, next(t, parts["asked"], "y"))
	}
	require.Equal(t, int64(3), next(t, parts["asked"], "x"))
	_, ok := parts["asked"].Next("z")
	require.False(t, ok)
	require.Equal(t, int64(1), next(t, s.Parts()["shared"], ""), "the script itself does not change")
}

// The most specific name takes precedence.
func TestTheNarrowestNameCounts(t *testing.T) {
	parts := read(t, `
quote[1]/ask[0]: {output: instance below a path}
quote[1]/ask: {output: step below a path}
quote/ask: {output: step below any}
ask[0]: {output: instance}
ask: {output: step}
op: {output: operation}
`).Parts()
	for _, c := range []struct{ path, key, want string }{
		{"quote[1]/", "ask[0]", "instance below a path"},
		{"quote[1]/", "ask[2]", "step below a path"},
		{"quote[2]/", "ask[0]", "step below any"},
		{"other/", "ask[0]", "instance"},
		{"", "ask[3]", "step"},
		{"", "else", "operation"},
	} {
		a, _ := parts.Find(c.path, c.key, "op").Next("")
		require.Equal(t, c.want, a.Output, "%s%s", c.path, c.key)
	}
	require.Nil(t, parts.Find("", "else", "other"))
	require.True(t, parts.Has("quote/", "ask", ""))
	require.False(t, parts.Has("", "else", ""))
	require.True(t, read(t, "pay[2]: {output: 1}").Parts().Has("", "pay", ""), "some instance of it")
	require.Equal(t, "quote/lookup", script.Stem("quote[0]/lookup[12]"))
	require.Equal(t, "a[", script.Stem("a["))
}

func TestAnAnswerSaysHowACallEnds(t *testing.T) {
	parts := read(t, `
a: {after: PT2S, deliver: 2, error: {code: busy, retryable: true, kind: slow, details: x}, http: {status: 503}}
b: {unreachable: true}
c: {never: true, frames: [{kind: n, payload: 1}, {after: PT1S, kind: m}]}
`).Parts()
	a, _ := parts["a"].Next("")
	require.Equal(t, 2*time.Second, a.After)
	require.Equal(t, 2, a.Deliver)
	require.True(t, a.Failure.Retryable)
	require.Equal(t, map[string]any{"kind": "slow", "details": "x", "http": map[string]any{"status": int64(503)}}, a.Failure.Details)
	b, _ := parts["b"].Next("")
	require.True(t, b.Unreachable)
	require.Equal(t, 1, b.Deliver)
	c, _ := parts["c"].Next("")
	require.True(t, c.Never)
	require.Equal(t, []script.Frame{{Kind: "n", Payload: int64(1)}, {After: time.Second, Kind: "m"}}, c.Frames)
}
