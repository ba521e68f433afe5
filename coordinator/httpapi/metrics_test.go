package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
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

// gauges returns the values of the metrics of ours, by name and labels.
func (s *site) gauges() map[string]string {
	resp := s.do("GET", "/metrics", "")
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	found := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^(sluice_\S+) (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		found[line[1]] = line[2]
	}
	return found
}

func TestMetricsShowHowMuchOfALimitIsUsed(t *testing.T) {
	begun, leave := make(chan bool), make(chan bool)
	busy := operation.Define("busy", func(context.Context, any) (any, error) {
		select {
		case begun <- true:
			<-leave
		case <-leave:
		}
		return nil, nil
	})
	engine, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{
		CallsMax: 1, Limits: coordinator.Limits{EventsMax: 10}, Operations: []coordinator.Operation{busy},
	})
	require.NoError(t, err)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a"), make([]byte, 5000), 0o600))
	server, err := Handler(engine, Config{Folder: folder, Streams: 4, Open: Identity{Name: "bench", Role: Admin}, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	listening := httptest.NewServer(server)
	defer listening.Close()
	defer func() { require.NoError(t, engine.Shutdown(context.Background())) }()
	defer close(leave)
	s := &site{t: t, engine: engine, server: server, url: listening.URL}

	start := func(steps string) *coordinator.Run {
		checked, err := kinds.Load("w.yaml", []byte(`{kind: Workflow, name: w, operations: {ask: {wait: {message: go}}}, steps: [`+steps+`]}`), template.Known{Lenient: true})
		require.NoError(t, err)
		run, err := engine.Start(t.Context(), checked.Workflow, nil)
		require.NoError(t, err)
		return run
	}
	start("{operation: busy}")
	<-begun
	start("{operation: busy}")
	for engine.Uses()[0].Waiting == 0 {
		runtime.Gosched()
	}
	long := start("{operation: ask}")
	for range 6 {
		require.NoError(t, long.Send(t.Context(), "other", nil))
	}
	resp := s.do("GET", "/v1/runs/"+long.ID()+"/feed", "")
	defer resp.Body.Close()
	got := s.gauges()
	for name, want := range map[string]string{
		`sluice_limit_used_ratio{limit="calls"}`: "1", `sluice_limit_queue{limit="calls"}`: "1", `sluice_limit_used_ratio{limit="programs"}`: "0",
		`sluice_limit_used_ratio{limit="feeds"}`: "0.25", `sluice_feed_observers`: "1", `sluice_store_bytes`: "5000", `sluice_runs_near_limit{limit="events"}`: "1",
	} {
		require.Equal(t, want, got[name], name)
	}
}
