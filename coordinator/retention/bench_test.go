package retention_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/copies"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
)

// beside measures the slowdown of runs while the function done works in a folder of ended runs: 64 callers start one run of one step
// after the other. In each round, done runs for some seconds and then pauses, so that other load on the machine affects both alike. The
// benchmark runs if SLUICE_LARGE is set, since it takes minutes.
func beside(b *testing.B, runs, rounds int, done func(ctx context.Context, b *testing.B, engine *coordinator.Engine, dir string)) {
	if os.Getenv("SLUICE_LARGE") == "" {
		b.Skip("set SLUICE_LARGE")
	}
	const slice = 5 * time.Second
	for b.Loop() {
		dir := b.TempDir()
		s, err := disk.Open(dir, disk.Config{})
		require.NoError(b, err)
		journaltest.Many(b, s, runs, 0)
		engine, err := coordinator.New(b.Context(), s, coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(b, err)
		without, with := &load{}, &load{}
		for range rounds {
			without.add(b, engine, s, func() { pause(slice) })
			with.add(b, engine, s, func() {
				ctx, cancel := context.WithTimeout(b.Context(), slice)
				defer cancel()
				done(ctx, b, engine, dir)
			})
		}
		b.ReportMetric(without.perSecond(), "runs/s-alone")
		b.ReportMetric(with.perSecond(), "runs/s-beside")
		b.ReportMetric(with.perSecond()/without.perSecond(), "ratio")
		b.ReportMetric(without.late(), "p99-ms-alone")
		b.ReportMetric(with.late(), "p99-ms-beside")
		require.NoError(b, engine.Shutdown(context.WithoutCancel(b.Context())))
	}
}

// BenchmarkCollectBesideRuns collects 100,000 runs.
func BenchmarkCollectBesideRuns(b *testing.B) {
	collected := 0
	beside(b, 100_000, 6, func(ctx context.Context, b *testing.B, engine *coordinator.Engine, _ string) {
		require.NoError(b, engine.Keep(b.Context(), retention.Rule{Keep: 24 * time.Hour}, "ann"))
		done, err := engine.Collect(ctx, retention.Collection{Beside: true})
		require.ErrorIs(b, err, context.DeadlineExceeded, "there is more to be collected")
		collected += done.Runs
	})
	b.ReportMetric(float64(collected)/float64(b.N), "collected")
}

// BenchmarkBackupBesideRuns makes copies of 1,000,000 events, one after the other, and reads each back.
func BenchmarkBackupBesideRuns(b *testing.B) {
	copied, took := 0, time.Duration(0)
	beside(b, 1_000_000, 2, func(ctx context.Context, b *testing.B, engine *coordinator.Engine, dir string) {
		folder, err := copies.In(filepath.Join(dir, "..", "copies"), engine, dir)
		require.NoError(b, err)
		for ctx.Err() == nil {
			began := time.Now()
			report, err := folder.Backup(b.Context(), fmt.Sprint("copy-", copied))
			require.NoError(b, err)
			require.GreaterOrEqual(b, report.Runs, 1_000_000)
			copied, took = copied+1, took+time.Since(began)
		}
	})
	b.ReportMetric(took.Seconds()/float64(copied), "s/copy")
}

// pause waits for a time that is measured.
func pause(d time.Duration) { <-time.After(d) }

// load has the number of runs that have ended in a time, and the times of appends.
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
