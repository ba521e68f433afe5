package main

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/scenario"
)

func TestScenarios(t *testing.T) { scenario.Run(t, "fetch.scenario.yaml") }

// screen is the output of a run so far.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	told chan struct{} // closed when the output has the command that approves
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(string(p), "to let it go on") {
		close(s.told)
	}
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestAllPagesAreReadAndReported(t *testing.T) {
	s := &screen{told: make(chan struct{})}
	require.NoError(t, fetch(t.Context(), s, t.TempDir(), "r", true))
	require.Contains(t, s.String(), "http_429", "the shops were busy")
	require.Contains(t, s.String(), "10 pages are read\nfetch lets it go on\ncompleted: ")
	for _, part := range []string{"north 20, ", "south 10, ", "east 15, ", "west 5, ", "50 orders in all, 0 failures"} {
		require.Contains(t, s.String(), part)
	}
}

func TestAnotherProcessOpensTheGate(t *testing.T) {
	dir := t.TempDir()
	s := &screen{told: make(chan struct{})}
	ended := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { ended <- fetch(ctx, s, dir, "r", false) }()
	select {
	case <-s.told:
	case err := <-ended:
		t.Fatalf("it has not waited: %v\n%s", err, s)
	}
	patch := &api.Request{Verb: api.Patch, Run: "r", Actor: "ann", Payload: []byte(`{"approved": true}`)}
	require.NoError(t, folder.With(ctx, dir, coordinator.Config{}, func(c *folder.Client) error {
		_, err := c.Do(ctx, patch)
		return err
	}))
	require.NoError(t, <-ended)
	require.Contains(t, s.String(), "ann lets it go on\ncompleted: ")
}

func TestARunThatWasSuspendedAtTheGateGoesOn(t *testing.T) {
	dir := t.TempDir()
	s := &screen{told: make(chan struct{})}
	ended := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { ended <- fetch(ctx, s, dir, "r", false) }()
	select {
	case <-s.told:
		cancel()
		require.NoError(t, <-ended)
	case err := <-ended:
		t.Fatalf("it has not waited: %v\n%s", err, s)
	}
	require.Contains(t, s.String(), "suspended; to go on, run:\n")

	s = &screen{told: make(chan struct{})}
	require.NoError(t, fetch(t.Context(), s, dir, "r", true))
	require.Contains(t, s.String(), "10 pages are read\nfetch lets it go on\ncompleted: ")
}
