package names_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi/names"
)

func TestATypeOfNoQualityIsNotAccepted(t *testing.T) {
	const kind = "text/event-stream"
	for _, header := range []string{kind, "text/html, " + kind, kind + ";q=0.5", "Text/Event-Stream; q=1", kind + "; q=much"} {
		require.True(t, names.Accepts([]string{header}, kind), header)
	}
	for _, header := range []string{"", "*/*", kind + "s", "x" + kind, kind + ";q=0, application/x-ndjson", kind + "; q=0.0"} {
		require.False(t, names.Accepts([]string{header}, kind), header)
	}
	require.True(t, names.Accepts([]string{"text/html", kind}, kind))
}
