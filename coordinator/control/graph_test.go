package control_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// Large inputs and outputs of calls are shown by their beginnings.
func TestCallsAreShown(t *testing.T) {
	bothWays(t, func(t *testing.T, e *coordinator.Engine, c *folder.Client) {
		w, err := template.Parse("office.yaml", []byte(office))
		require.NoError(t, err)
		large := strings.Repeat("x", 5000)
		run, err := e.Start(t.Context(), w, nil, coordinator.WithID("r1"), coordinator.WithIdentity(
			journal.Identity{ID: "ann", Scopes: []string{"sign"}, Resources: large}))
		require.NoError(t, err)
		require.NoError(t, run.Send(t.Context(), "letter", large))
		await(t, c, "r1")

		var calls []*api.Call
		for call, err := range c.Calls(t.Context(), "r") {
			require.NoError(t, err)
			calls = append(calls, call)
		}
		require.Len(t, calls, 2)
		signed := calls[1]
		require.Equal(t, []any{"call", "r1/contract#1", "r1", "contract", "contract", "completed", int32(1)},
			[]any{signed.Kind, signed.Request, signed.Run, signed.Step, signed.Operation, signed.Status, signed.Attempt})
		require.Equal(t, []string{"r1/letter#1"}, signed.DependsOn)
		require.Equal(t, &api.Identity{ID: "ann", Scopes: []string{"sign"}, ResourcesPreview: `"` + large[:1023]}, signed.Identity)
		require.Equal(t, `"`+large[:1023], signed.InputPreview)
		require.Equal(t, `"`+large[:1023], signed.Preview.Preview)
		require.Empty(t, string(signed.Output)+string(signed.Input))
		require.False(t, signed.Ended.Before(signed.Started))
		text, err := json.Marshal(signed)
		require.NoError(t, err)
		require.Less(t, len(text), 4096)

		for _, err = range c.Calls(t.Context(), "nobody") {
			require.ErrorIs(t, err, coordinator.ErrRunNotFound)
		}
	})
}
