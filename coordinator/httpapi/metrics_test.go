package httpapi

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"
)

// The metrics of docs/serve.md are those of a server that has seen each of them.
func TestMetricsAreDocumented(t *testing.T) {
	a := newAviary(t)
	a.refused("run_not_found", "GET", "/v1/runs/none", "")
	text := a.answered("GET", "/metrics", nil).Body.String()
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)
	found := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^# TYPE (sluice_\w+)`).FindAllStringSubmatch(text, -1) {
		found[line[1]] = true
	}
	doc, err := os.ReadFile("../../docs/serve.md")
	require.NoError(t, err)
	documented := map[string]bool{}
	for _, line := range regexp.MustCompile("(?m)^\\| `(sluice_\\w+)`").FindAllStringSubmatch(string(doc), -1) {
		documented[line[1]] = true
	}
	require.NotEmpty(t, found)
	require.Equal(t, found, documented)
}
