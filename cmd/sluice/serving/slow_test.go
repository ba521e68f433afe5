package serving

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/httpapi"
	"github.com/sluiceflow/sluice/coordinator/httpapi/frames"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// pipes is a listener that accepts connections within this process.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial returns a client's end of a new connection.
func (p pipes) dial() net.Conn {
	client, server := net.Pipe()
	p <- server
	return client
}

// hosted is a host in virtual time, with all bounds of a real one.
type hosted struct {
	pipes
	t       *testing.T
	engine  *coordinator.Engine
	clients sync.WaitGroup
}

// host calls f with a host, and stops the host when f returns. The test fails if a goroutine of the host is left then.
func host(t *testing.T, f func(*testing.T, *hosted)) {
	synctest.Test(t, func(t *testing.T) {
		engine, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		handler, err := httpapi.Handler(engine, httpapi.Config{
			Logger: slog.New(slog.DiscardHandler),
			Authenticate: func(token string) (httpapi.Identity, bool) {
				return httpapi.Identity{Name: token, Role: httpapi.Admin}, true
			},
		})
		require.NoError(t, err)
		h := &hosted{pipes: make(pipes), t: t, engine: engine}
		server := newServer(handler)
		served := make(chan error, 1)
		go func() { served <- server.Serve(h) }()
		f(t, h)
		h.clients.Wait()
		close(h.pipes)
		require.ErrorIs(t, <-served, net.ErrClosed)
		require.NoError(t, engine.Shutdown(context.Background()))
		require.NoError(t, server.Close())
	})
}

const waits = `{kind: Workflow, name: waits, operations: {ask: {wait: {message: go}}, say: {value: "{{ input }}"}},
 steps: [{operation: ask}, {operation: say, input: "{{ steps.ask.output }}"}], output: "{{ steps.say.output }}"}`

// start starts a run.
func (h *hosted) start(id string, input any) *coordinator.Run {
	checked, err := kinds.Load("w.yaml", []byte(waits), template.Known{})
	require.NoError(h.t, err)
	run, err := h.engine.Start(h.t.Context(), checked.Workflow, input, coordinator.WithID(id))
	require.NoError(h.t, err)
	return run
}

// head returns the head of an HTTP request.
func head(token, method, path string, more ...string) string {
	return method + " " + path + " HTTP/1.1\r\nHost: server\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\n" +
		strings.Join(append(more, "\r\n"), "")
}

// drip sends a text at a byte a second, until the other end is closed.
func drip(conn net.Conn, text string) {
	for i := range text {
		if _, err := conn.Write([]byte(text[i : i+1])); err != nil {
			return
		}
		pass(time.Second)
	}
}

// seep reads a byte a second until the other end is closed, and returns the time that this took.
func seep(conn net.Conn) time.Duration {
	began, b := time.Now(), make([]byte, 1)
	for {
		if _, err := conn.Read(b); err != nil {
			return time.Since(began)
		}
		pass(time.Second)
	}
}

func TestWhoSendsSlowlyIsGivenUp(t *testing.T) {
	host(t, func(t *testing.T, h *hosted) {
		began := time.Now()
		conn := h.dial()
		require.Empty(t, readAll(conn), "no head at all")
		require.Equal(t, headerTime, time.Since(began))
		conn.Close()

		began = time.Now()
		slow := h.dial()
		h.clients.Go(func() { drip(slow, head("a", "GET", "/v1/runs")) })
		require.NotContains(t, readAll(slow), "200", "a slow head")
		require.Equal(t, headerTime, time.Since(began))
		slow.Close()

		began = time.Now()
		conn = h.dial()
		body := `{"workflow": "waits", "id": "slow", "input": "` + strings.Repeat("x", 100) + `"}`
		_, err := io.WriteString(conn, head("a", "POST", "/v1/runs", fmt.Sprintf("Content-Length: %d\r\n", len(body))))
		require.NoError(t, err)
		h.clients.Go(func() { drip(conn, body) })
		require.Contains(t, readAll(conn), "the body has not arrived whole")
		require.Equal(t, readTime, time.Since(began))
		conn.Close()
		_, err = h.engine.Run(t.Context(), "slow")
		require.ErrorIs(t, err, coordinator.ErrRunNotFound)
	})
}

// readAll reads until the connection is closed.
func readAll(conn net.Conn) string {
	text, _ := io.ReadAll(conn)
	return string(text)
}

// The server closes the connection of a client that reads a byte a second. Such a client delays neither its run nor other readers.
func TestWhoReadsSlowlyHoldsNobodyUp(t *testing.T) {
	host(t, func(t *testing.T, h *hosted) {
		run := h.start("a", strings.Repeat("x", 1<<20))
		gone := make(chan time.Duration, 3)
		for _, path := range []string{"/v1/runs/a/feed?view=events&after=0", "/v1/feed", "/v1/runs/a/events"} {
			conn := h.dial()
			_, err := io.WriteString(conn, head("slow", "GET", path))
			require.NoError(t, err)
			go func() {
				gone <- seep(conn)
				conn.Close()
			}()
		}
		synctest.Wait()
		quick := h.dial()
		_, err := io.WriteString(quick, head("quick", "GET", "/v1/runs/a/feed", "Connection: close\r\n"))
		require.NoError(t, err)
		ended := make(chan string)
		go func() { ended <- readAll(quick) }()
		began := time.Now()
		require.NoError(t, run.Send(t.Context(), "go", 7))
		result, err := run.Wait(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 7, result.Output)
		require.Contains(t, <-ended, `"event":"end"`)
		require.Less(t, time.Since(began), time.Second)
		quick.Close()
		for range 3 {
			require.LessOrEqual(t, <-gone, writeTime+frames.FlushTime)
		}
	})
}

// 10,000 feeds are requested at once. The server accepts 2,000 of them, and 16 of each client. The others are refused, and may be requested
// again; the runs of the host continue; no resource of a feed is left.
func TestTenThousandFeeds(t *testing.T) {
	clients := 10_000 / 20
	if testing.Short() {
		clients = httpapi.StreamsMax/httpapi.StreamsOfAClientMax + 10
	}
	host(t, func(t *testing.T, h *hosted) {
		h.start("a", nil)
		require.Equal(t, httpapi.StreamsMax, h.feeds(clients))
		before := heap() // includes memory that stays after the feeds, such as the rates of clients
		require.Equal(t, httpapi.StreamsMax, h.feeds(clients), "the places are free again")
		require.Less(t, heap(), before+httpapi.StreamsMax*256, "a feed leaves 256 bytes")
	})
}

// feeds requests twenty feeds for each of a number of clients at once, returns the number of opened feeds, and closes them all.
func (h *hosted) feeds(clients int) (got int) {
	open, errs := make([][]net.Conn, clients), make([]error, clients)
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() { open[client], errs[client] = h.ask(fmt.Sprint("client-", client)) })
	}
	all.Wait()
	require.NoError(h.t, errors.Join(errs...))
	run := h.start("", nil)
	require.NoError(h.t, run.Send(h.t.Context(), "go", 7))
	result, err := run.Wait(h.t.Context())
	require.NoError(h.t, err)
	require.EqualValues(h.t, 7, result.Output)
	for _, list := range open {
		require.LessOrEqual(h.t, len(list), httpapi.StreamsOfAClientMax)
		got += len(list)
		for _, conn := range list {
			conn.Close()
		}
	}
	pass(writeTime) // until then, deadlines keep the connections
	return got
}

// ask requests twenty feeds, and returns the connections of those that were opened. It returns an error if another one is not refused
// properly.
func (h *hosted) ask(client string) (open []net.Conn, err error) {
	asks := h.dial()
	defer func() { asks.Close() }()
	reader := bufio.NewReader(asks)
	for range 20 {
		if _, err := io.WriteString(asks, head(client, "GET", "/v1/runs/a/feed")); err != nil {
			return open, err
		}
		resp, err := http.ReadResponse(reader, nil)
		if err != nil {
			return open, err
		}
		if resp.StatusCode == http.StatusOK {
			open, asks = append(open, asks), h.dial()
			reader.Reset(asks)
			continue
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "1" || !strings.Contains(string(text), "too_many_streams") {
			return open, fmt.Errorf("%s: %v: %s", resp.Status, err, text)
		}
	}
	return open, nil
}

// pass lets virtual time pass.
func pass(d time.Duration) { <-time.After(d) }

// heap returns the bytes that are in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
