package coordinator_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
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
