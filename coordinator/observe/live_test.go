package observe_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/observe"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/live"
	"github.com/sluiceflow/sluice/signals"
)

// TestLiveFollowsARun derives a value from the signals of two steps, while the run goes on.
func TestLiveFollowsARun(t *testing.T) {
	run := startWaiting(t, t.Context())
	var seen []string
	err := observe.Live(t.Context(), run, func(s *live.Signals) error {
		mail, end, item := s.Step("mail"), s.Step("b"), s.Step("each[1]")
		both := signals.NewComputed(s.Graph(), func(r signals.Reader) (string, error) {
			first, _ := mail.Status.Get(r)
			ready, _ := end.Preconditions.Get(r)
			last, _ := end.Result.Get(r)
			one, _ := item.Status.Get(r)
			return fmt.Sprint(first, " ", ready, " ", last, " ", one), nil
		})
		_, err := s.Graph().Effect(func(r signals.Reader) error {
			text, err := both.Get(r)
			seen = append(seen, text)
			if len(seen) == 1 {
				go run.Send(context.WithoutCancel(t.Context()), "go", "hello")
			}
			return err
		})
		return err
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		"running false <nil> absent", "completed true <nil> ready", "completed true <nil> running",
	}, dedup(seen)[:3])
	require.Equal(t, "completed true done completed", seen[len(seen)-1])
}

func TestLiveShowsARunThatHasEnded(t *testing.T) {
	run := startRun(t, t.Context())
	_, err := run.Wait(t.Context())
	require.NoError(t, err)
	var status reactive.Status
	require.NoError(t, observe.Live(t.Context(), run, func(s *live.Signals) error {
		status, err = s.Step("a").Status.Peek()
		return err
	}))
	require.Equal(t, reactive.Completed, status)
}

func TestLiveEndsWithItsContextAndErrors(t *testing.T) {
	run := startWaiting(t, t.Context())
	broken := errors.New("broken")
	require.ErrorIs(t, observe.Live(t.Context(), run, func(*live.Signals) error { return broken }), broken)

	ctx, cancel := context.WithCancel(t.Context())
	cleaned := false
	err := observe.Live(ctx, run, func(s *live.Signals) error {
		cancel()
		return s.Graph().Root().OnCleanup(func() { cleaned = true })
	})
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, cleaned, "the effect is disposed of")

	err = observe.Live(t.Context(), run, func(s *live.Signals) error {
		_, err := s.Graph().Effect(func(r signals.Reader) error {
			status, _ := s.Step("mail").Status.Get(r)
			if status != reactive.Completed {
				go run.Send(context.WithoutCancel(t.Context()), "go", nil)
				return nil
			}
			panic("an effect panics")
		})
		return err
	})
	require.ErrorContains(t, err, "an effect panics", "the run is followed to its end")
}
