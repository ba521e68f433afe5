//go:build unix

package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/httpapi"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/worker"
)

// server is an engine with workers, by HTTP. Each token belongs to a worker of the operations that it names.
type server struct {
	*coordinator.Engine
	url   string
	close func()
}

func serve(t testing.TB, store journal.Store) *server {
	engine, err := coordinator.New(t.Context(), store, coordinator.Config{Workers: workers.NewKey(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	handler, err := httpapi.Handler(engine, httpapi.Config{
		Version: "1", Hosts: []string{"127.0.0.1"}, Logger: slog.New(slog.DiscardHandler),
		Authenticate: func(token string) (httpapi.Identity, bool) {
			return httpapi.Identity{Name: token, Role: httpapi.Worker, Operations: strings.Split(token, "+")}, token != "nobody"
		},
	})
	require.NoError(t, err)
	listening := httptest.NewServer(handler)
	s := &server{Engine: engine, url: listening.URL, close: sync.OnceFunc(func() {
		handler.Close()
		_ = engine.Shutdown(context.Background())
		listening.Close()
	})}
	t.Cleanup(s.close)
	return s
}

func parse(t testing.TB, text string) *template.Workflow {
	checked, err := kinds.Load("w.yaml", []byte(text), template.Known{Operation: func(string) bool { return true }})
	require.NoError(t, err)
	return checked.Workflow
}

func (s *server) start(t testing.TB, text, id string) *coordinator.Run {
	run, err := s.Start(t.Context(), parse(t, text), nil, coordinator.WithID(id))
	require.NoError(t, err)
	return run
}

func (s *server) wait(t testing.TB, run *coordinator.Run) *coordinator.Result {
	result, err := run.Wait(t.Context())
	require.NoError(t, err)
	return result
}

// work serves until the test, or the returned function, ends it.
func work(t testing.TB, config worker.Config) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	config.Logger = slog.New(slog.DiscardHandler)
	go func() { done <- worker.Serve(ctx, config) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(stop)
	return stop
}

func TestAnOperationSeesItsCall(t *testing.T) {
	s := serve(t, memory.New())
	var calls atomic.Int32
	op := operation.Define("a", func(ctx context.Context, in string) (string, error) {
		c := operation.CallOf(ctx)
		end, timed := ctx.Deadline()
		require.True(t, timed)
		require.InDelta(t, time.Hour, time.Until(end), float64(10*time.Minute))
		if err := operation.Report(ctx, "half", calls.Load()); err != nil {
			return "", err
		}
		worker.Log(ctx, "on it")
		if calls.Add(1) == 1 {
			return "", &operation.Error{Code: "busy", Message: "try again", RetryAt: time.Now()}
		}
		return fmt.Sprint(in, " ", c.Key(), " ", c.Attempt, " ", c.Operation), nil
	})
	work(t, worker.Config{URL: s.url, Token: "a", Operations: []worker.Operation{op}})
	run := s.start(t, `{kind: Workflow, name: w, steps: [{operation: a, input: hi, timing: {timeout: PT1H, retry: {max_attempts: 3, backoff: PT0.001S}}}], output: "{{ steps.a.output }}"}`, "r")
	require.Equal(t, "hi r/a 2 a", s.wait(t, run).Output)
	var reports []string
	for e, err := range run.Events(t.Context(), 1) {
		require.NoError(t, err)
		if e.Type == journal.CallReported {
			reports = append(reports, fmt.Sprint(e.Attempt, e.Detail.Count, e.Detail.Name, e.Value))
		}
	}
	require.Equal(t, []string{"1 1half0", "2 1half1"}, reports)
}

func TestFailuresPanicsAndLargeValuesTravel(t *testing.T) {
	s := serve(t, memory.New())
	ops := []worker.Operation{
		operation.Define("fails", func(context.Context, any) (any, error) { return nil, errors.New("no") }),
		operation.Define("panics", func(context.Context, any) (any, error) { panic("oh") }),
		operation.Define("repeats", func(_ context.Context, n int) (string, error) { return strings.Repeat("x", n), nil }),
		operation.Define("counts", func(_ context.Context, text string) (int, error) { return len(text), nil }),
	}
	work(t, worker.Config{URL: s.url, Token: "fails+panics+repeats+counts", Operations: ops})
	for name, code := range map[string]string{"fails": "error", "panics": "panic"} {
		result := s.wait(t, s.start(t, `{kind: Workflow, name: w, steps: [{operation: `+name+`}]}`, name))
		require.NotNil(t, result.Failure, name)
		require.Equal(t, code, result.Failure.Code)
	}
	text := `{kind: Workflow, name: w, steps: [{operation: repeats, input: %d}, {operation: counts, input: "{{ steps.repeats.output }}"}], output: "{{ steps.counts.output }}"}`
	require.EqualValues(t, 1<<20, s.wait(t, s.start(t, fmt.Sprintf(text, 1<<20), "large")).Output, "an input that has an address")
	if testing.Short() {
		return // the race detector takes a minute for 40 MiB
	}
	result := s.wait(t, s.start(t, fmt.Sprintf(text, 40<<20), "too-large"))
	require.Equal(t, "output_too_large", result.Failure.Code)
}

func TestACancelReachesABusyWorker(t *testing.T) {
	s := serve(t, memory.New())
	begun, ended := make(chan struct{}), make(chan error, 1)
	op := operation.Define("a", func(ctx context.Context, _ any) (any, error) {
		close(begun)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	})
	work(t, worker.Config{URL: s.url, Token: "a", Operations: []worker.Operation{op}, Calls: 1})
	run := s.start(t, `{kind: Workflow, name: w, steps: [{operation: a}]}`, "r")
	<-begun
	at := time.Now()
	require.NoError(t, run.Cancel(t.Context(), "enough"))
	<-ended
	t.Logf("the worker knows after %v", time.Since(at))
	require.Equal(t, "aborted", string(s.wait(t, run).Status))
}

func TestAWorkerThatIsRefusedSaysSo(t *testing.T) {
	s := serve(t, memory.New())
	op := operation.Define("a", func(context.Context, any) (any, error) { return nil, nil })
	for token, says := range map[string]string{"b": "does not name this operation", "nobody": "unauthorized"} {
		err := worker.Serve(t.Context(), worker.Config{URL: s.url, Token: token, Operations: []worker.Operation{op}})
		require.ErrorIs(t, err, worker.ErrRefused)
		require.ErrorContains(t, err, says)
	}
	require.ErrorContains(t, worker.Serve(t.Context(), worker.Config{URL: s.url}), "Config.Operations is empty")
}

// A worker that is about to end finishes the calls under way.
func TestCallsUnderWayAreFinished(t *testing.T) {
	s := serve(t, memory.New())
	begun, goOn := make(chan struct{}), make(chan struct{})
	op := operation.Define("a", func(context.Context, any) (string, error) {
		close(begun)
		<-goOn
		return "done", nil
	})
	stop := work(t, worker.Config{URL: s.url, Token: "a", Operations: []worker.Operation{op}, Grace: time.Hour})
	run := s.start(t, `{kind: Workflow, name: w, steps: [{operation: a, idempotent: false}], output: "{{ steps.a.output }}"}`, "r")
	<-begun
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	close(goOn)
	<-stopped
	require.Equal(t, "done", s.wait(t, run).Output)
}

func chain(n int) string {
	var b strings.Builder
	b.WriteString("{kind: Workflow, name: chain, steps: [")
	for i := range n {
		fmt.Fprintf(&b, "{id: s%d, operation: a},", i)
	}
	return b.String() + "]}"
}

// BenchmarkChains measures the runs of ten steps per second of one worker, 100 at a time, and the CPU time of a step in server and worker
// together: for a worker with places for all, and for one with the default number of places, for which runs wait.
func BenchmarkChains(b *testing.B) {
	for _, calls := range []int{128, 64} {
		b.Run("calls="+strconv.Itoa(calls), func(b *testing.B) { benchmarkChains(b, calls) })
	}
}

func benchmarkChains(b *testing.B, calls int) {
	store, err := disk.Open(b.TempDir(), disk.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	s := serve(b, store)
	op := operation.Define("a", func(context.Context, any) (any, error) { return nil, nil })
	count := &counter{to: &http.Transport{MaxIdleConnsPerHost: 4}}
	stop := work(b, worker.Config{URL: s.url, Token: "a", Operations: []worker.Operation{op}, Calls: calls, Client: &http.Client{Transport: count}})
	w := parse(b, chain(10))
	run := func(id string) {
		r, err := s.Start(b.Context(), w, nil, coordinator.WithID(id))
		require.NoError(b, err)
		require.Equal(b, "completed", string(s.wait(b, r).Status))
	}
	run("first")
	n := 0
	requests := count.takes.Load() + count.gives.Load()
	appends, _, _ := s.Tally().Appends()
	before := cpu(b)
	for b.Loop() {
		n++
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() { run(strconv.Itoa(n) + "-" + strconv.Itoa(i)) })
		}
		all.Wait()
	}
	steps := float64(1000 * n)
	b.ReportMetric(float64(100*n)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/steps, "µs-cpu/step")
	after, _, _ := s.Tally().Appends()
	b.ReportMetric(float64(after-appends)/steps, "appends/step")
	b.ReportMetric(float64(count.takes.Load()+count.gives.Load()-requests)*100/steps, "requests/100steps")
	stop()
	s.close()
	require.NoError(b, store.Close())
}

// BenchmarkStep measures one step of one run, alone.
func BenchmarkStep(b *testing.B) {
	store, err := disk.Open(b.TempDir(), disk.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	s := serve(b, store)
	op := operation.Define("a", func(context.Context, any) (any, error) { return nil, nil })
	stop := work(b, worker.Config{URL: s.url, Token: "a", Operations: []worker.Operation{op}})
	w := parse(b, chain(1))
	n := 0
	for b.Loop() {
		n++
		r, err := s.Start(b.Context(), w, nil, coordinator.WithID(strconv.Itoa(n)))
		require.NoError(b, err)
		s.wait(b, r)
	}
	stop()
	s.close()
	require.NoError(b, store.Close())
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
