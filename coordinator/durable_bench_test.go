package coordinator_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
)

// syncCounter is a file system that counts its syncs.
type syncCounter struct {
	vfs.FS
	syncs *atomic.Int64
}

func (c syncCounter) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := c.FS.Create(name, category)
	return syncedFile{f, c.syncs}, err
}

func (c syncCounter) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := c.FS.ReuseForWrite(from, to, category)
	return syncedFile{f, c.syncs}, err
}

type syncedFile struct {
	vfs.File
	syncs *atomic.Int64
}

func (f syncedFile) Sync() error     { f.syncs.Add(1); return f.File.Sync() }
func (f syncedFile) SyncData() error { f.syncs.Add(1); return f.File.SyncData() }

// counted returns an engine on a real disk, and its number of syncs.
func counted(b *testing.B, w *template.Workflow) (*coordinator.Engine, *atomic.Int64) {
	var syncs atomic.Int64
	return durable(b, w, disk.Config{FS: syncCounter{vfs.Default, &syncs}}), &syncs
}

// durable returns an engine on a real disk. Without a file system of the test, the store works as for users, to whom each microsecond of
// a step matters: it makes no unnecessary system calls for its files.
func durable(b *testing.B, w *template.Workflow, cfg disk.Config) *coordinator.Engine {
	store, err := disk.Open(b.TempDir(), cfg)
	require.NoError(b, err)
	e, err := coordinator.New(b.Context(), store, coordinator.Config{})
	require.NoError(b, err)
	b.Cleanup(func() { e.Shutdown(context.Background()) })
	require.NoError(b, e.Register(w))
	return e
}

type reading struct {
	OK bool `json:"ok"`
}

var small = operation.Define("small", func(context.Context, any) (reading, error) { return reading{true}, nil })

// chain returns a workflow of n steps in sequence; each returns a small value.
func chain(n int) *template.Workflow {
	w := &template.Workflow{Name: "chain"}
	for i := range n {
		w.Steps = append(w.Steps, &template.Step{ID: fmt.Sprint("s", i), Operation: "small"})
	}
	w.Provide("small", small.Implementation())
	return w
}

func fan(n int) *template.Workflow {
	w := &template.Workflow{Name: "fan", Steps: []template.Node{&template.Parallel{}, &template.Step{ID: "join", Operation: "small"}}}
	all := w.Steps[0].(*template.Parallel)
	for i := range n {
		all.Steps = append(all.Steps, &template.Step{ID: fmt.Sprint("s", i), Operation: "small"})
	}
	w.Provide("small", small.Implementation())
	return w
}

// throughput runs a workflow many times, atATime at once, and reports the cost of a run and of a step.
func throughput(b *testing.B, w *template.Workflow, steps, runs, atATime int) {
	e, syncs := counted(b, w)
	latency := syncLatency(b)
	for b.Loop() {
		syncs.Store(0)
		cpu, begin := cpuTime(), time.Now()
		var all sync.WaitGroup
		queue := make(chan struct{})
		for range atATime {
			all.Go(func() {
				for range queue {
					r, err := e.Start(b.Context(), w, nil)
					if err != nil {
						b.Error(err)
						continue
					}
					result, err := r.Wait(b.Context())
					if err != nil || result.Err() != nil {
						b.Error(err, result)
					}
				}
			})
		}
		for range runs {
			queue <- struct{}{}
		}
		close(queue)
		all.Wait()
		n := float64(runs * steps)
		b.ReportMetric(float64(runs)/time.Since(begin).Seconds(), "runs/s")
		b.ReportMetric(n/time.Since(begin).Seconds(), "steps/s")
		b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/1000/n, "cpu-ms/step")
		b.ReportMetric(float64(syncs.Load())/n, "syncs/step")
	}
	b.ReportMetric(float64(latency.Microseconds()), "disk-sync-µs")
}

// syncLatency returns the median time that this disk takes for a write of 512 bytes and an fdatasync.
func syncLatency(b *testing.B) time.Duration {
	f, err := os.Create(filepath.Join(b.TempDir(), "probe"))
	require.NoError(b, err)
	defer f.Close()
	file, err := vfs.Default.OpenReadWrite(f.Name(), vfs.WriteCategoryUnspecified)
	require.NoError(b, err)
	defer file.Close()
	buf := make([]byte, 512)
	_, err = file.Write(make([]byte, 512*300))
	require.NoError(b, err)
	require.NoError(b, file.Sync())
	var all []time.Duration
	for i := range 200 {
		begin := time.Now()
		_, err := file.WriteAt(buf, int64(i)*512)
		require.NoError(b, err)
		require.NoError(b, file.SyncData())
		all = append(all, time.Since(begin))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkChains measures 1,000 runs of a chain of 10 steps, 100 at a time, on a synced disk.
func BenchmarkChains(b *testing.B) { throughput(b, chain(10), 10, 1000, 100) }

// BenchmarkFans measures 100 runs of 100 parallel steps and a join, 100 at a time, on a synced disk.
func BenchmarkFans(b *testing.B) { throughput(b, fan(100), 101, 100, 100) }

// BenchmarkLatency measures one run at a time on an idle engine with a synced disk. After each run, it syncs as many appends to a
// separate log, to measure the disk at that time, and reports the time that Sluice adds to a sync.
func BenchmarkLatency(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			w := chain(n)
			e := durable(b, w, disk.Config{})
			probe := newProbe(b)
			var runs, syncs []time.Duration
			for b.Loop() {
				begin := time.Now()
				r, err := e.Start(b.Context(), w, nil)
				require.NoError(b, err)
				_, err = r.Wait(b.Context())
				require.NoError(b, err)
				runs = append(runs, time.Since(begin))
				begin = time.Now()
				for range n + 1 {
					probe.append(b)
				}
				syncs = append(syncs, time.Since(begin))
			}
			slices.Sort(runs)
			slices.Sort(syncs)
			run, disk := runs[len(runs)/2], syncs[len(syncs)/2]
			b.ReportMetric(float64(run.Microseconds()), "p50-µs")
			b.ReportMetric(float64(disk.Microseconds())/float64(n+1), "log-sync-µs")
			b.ReportMetric(float64((run-disk).Microseconds())/float64(n+1), "more-µs/append")
		})
	}
}

// probe is a log that is never read.
type probe struct {
	file vfs.File
	end  int64
}

// newProbe makes a log with room for its appends, so that a sync need not store a new size.
func newProbe(b *testing.B) *probe {
	f, err := os.Create(filepath.Join(b.TempDir(), "probe"))
	require.NoError(b, err)
	require.NoError(b, f.Truncate(probeBytes))
	require.NoError(b, f.Close())
	file, err := vfs.Default.OpenReadWrite(f.Name(), vfs.WriteCategoryUnspecified)
	require.NoError(b, err)
	b.Cleanup(func() { file.Close() })
	require.NoError(b, file.Preallocate(0, probeBytes))
	require.NoError(b, file.Sync())
	return &probe{file: file}
}

const probeBytes = 32 << 20

func (p *probe) append(b *testing.B) {
	if _, err := p.file.WriteAt(make([]byte, 450), p.end); err != nil {
		b.Fatal(err)
	}
	p.end = (p.end + 450) % (probeBytes - 450)
	if err := p.file.SyncData(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSleeping measures the memory that a sleeping run takes after it has left memory, on a disk store.
func BenchmarkSleeping(b *testing.B) {
	const runs = 20_000
	w, err := template.Parse("nap.yaml", []byte(`
{kind: Workflow, name: nap, operations: {nap: {sleep: {for: PT24H}}}, steps: [{operation: nap}]}`))
	require.NoError(b, err)
	for b.Loop() {
		store, err := disk.Open(b.TempDir(), disk.Config{})
		require.NoError(b, err)
		e, err := coordinator.New(b.Context(), store, coordinator.Config{IdleTimeout: time.Millisecond})
		require.NoError(b, err)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				for range runs / 100 {
					if _, err := e.Start(b.Context(), w, nil); err != nil {
						b.Error(err)
					}
				}
			})
		}
		all.Wait()
		for e.InMemory() > 0 {
			<-time.After(time.Millisecond)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/runs, "heap-B/run")
		b.ReportMetric((float64(after.Sys)-float64(before.Sys))/runs, "sys-B/run")
		require.NoError(b, e.Shutdown(context.Background()))
	}
}
