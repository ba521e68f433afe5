package brief

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
)

func TestLargeValuesOfAnEventAreCutAndItSaysWhereTheyAre(t *testing.T) {
	long := json.RawMessage(`"` + strings.Repeat("ä", 600) + `"`)
	failure := &api.Failure{Code: "refused", Details: long}
	u := api.Update{
		Event:   api.Event{Seq: 7, Value: long, About: long, Failure: failure, Start: &api.Start{Identity: &api.Identity{ID: "ann", Resources: long}}},
		Changes: []api.Change{{Step: "a", Failure: failure}},
	}
	Update("a#b", &u)
	e := u.Event
	require.Equal(t, &api.Large{Kind: "string", Bytes: 1202, Preview: `"` + strings.Repeat("ä", 127)}, e.Large)
	require.Equal(t, "/v1/runs/a%23b/events/7", e.Whole)
	require.Empty(t, e.Value)
	require.Empty(t, e.About)
	require.Empty(t, e.Failure.Details)
	require.Empty(t, u.Changes[0].Failure.Details)
	require.Empty(t, e.Start.Identity.Resources)
	require.Equal(t, long, failure.Details, "that of others stays as it is")

	for _, kept := range []string{`1`, `"` + strings.Repeat("x", 1022) + `"`} {
		small := api.Event{Seq: 1, Value: json.RawMessage(kept)}
		Event("a", &small)
		require.Equal(t, api.Event{Seq: 1, Value: json.RawMessage(kept)}, small)
	}
	for kind, text := range map[string]string{"list": "[" + strings.Repeat("1,", 600) + "1]", "object": `{"a":` + string(long) + `}`, "number": strings.Repeat("1", 2000)} {
		e := api.Event{Value: json.RawMessage(text)}
		Event("a", &e)
		require.Equal(t, kind, e.Large.Kind)
	}
}
