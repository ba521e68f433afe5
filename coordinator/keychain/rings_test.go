package keychain_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/secret"
	"github.com/sluiceflow/sluice/template/value"
)

// begun has the starts of runs, and counts the reads of them.
type begun struct {
	workflows     map[string]*template.Workflow
	found, inputs int
}

func (b *begun) find(_ context.Context, run string) (keychain.Begun, error) {
	b.found++
	w := b.workflows[run]
	if w == nil {
		return keychain.Begun{}, errors.New("it was deleted")
	}
	return keychain.Begun{Workflow: w, Input: func() (value.Value, error) { b.inputs++; return nil, nil }}, nil
}

func workflowOf(t *testing.T, chain string) *template.Workflow {
	return &template.Workflow{Name: "w", Routing: book(t, chain, "")}
}

// A run redacts its own secrets and those of every run above it, and reveals only its own, both if those runs are in memory and if they
// are not.
func TestARunRedactsTheSecretsAboveIt(t *testing.T) {
	t.Setenv("SLUICE_A", "alpha-secret")
	t.Setenv("SLUICE_B", "beta-secret")
	top, low := workflowOf(t, "keychain: [{name: k, kind: env, data: {a: SLUICE_A}}]"), workflowOf(t, "keychain: [{name: k, kind: env, data: {b: SLUICE_B}}]")
	bare := workflowOf(t, "")
	a, b := secret.Mark("k", "a"), secret.Mark("k", "b")
	check := func(r *keychain.Ring) {
		t.Helper()
		v, err := r.Reveal(t.Context(), []string{b}, b+a)
		require.NoError(t, err)
		require.Equal(t, "beta-secret"+a, v)
		require.Equal(t, a+" "+b, r.Redact("alpha-secret beta-secret"))
		require.Equal(t, a, r.RedactMessage("alpha-secret"))
	}
	for _, inMemory := range []bool{true, false} {
		of := &begun{workflows: map[string]*template.Workflow{"t": top, "t/m#1": bare, "t/m#1/l#1": low}}
		rings := keychain.NewRings(time.Minute, of.find)
		var first *keychain.Ring
		if inMemory {
			for _, run := range []string{"t", "t/m#1", "t/m#1/l#1"} {
				r, err := rings.Begin(t.Context(), run, of.workflows[run], nil, "")
				require.NoError(t, err)
				rings.Keep(run, r)
				if first = r; run == "t/m#1" {
					require.Equal(t, a+" beta-secret", r.Redact("alpha-secret beta-secret"))
				}
			}
			check(first)
		}
		again := rings.Of(t.Context(), "t/m#1/l#1", low, nil, "")
		check(again)
		if inMemory {
			require.Same(t, first, again)
			require.Zero(t, of.found)
		} else {
			require.Equal(t, 2, of.found)
			require.Equal(t, 1, of.inputs, "that of a run without a keychain is not read")
			require.Same(t, again, rings.Of(t.Context(), "t/m#1/l#1", low, nil, ""))
			rings.Of(t.Context(), "t/m#1/l#2", low, nil, "")
			require.Equal(t, 2, of.found, "those above are in memory now")
		}
		require.Nil(t, rings.Of(t.Context(), "gone/l#1", bare, nil, ""))
		require.Nil(t, rings.Of(t.Context(), "other", bare, nil, ""))
		runtime.KeepAlive(first)
		runtime.KeepAlive(again)
	}
}

// A secret that has changed when the run is loaded again is fetched again, also for the runs below. The old one is redacted as long as
// the ring is referenced.
func TestAnOldSecretIsRedactedWhileItIsKnown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("alpha-secret"), 0o600))
	w := workflowOf(t, "keychain: [{name: k, kind: file, data: {a: "+file+"}}]")
	of := &begun{workflows: map[string]*template.Workflow{"t": w}}
	rings := keychain.NewRings(time.Minute, of.find)
	r := rings.Of(t.Context(), "t", w, nil, "")
	below := rings.Of(t.Context(), "t/l#1", workflowOf(t, ""), nil, "")
	mark := secret.Mark("k", "a")
	v, err := r.Reveal(t.Context(), []string{mark}, mark)
	require.NoError(t, err)
	require.Equal(t, "alpha-secret", v)
	require.Equal(t, mark+" omega-secret", below.RedactText("alpha-secret omega-secret"))

	require.NoError(t, os.WriteFile(file, []byte("omega-secret"), 0o600))
	require.Same(t, r, rings.Of(t.Context(), "t", w, nil, ""))
	below.Try(t.Context())
	require.Equal(t, mark+" "+mark, below.RedactText("alpha-secret omega-secret"))
	v, err = r.Reveal(t.Context(), []string{mark}, mark)
	require.NoError(t, err)
	require.Equal(t, "omega-secret", v)
	require.NoError(t, os.Remove(file))
	rings.Of(t.Context(), "t", w, nil, "").Try(t.Context())
	require.Equal(t, mark+" "+mark, below.RedactText("alpha-secret omega-secret"), "it is gone")
	_, err = r.Reveal(t.Context(), []string{mark}, mark)
	require.ErrorIs(t, err, keychain.ErrUnavailable)
}
