package coordinator_test

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

var double = operation.Define("double", func(_ context.Context, n int) (int, error) { return n & 127, nil })

// layered returns a workflow of n steps in layers of width steps. Each step has three predecessors in the layer before, and
// reads the output of the first.
func layered(n, width int) *template.Workflow {
	p := &template.Parallel{}
	for i := range n {
		s := &template.Step{ID: fmt.Sprintf("s%d", i), Operation: "double", Input: int64(i % 100)}
		if row := i / width; row > 0 {
			before := (row - 1) * width
			at := i % width
			for k := range 3 {
				s.Needs = append(s.Needs, fmt.Sprintf("s%d", before+(at+k*7)%width))
			}
			s.Input = fmt.Sprintf("{{ steps.s%d.output }}", before+at)
		}
		p.Steps = append(p.Steps, s)
	}
	w := &template.Workflow{Name: "layered", Steps: []template.Node{p}}
	w.Provide("double", double.Implementation())
	return w
}

// BenchmarkInMemory runs a layered graph of no-op Go steps, with results and errors, from Start to the end.
func BenchmarkInMemory(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			w := layered(n, max(100, n/100))
			e, err := coordinator.New(b.Context(), memory.New(), coordinator.Config{Limits: coordinator.Limits{NodesMax: -1, EventsMax: -1}})
			require.NoError(b, err)
			defer e.Shutdown(context.Background())
			require.NoError(b, e.Register(w))
			runtime.GC()
			b.ReportAllocs()
			held := heldPerStep(b, e, w, n)
			cpu := cpuTime()
			for b.Loop() {
				run, err := e.Start(b.Context(), w, nil)
				require.NoError(b, err)
				result, err := run.Wait(b.Context())
				require.NoError(b, err)
				require.Equal(b, reactive.RunCompleted, result.Status)
			}
			b.ReportMetric(held, "held-B/step")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/step")
			b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N)/float64(n), "cpu-ns/step")
		})
	}
}

// heldPerStep returns the bytes of memory that a run holds for each step: its journal, which outlives it here, and its root. The
// plan and the stored definition, which all runs of the workflow share, do not count.
func heldPerStep(b *testing.B, e *coordinator.Engine, w *template.Workflow, n int) float64 {
	run := func() {
		r, err := e.Start(b.Context(), w, nil)
		require.NoError(b, err)
		_, err = r.Wait(b.Context())
		require.NoError(b, err)
		runtime.GC()
	}
	var before, after runtime.MemStats
	run()
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	const root = 64 // bytes that BenchmarkRoot of package reactive allocates for each step
	return (float64(after.HeapAlloc)-float64(before.HeapAlloc))/float64(n) + root
}

// cpuTime returns the processor time that the process has used on all cores. Other load on the machine does not affect it.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkMoment reads a run of 10,000 steps as it was in the middle and at the end of its journal.
func BenchmarkMoment(b *testing.B) {
	const n = 10_000
	w := layered(n, 100)
	e, err := coordinator.New(b.Context(), memory.New(), coordinator.Config{})
	require.NoError(b, err)
	defer e.Shutdown(context.Background())
	require.NoError(b, e.Register(w))
	run, err := e.Start(b.Context(), w, nil)
	require.NoError(b, err)
	_, err = run.Wait(b.Context())
	require.NoError(b, err)
	last, err := run.Last(b.Context())
	require.NoError(b, err)
	for _, at := range []struct {
		name string
		seq  uint64
	}{{"middle", last / 2}, {"end", last}} {
		then := run.At(coordinator.Moment{Seq: at.seq})
		b.Run(at.name+"/state", func(b *testing.B) {
			for b.Loop() {
				_, err := then.State(b.Context())
				require.NoError(b, err)
			}
		})
		b.Run(at.name+"/explain", func(b *testing.B) {
			for b.Loop() {
				_, err := then.Explain(b.Context(), "")
				require.NoError(b, err)
			}
		})
	}
}
