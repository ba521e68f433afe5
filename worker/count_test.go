//go:build unix

package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/workers/wire"
	"github.com/sluiceflow/sluice/worker"
)

// counter counts requests.
type counter struct {
	to           http.RoundTripper
	takes, gives atomic.Int64
}

func (c *counter) RoundTrip(req *http.Request) (*http.Response, error) {
	switch req.URL.Path {
	case "/v1/worker/take":
		c.takes.Add(1)
	case "/v1/worker/give":
		c.gives.Add(1)
	}
	return c.to.RoundTrip(req)
}

// Calls share requests. If a worker delivers a result while it waits for calls, the run journals the result and the next request together.
func TestTheWorkOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const runs, steps = 100, 10
		engine, handler := inMemory(t)
		count := &counter{to: direct{handler}}
		op := operation.Define("a", func(context.Context, any) (any, error) {
			time.Sleep(time.Second)
			return nil, nil
		})
		w := parse(t, chain(steps))
		list := make([]*coordinator.Run, runs)
		for i := range list {
			var err error
			list[i], err = engine.Start(t.Context(), w, nil, coordinator.WithID(strconv.Itoa(i)))
			require.NoError(t, err)
		}
		stop := work(t, worker.Config{URL: "http://server", Token: "a", Operations: []worker.Operation{op}, Calls: 2 * runs, Client: &http.Client{Transport: count}})
		for _, run := range list {
			result, err := run.Wait(t.Context())
			require.NoError(t, err)
			require.Equal(t, "completed", string(result.Status))
		}
		appends, _, _ := engine.Tally().Appends()
		require.LessOrEqual(t, appends, uint64(runs*steps*14/10), "one for each step, but for the first of a run, and those whose worker had just taken others")
		require.Less(t, count.takes.Load()+count.gives.Load(), int64(runs*steps*20/100))
		stop()
		handler.Close()
		require.NoError(t, engine.Shutdown(context.Background()))
	})
}

// While the server accepts no results, the worker takes at most twice as many calls as it has places.
func TestResultsThatWaitAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var taken, started, broken atomic.Int64
		server := roundTripper(func(req *http.Request) (int, any) {
			if req.URL.Path == "/v1/worker/give" {
				return http.StatusServiceUnavailable, struct{}{}
			}
			var body wire.TakeBody
			require.NoError(t, json.NewDecoder(req.Body).Decode(&body))
			answer := wire.TakeAnswer{}
			if *body.Max == 0 {
				select {
				case <-time.After(takeTime):
				case <-req.Context().Done():
					broken.Add(1)
				}
				return http.StatusOK, answer
			}
			for range *body.Max {
				lease := strconv.FormatInt(taken.Add(1), 10)
				answer.Calls = append(answer.Calls, wire.TakenCall{Lease: lease, Operation: "a"})
			}
			return http.StatusOK, answer
		})
		op := operation.Define("a", func(context.Context, any) (any, error) {
			started.Add(1)
			return nil, nil
		})
		stop := work(t, worker.Config{URL: "http://server", Token: "a", Operations: []worker.Operation{op}, Calls: 8, Grace: time.Second, Client: &http.Client{Transport: server}})
		time.Sleep(10 * takeTime)
		require.EqualValues(t, 16, started.Load())
		require.Zero(t, broken.Load(), "no request is broken off")
		stop()
	})
}

const takeTime = 30 * time.Second

// roundTripper answers requests.
type roundTripper func(*http.Request) (status int, answer any)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	status, answer := f(req)
	data, err := json.Marshal(answer)
	if err = errors.Join(err, req.Context().Err()); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Body: io.NopCloser(bytes.NewReader(data))}, nil
}
