package coordinator_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// Labels and names of actors that are too long are refused, with nothing journaled.
func TestLabelsAndActorsAreBounded(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	w := routes(t, "workflow: [{step: a, tool: {kind: echo}}]")
	most := map[string]string{strings.Repeat("n", 128): strings.Repeat("t", 1024), "empty": ""}
	for i := len(most); i < 64; i++ {
		most[fmt.Sprint(i)] = "x"
	}
	name := strings.Repeat("a", coordinator.ActorMax)
	r, err := e.Start(t.Context(), w, nil, coordinator.WithLabels(most), coordinator.WithActor(name), coordinator.WithID("most"))
	require.NoError(t, err)
	require.NoError(t, wait(t, r).Err())
	more := maps.Clone(most)
	more["one more"] = ""
	for _, tt := range []struct {
		labels  map[string]string
		actor   string
		isLimit bool
		says    string
	}{
		{more, "", true, "65 labels; a run has at most 64"},
		{map[string]string{strings.Repeat("n", 129): ""}, "", true, "its name has 129 bytes, at most 128"},
		{map[string]string{"n": strings.Repeat("t", 1025)}, "", true, `label "n" has 1025 bytes, at most 1024`},
		{map[string]string{"": "t"}, "", false, `label "": its name is empty or not UTF-8`},
		{map[string]string{"n": "\xff"}, "", false, `label "n": "\xff" is not UTF-8`},
		{nil, name + "a", true, "has 257 bytes, at most 256"},
		{nil, "\xff", false, `actor "\xff": a name is written in UTF-8`},
	} {
		_, err := e.Start(t.Context(), w, nil, coordinator.WithLabels(tt.labels), coordinator.WithActor(tt.actor), coordinator.WithID("r"))
		require.ErrorContains(t, err, tt.says)
		if tt.isLimit {
			require.ErrorIs(t, err, coordinator.ErrLimit)
		}
		_, err = e.Run(t.Context(), "r")
		require.ErrorIs(t, err, coordinator.ErrRunNotFound)
	}
	require.ErrorIs(t, r.As(name+"a").Pause(t.Context(), ""), coordinator.ErrLimit)
}

// earlier is a store that holds the journals of an earlier version, which accepted labels with line breaks.
type earlier struct{ journal.Store }

func (s earlier) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if head.Labels["team"] == "old" {
		head.Labels = map[string]string{"team": "a\nb"}
		if after == 0 {
			start := *events[0].Detail.Start
			start.Labels = head.Labels
			events[0].Detail.Start = &start
		}
	}
	return s.Store.Append(ctx, stream, after, events, head)
}

func TestARerunKeepsTheLabelsOfItsRun(t *testing.T) {
	w := parse(t, `{kind: Workflow, name: w, operations: {one: {value: 1}}, steps: [{operation: one}]}`)
	e, err := coordinator.New(t.Context(), earlier{memory.New()}, coordinator.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Shutdown(context.Background())) }()
	old, err := e.Start(t.Context(), w, nil, coordinator.WithID("old"), coordinator.WithLabels(map[string]string{"team": "old"}))
	require.NoError(t, err)
	require.NoError(t, wait(t, old).Err())
	old, err = e.Run(t.Context(), "old")
	require.NoError(t, err)
	again, err := old.Rerun(t.Context(), coordinator.Rerun{From: "one"})
	require.NoError(t, err)
	state, err := again.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]string{"team": "a\nb"}, state.Start.Labels)
	_, err = old.Rerun(t.Context(), coordinator.Rerun{From: "one"}, coordinator.WithLabels(map[string]string{"team": "c\nd"}))
	require.ErrorIs(t, err, coordinator.ErrRefused)
	require.ErrorContains(t, err, `label "team": the text "c\nd": remove the control character U+000A`)
}
