package journal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// No sweep deletes a definition to which an event of any type refers, decoded or encoded.
func TestEventsOfEveryTypeReferToTheirDefinitions(t *testing.T) {
	types := 0
	for n := range 256 {
		typ := journal.Type(n)
		if strings.HasPrefix(typ.String(), "type(") {
			continue
		}
		types++
		e := journal.Event{Seq: 1, At: 1, Type: typ, Node: "a", Value: "v", Detail: &journal.Detail{
			Start: &journal.Start{Workflow: "w", Children: map[string]string{"b": "x", "c": "y"}}, Actor: "ann",
		}}
		want := []string{"def/w", "def/x", "def/y"}
		require.Equal(t, want, journal.Definitions(&e), typ)
		record, err := new(journal.Codec).Append(nil, &e)
		require.NoError(t, err, typ)
		found, err := journal.AppendReferences(nil, record)
		require.NoError(t, err, typ)
		require.Equal(t, want, found, typ)
	}
	require.Greater(t, types, 40)
}
