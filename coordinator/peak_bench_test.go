package coordinator_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
)

// BenchmarkStartedAtOnce measures the peak memory of the process while 20,000 waiting runs are started on a disk store, by some callers
// or by one caller each. The peak counts for the whole process: run one benchmark at a time, with -benchtime 1x.
func BenchmarkStartedAtOnce(b *testing.B) {
	const runs = 20_000
	w, err := template.Parse("wait.yaml", []byte(`
{kind: Workflow, name: wait, operations: {wait: {wait: {message: go}}}, steps: [{operation: wait}]}`))
	require.NoError(b, err)
	for _, callers := range []int{100, runs} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			for b.Loop() {
				store, err := disk.Open(b.TempDir(), disk.Config{})
				require.NoError(b, err)
				e, err := coordinator.New(b.Context(), store, coordinator.Config{})
				require.NoError(b, err)
				debug.FreeOSMemory()
				before := peak(b)
				var all sync.WaitGroup
				began := time.Now()
				for range callers {
					all.Go(func() {
						for range runs / callers {
							if _, err := e.Start(b.Context(), w, nil); err != nil {
								b.Error(err)
							}
						}
					})
				}
				all.Wait()
				b.ReportMetric(runs/time.Since(began).Seconds(), "starts/s")
				b.ReportMetric(before, "MB-before")
				b.ReportMetric(peak(b), "MB-peak")
				require.NoError(b, e.Shutdown(context.Background()))
			}
		})
	}
}

// peak returns the most memory that the process has taken, in megabytes.
func peak(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip(err)
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			kib, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
			require.NoError(b, err)
			return float64(kib) * 1024 / 1e6
		}
	}
	b.Skip("the system does not say")
	return 0
}
