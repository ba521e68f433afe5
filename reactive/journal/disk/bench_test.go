//go:build linux

package disk_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// payload makes the encoding of an event about 300 bytes.
var payload = strings.Repeat("x", 260)

func stepEvent() journal.Event {
	return journal.Event{Type: journal.CallResponded, At: 1_790_000_000_000_000_000, Node: "order/check", Attempt: 1, Value: payload}
}

// syncLatency returns the cost of durability on this disk: the median time of one write of 512 bytes and fdatasync, in a
// file with existing blocks.
func syncLatency(b *testing.B) time.Duration {
	f, err := os.Create(filepath.Join(b.TempDir(), "sync"))
	require.NoError(b, err)
	defer f.Close()
	_, err = f.Write(make([]byte, 1<<20))
	require.NoError(b, err)
	require.NoError(b, f.Sync())
	block := make([]byte, 512)
	var took []time.Duration
	for i := range 200 {
		begin := time.Now()
		_, err = f.WriteAt(block, int64(i)*512)
		require.NoError(b, err)
		require.NoError(b, syscall.Fdatasync(int(f.Fd())))
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// commits reads how many syncs a store has acknowledged.
func commits(b *testing.B, dir string) uint64 {
	mark, err := os.ReadFile(filepath.Join(dir, "COMMIT"))
	require.NoError(b, err)
	return binary.BigEndian.Uint64(mark)
}

func processTime() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// BenchmarkAppend runs writers; each appends to its own run and waits until the append is durable.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1, 100} {
		for _, writers := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("writers=%d/batch=%d", writers, size), func(b *testing.B) { benchmarkAppend(b, writers, size) })
		}
	}
}

func benchmarkAppend(b *testing.B, writers, size int) {
	latency := syncLatency(b)
	dir := b.TempDir()
	s := open(b, dir, disk.Config{})
	events := slices.Repeat([]journal.Event{stepEvent()}, size)
	var left atomic.Int64
	var wg sync.WaitGroup
	took := make([][]time.Duration, writers)
	left.Store(int64(b.N))
	before, cpu := commits(b, dir), processTime()
	b.ReportAllocs()
	b.ResetTimer()
	for w := range writers {
		wg.Go(func() {
			name, last := fmt.Sprintf("run-%d", w), uint64(0)
			head := journal.Head{Run: name, Workflow: "cafe", Name: "order", Status: "running", Open: true}
			for left.Add(-1) >= 0 {
				begin := time.Now()
				next, err := s.Append(context.Background(), name, last, events, head)
				if err != nil {
					b.Error(err)
					return
				}
				took[w] = append(took[w], time.Since(begin))
				last = next
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	cpu = processTime() - cpu
	syncs := float64(commits(b, dir) - before)
	require.NoError(b, s.Close())
	all := slices.Concat(took...)
	slices.Sort(all)
	n := float64(b.N * size)
	b.ReportMetric(n/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(n/syncs, "events/sync")
	b.ReportMetric(syncs/b.Elapsed().Seconds(), "syncs/s")
	b.ReportMetric(float64(cpu.Nanoseconds())/n/1e3, "cpu-µs/event")
	b.ReportMetric(float64(latency.Nanoseconds())/1e3, "L-µs")
	b.ReportMetric(float64(all[len(all)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(all[len(all)*99/100].Nanoseconds())/1e3, "p99-µs")
}

// filled makes a closed store of runs that were written in turn, five events at a time, and returns its directory.
func filled(b *testing.B, runs, events int) string {
	const writers = 64
	dir := b.TempDir()
	s := open(b, dir, disk.Config{})
	batch := slices.Repeat([]journal.Event{stepEvent()}, 5)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for last := 0; last < events; last += len(batch) {
				for r := w; r < runs; r += writers {
					name := runName(r)
					head := journal.Head{Run: name, Workflow: "cafe", Name: "order", Status: "running", Open: true}
					if _, err := s.Append(context.Background(), name, uint64(last), batch, head); err != nil {
						b.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	require.NoError(b, s.Close())
	return dir
}

func runName(n int) string { return fmt.Sprintf("0190b6c5-7e5a-7000-8000-%012d", n) }

// BenchmarkReplay reads runs of 50 events one after the other, in another order than on the disk.
func BenchmarkReplay(b *testing.B) {
	const runs, events = 4000, 50
	s := open(b, filled(b, runs, events), disk.Config{})
	defer s.Close()
	var took []time.Duration
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		begin := time.Now()
		n := 0
		for _, err := range s.Read(context.Background(), runName(i*2741%runs), 1) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != events {
			b.Fatal(n)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(b.N*events)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs/run")
}

// BenchmarkOpen opens a store of 200,000 events and lists its heads.
func BenchmarkOpen(b *testing.B) {
	const runs, events = 20_000, 10
	dir := filled(b, runs, events)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			s := open(b, dir, disk.Config{})
			b.StopTimer()
			require.NoError(b, s.Close())
			b.StartTimer()
		}
	})
	b.Run("heads", func(b *testing.B) {
		s := open(b, dir, disk.Config{})
		defer s.Close()
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			for _, err := range s.Heads(context.Background(), "") {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			if n != runs {
				b.Fatal(n)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*runs), "ns/head")
	})
}

// BenchmarkRecover opens the store of a killed process, whose newest events are only in the log.
func BenchmarkRecover(b *testing.B) {
	dir := b.TempDir()
	s := open(b, dir, disk.Config{})
	const appends = 200
	for i := range appends {
		mustAppend(b, s, "run", uint64(i*500), slices.Repeat([]journal.Event{stepEvent()}, 500))
	}
	left := filepath.Join(b.TempDir(), "left")
	require.NoError(b, os.CopyFS(left, os.DirFS(dir)))
	require.NoError(b, s.Close())
	for b.Loop() {
		b.StopTimer()
		again := filepath.Join(b.TempDir(), "again")
		require.NoError(b, os.CopyFS(again, os.DirFS(left)))
		b.StartTimer()
		s := open(b, again, disk.Config{})
		b.StopTimer()
		require.NoError(b, s.Close())
		require.NoError(b, os.RemoveAll(again))
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1e3/float64(b.N), "ms/open")
}
