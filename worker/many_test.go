//go:build unix

package worker_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/httpapi"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/worker"
)

// direct passes requests to a handler of this process.
type direct struct{ http.Handler }

func (d direct) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, req)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return answer.Result(), nil
}

// inMemory returns an engine and its handler, without a listener. Each token belongs to a worker of the operation that it names.
func inMemory(t *testing.T) (*coordinator.Engine, *httpapi.Server) {
	engine, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{Workers: workers.NewKey(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	handler, err := httpapi.Handler(engine, httpapi.Config{
		Logger: slog.New(slog.DiscardHandler),
		Authenticate: func(token string) (httpapi.Identity, bool) {
			return httpapi.Identity{Name: token, Role: httpapi.Worker, Operations: []string{token}}, true
		},
	})
	require.NoError(t, err)
	return engine, handler
}

// A worker may have more calls at a time than fit into a request, and keeps the leases of all of them for as long as they take.
func TestAWorkerKeepsMoreCallsThanARequestHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 2500
		engine, handler := inMemory(t)
		var begun sync.WaitGroup
		begun.Add(calls)
		goOn := make(chan struct{})
		op := operation.Define("a", func(context.Context, any) (any, error) {
			begun.Done()
			<-goOn
			return nil, nil
		})
		stop := work(t, worker.Config{URL: "http://server", Token: "a", Operations: []worker.Operation{op}, Calls: calls, Client: &http.Client{Transport: direct{handler}}})
		w := parse(t, `{kind: Workflow, name: w, steps: [{operation: a, idempotent: false}]}`)
		runs := make([]*coordinator.Run, calls)
		for i := range runs {
			var err error
			runs[i], err = engine.Start(t.Context(), w, nil, coordinator.WithID(strconv.Itoa(i)))
			require.NoError(t, err)
		}
		begun.Wait()
		time.Sleep(4 * workers.LeaseTime)
		close(goOn)
		for _, run := range runs {
			result, err := run.Wait(t.Context())
			require.NoError(t, err)
			require.Equal(t, "completed", string(result.Status))
		}
		stop()
		handler.Close()
		require.NoError(t, engine.Shutdown(context.Background()))
	})
}
