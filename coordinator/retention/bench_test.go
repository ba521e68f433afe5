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

// BenchmarkCollectBesideRuns measures how much slower runs are while others, of 100,000, are collected: 64 callers start one run of one
// step after the other. A collection goes on for some seconds, then none does, in turn, so that what else the machine does touches both
// alike. It runs if SLUICE_LARGE is set, since it takes minutes.
func BenchmarkCollectBesideRuns(b *testing.B) {
	if os.Getenv("SLUICE_LARGE") == "" {
		b.Skip("set SLUICE_LARGE")
	}
	const runs, rounds, slice = 100_000, 6, 5 * time.Second
	for b.Loop() {
		s, err := disk.Open(b.TempDir(), disk.Config{})
		require.NoError(b, err)
		journaltest.Many(b, s, runs, 0)
		engine, err := coordinator.New(b.Context(), s, coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(b, err)
		require.NoError(b, engine.Keep(b.Context(), retention.Rule{Keep: 24 * time.Hour}, "ann"))
		alone, beside := &load{}, &load{}
		collected := 0
		for range rounds {
			alone.add(b, engine, s, func() { pause(slice) })
			beside.add(b, engine, s, func() {
				ctx, cancel := context.WithTimeout(b.Context(), slice)
				defer cancel()
				done, err := engine.Collect(ctx, retention.Collection{Beside: true})
				require.ErrorIs(b, err, context.DeadlineExceeded, "there is more to be collected")
				collected += done.Runs
			})
		}
		b.ReportMetric(float64(collected)/(rounds*slice).Seconds(), "collected/s")
		b.ReportMetric(alone.perSecond(), "runs/s-alone")
		b.ReportMetric(beside.perSecond(), "runs/s-beside")
		b.ReportMetric(beside.perSecond()/alone.perSecond(), "ratio")
		b.ReportMetric(alone.late(), "p99-ms-alone")
		b.ReportMetric(beside.late(), "p99-ms-beside")
		require.NoError(b, engine.Shutdown(context.WithoutCancel(b.Context())))
	}
}

// pause waits for a time that is measured.
func pause(d time.Duration) { <-time.After(d) }

// load is how many runs have ended in a time, and how long appends have taken.
type load struct {
	runs  int64
	time  time.Duration
	times []time.Duration
}

func (l *load) perSecond() float64 { return float64(l.runs) / l.time.Seconds() }

// late returns the 99th percentile of the time that an append takes, in milliseconds.
func (l *load) late() float64 {
	slices.Sort(l.times)
	return float64(l.times[len(l.times)*99/100].Microseconds()) / 1000
}

// add starts runs as long as meanwhile takes.
func (l *load) add(b *testing.B, engine *coordinator.Engine, s journal.Store, meanwhile func()) {
	var over atomic.Bool
	var count atomic.Int64
	var all sync.WaitGroup
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
			l.times = append(l.times, time.Since(from))
		}
	})
	meanwhile()
	over.Store(true)
	all.Wait()
	l.runs += count.Load()
	l.time += time.Since(began)
}
