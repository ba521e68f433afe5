package retention_test

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
)

// BenchmarkCollectBesideRuns measures how much slower runs are while 100,000 others are collected: 64 callers start one run of one step
// after the other. It runs if SLUICE_LARGE is set, since it takes minutes.
func BenchmarkCollectBesideRuns(b *testing.B) {
	if os.Getenv("SLUICE_LARGE") == "" {
		b.Skip("set SLUICE_LARGE")
	}
	const runs, alone = 100_000, 10 * time.Second
	for b.Loop() {
		s, err := disk.Open(b.TempDir(), disk.Config{})
		require.NoError(b, err)
		journaltest.Many(b, s, runs, 0)
		engine, err := coordinator.New(b.Context(), s, coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(b, err)
		require.NoError(b, engine.Keep(b.Context(), retention.Rule{Keep: 24 * time.Hour}, "ann"))
		before, beforeLate := loaded(b, engine, s, func() { pause(alone) })
		began := time.Now()
		after, afterLate := loaded(b, engine, s, func() {
			done, err := engine.Collect(b.Context(), retention.Collection{Beside: true})
			require.NoError(b, err)
			require.Equal(b, runs, done.Runs)
		})
		b.ReportMetric(time.Since(began).Seconds(), "s/collect")
		b.ReportMetric(before, "runs/s-alone")
		b.ReportMetric(after, "runs/s-beside")
		b.ReportMetric(after/before, "ratio")
		b.ReportMetric(float64(beforeLate.Microseconds())/1000, "p99-ms-alone")
		b.ReportMetric(float64(afterLate.Microseconds())/1000, "p99-ms-beside")
		require.NoError(b, engine.Shutdown(context.WithoutCancel(b.Context())))
	}
}

// pause waits for a time that is measured.
func pause(d time.Duration) { <-time.After(d) }

// loaded starts runs as long as meanwhile takes, and returns how many a second have ended, and the 99th percentile of the time that an
// append takes.
func loaded(b *testing.B, engine *coordinator.Engine, s journal.Store, meanwhile func()) (perSecond float64, late time.Duration) {
	var over atomic.Bool
	var count atomic.Int64
	var all sync.WaitGroup
	var times []time.Duration
	began := time.Now()
	for worker := range 64 {
		w := workflow(b, worker%4)
		all.Go(func() {
			for !over.Load() {
				run, err := engine.Start(context.Background(), w, nil)
				if err == nil {
					_, err = run.Wait(context.Background())
				}
				if err != nil {
					b.Error(err)
					return
				}
				count.Add(1)
			}
		})
	}
	all.Go(func() {
		event := []journal.Event{{Type: journal.CallRequested}}
		stream := "probe " + began.Format(time.RFC3339Nano)
		for seq := uint64(0); !over.Load(); seq++ {
			from := time.Now()
			if _, err := s.Append(context.Background(), stream, seq, event, journal.Head{}); err != nil {
				b.Error(err)
				return
			}
			times = append(times, time.Since(from))
		}
	})
	meanwhile()
	over.Store(true)
	all.Wait()
	slices.Sort(times)
	return float64(count.Load()) / time.Since(began).Seconds(), times[len(times)*99/100]
}
