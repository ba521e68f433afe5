package bulk_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// manyWaiting is a folder with waiting runs that have left memory, and the engine on it.
func manyWaiting(b *testing.B, n int) *coordinator.Engine {
	dir := b.TempDir()
	open := func() *coordinator.Engine {
		s, err := disk.Open(dir, disk.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		require.NoError(b, err)
		e, err := coordinator.New(context.Background(), s, coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(b, err)
		return e
	}
	e := open()
	w := parse(b, waiting)
	var all sync.WaitGroup
	for part := range 64 {
		all.Go(func() {
			for i := part; i < n; i += 64 {
				if _, err := e.Start(context.Background(), w, nil, coordinator.WithID(fmt.Sprintf("w%d", i))); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.NoError(b, e.Shutdown(context.Background()))
	e = open()
	b.Cleanup(func() { _ = e.Shutdown(context.Background()) })
	return e
}

// others appends to a separate run until it is stopped, at most 200 times a second, and returns the time of each append.
func others(b *testing.B, e *coordinator.Engine, stop <-chan struct{}) []time.Duration {
	run, err := e.Start(context.Background(), parse(b, `{kind: Workflow, name: other, operations: {go: {wait: {message: never}}}, steps: [{operation: go}]}`), nil)
	require.NoError(b, err)
	var took []time.Duration
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-stop:
			return took
		case <-tick.C:
		}
		began := time.Now()
		if i%2 == 0 {
			err = run.Pause(context.Background(), "")
		} else {
			err = run.Resume(context.Background())
		}
		if err != nil {
			b.Error(err)
		}
		took = append(took, time.Since(began))
	}
}

func p99(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)*99/100].Microseconds())
}

// aloneFor is the time for which the waits of others for an append are measured without an act, before and after one: long enough for at
// least as many appends as beside the act, since the p99 of a few hundred is chance.
const aloneFor = 4 * time.Second

// othersAlone is others for that time.
func othersAlone(b *testing.B, e *coordinator.Engine) []time.Duration {
	stop := make(chan struct{})
	time.AfterFunc(aloneFor, func() { close(stop) })
	return others(b, e, stop)
}

// BenchmarkCancel cancels 10,000 waiting runs of a folder by one act, and measures the waits of others for an append meanwhile.
func BenchmarkCancel(b *testing.B) {
	const n = 10_000
	for b.Loop() {
		b.StopTimer()
		e := manyWaiting(b, n)
		alone := othersAlone(b, e)
		stop := make(chan struct{})
		beside := make(chan []time.Duration, 1)
		go func() { beside <- others(b, e, stop) }()
		b.StartTimer()
		began := time.Now()
		id, err := e.BeginBulk(context.Background(), bulk.Act{Verb: "cancel", Where: "workflow:waiting", Expect: n})
		require.NoError(b, err)
		s, err := e.AwaitBulk(context.Background(), id)
		took := time.Since(began)
		b.StopTimer()
		close(stop)
		with := <-beside
		alone = append(alone, othersAlone(b, e)...)
		require.NoError(b, err)
		require.Equal(b, n, s.Done)
		b.ReportMetric(float64(n)/took.Seconds(), "runs/s")
		b.ReportMetric(p99(alone), "µs-p99-alone")
		b.ReportMetric(p99(with), "µs-p99-beside")
		b.ReportMetric(p99(with)/p99(alone), "times-p99")
		b.StartTimer()
	}
}
