//go:build unix

package tour

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// The documents run with real programs, except the one that waits for a message, which only its scenarios test.
func TestDocumentsRun(t *testing.T) {
	for _, tt := range []struct {
		file   string
		input  any
		output any
	}{
		{"../hello.yaml", nil, "hello, world"},
		{"01-hello.yaml", "ann", "hello, ann"},
		{"02-chain.yaml", map[string]any{"text": "the quick brown fox"}, map[string]any{"words": int64(4), "longest": "brown"}},
		{"03-parallel.yaml", nil, int64(6)},
		{"04-map.yaml", []any{"../hello.yaml"}, []any{"../hello.yaml: 4"}},
		{"05-conditional.yaml", 180, "somebody looked at 180"},
		{"06-retry.yaml", nil, "attempt 3 went well"},
		{"07-catch.yaml", "no-such-file", "could not be read: exit"},
		{"09-child.yaml", []any{"ann", "bob"}, "hello, ann; hello, bob"},
		{"10-offers.yaml", nil, map[string]any{"from": "river", "price": int64(37)}},
		{"11-pages.yaml", nil, "3 pages"},
		{"12-saga.yaml", nil, "travel well"},
		{"12-saga.yaml", map[string]any{"full": "hotel"}, "no travel"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			engine, err := sluice.Open(t.Context(), "", coordinator.Config{})
			require.NoError(t, err)
			defer func() { require.NoError(t, engine.Shutdown(t.Context())) }()
			text, err := os.ReadFile(tt.file)
			require.NoError(t, err)
			checked, err := kinds.Load(tt.file, text, template.Known{})
			require.NoError(t, err)
			run, err := engine.Start(t.Context(), checked.Workflow, tt.input)
			require.NoError(t, err)
			result, err := run.Wait(t.Context())
			require.NoError(t, err)
			require.Equal(t, "completed", string(result.Status), "%v", result.Failure)
			require.Equal(t, tt.output, result.Output)
		})
	}
}
