package client_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/client"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/httpapi"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// BenchmarkStartsByHTTP starts runs of one step over 100 connections, on disk.
func BenchmarkStartsByHTTP(b *testing.B) {
	store, err := disk.Open(b.TempDir(), disk.Config{})
	require.NoError(b, err)
	engine, err := coordinator.New(b.Context(), store, coordinator.Config{})
	require.NoError(b, err)
	record, err := audit.Open(b.TempDir(), slog.New(slog.DiscardHandler))
	require.NoError(b, err)
	defer record.Close()
	handler, err := httpapi.Handler(engine, httpapi.Config{Audit: record, Logger: slog.New(slog.DiscardHandler), Open: httpapi.Identity{Name: "bench", Role: httpapi.Admin}})
	require.NoError(b, err)
	server := httptest.NewServer(handler)
	defer func() {
		require.NoError(b, engine.Shutdown(context.Background()))
		server.Close()
	}()
	c, err := client.Dial(server.URL, "")
	require.NoError(b, err)
	defer c.Close()
	text := `{kind: Workflow, name: w, operations: {o: {value: 1}}, steps: [{operation: o}]}`
	checked, err := kinds.Load("w.yaml", []byte(text), template.Known{})
	require.NoError(b, err)
	_, err = c.Publish(b.Context(), checked.Workflow)
	require.NoError(b, err)
	var failed atomic.Int64
	b.SetParallelism(50) // goroutines for each of the processors
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, err := c.StartNamed(context.Background(), "w", nil, client.Options{}); err != nil {
				failed.Add(1)
			}
		}
	})
	require.Zero(b, failed.Load())
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}
