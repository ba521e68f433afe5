package graph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
)

// The code of a failure that a worker reports cannot control the terminal.
func TestLabelsOfCallsHaveNoControlCharacters(t *testing.T) {
	label := callLabel(&api.Call{Request: "r/a#1", Run: "r", Operation: "o\x1b[2J", Status: "failed", Failure: &api.Failure{Code: "x\x1b]0;y\a\u202e"}})
	require.Equal(t, "a#1\no\nfailed: x", label)
}
