package feed

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// An observer of a reopened run may find a topic that has seen the run's end and has not retired yet. It observes the further run
// nevertheless.
func TestAnObserverOutlivesTheTopicOfARunThatWasReopened(t *testing.T) {
	for _, resume := range []bool{false, true} {
		engine := newEngine(t, memory.New())
		hub := newHub(t, engine)
		w := chain(t, 2)
		require.NoError(t, engine.Register(w))
		run, err := engine.Start(t.Context(), w, nil)
		require.NoError(t, err)
		before, err := hub.Run(t.Context(), run.ID(), Options{})
		require.NoError(t, err)
		require.NoError(t, run.Abort(t.Context(), "s0", ""))
		for err = nil; err == nil; {
			_, err = before.Next(t.Context())
		}
		require.ErrorIs(t, err, io.EOF)
		ended := before.topic.snapshot.Seq
		hub.mu.Lock()
		hub.topics[run.ID()] = before.topic // as between the end of its run and the end of the topic
		hub.mu.Unlock()

		require.NoError(t, run.Retry(t.Context(), "s0"))
		after, err := hub.Run(t.Context(), run.ID(), Options{Resume: resume, After: ended})
		require.NoError(t, err)
		send(t, run, 0, 2)
		status := ""
		for err = nil; err == nil; {
			var f Frame
			if f, err = after.Next(context.Background()); f.Kind == KindEnd {
				status = decode[struct{ Status string }](t, f).Status
			}
		}
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, "completed", status)
		before.Close()
		after.Close()
	}
}
