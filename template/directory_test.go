package template_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

func TestDirectoriesAreReadWhereverTheyAreWritten(t *testing.T) {
	nodes, err := document.Parse("d.yaml", []byte(`
participants: {pa: {endpoint: "http://127.0.0.1:1"}}
capabilities: {quote: [{participant: pa, valid_until: "2027-01-01T01:00:00+01:00"}, {participant: pb}]}
`), document.Limits{})
	require.NoError(t, err)
	d, err := template.ParseDirectory(nodes[0])
	require.NoError(t, err)
	require.Equal(t, map[string]any{"endpoint": "http://127.0.0.1:1"}, d.Participants["pa"])
	require.Equal(t, "pb", d.Capabilities["quote"][1].Participant)
	require.Equal(t, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), d.Capabilities["quote"][0].ValidUntil)

	nodes, err = document.Parse("d.yaml", []byte(`
directory: {particpants: {}, capabilities: {quote: [{participant: 1}, {revoked: false}]}}
`), document.Limits{})
	require.NoError(t, err)
	d, err = template.ParseDirectory(nodes[0].Get("directory"))
	require.Nil(t, d)
	require.EqualError(t, err, `d.yaml:2:13: directory.particpants: unknown key "particpants" (did you mean "participants"?)
d.yaml:2:67: directory.capabilities.quote[0].participant: participant must be a string, not an integer
d.yaml:2:71: directory.capabilities.quote[1].participant: participant is missing`)
}
