package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/client"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/feed"
)

// chain starts a run of so many steps, each behind a message.
func chain(t *testing.T, s *site, id string, steps int) client.Run {
	var ops, list []string
	for i := range steps {
		ops, list = append(ops, fmt.Sprintf("o%d: {wait: {message: m%d}}", i, i)), append(list, fmt.Sprintf("{operation: o%d}", i))
	}
	w := workflow(t, "{kind: Workflow, name: chain, operations: {"+strings.Join(ops, ", ")+"}, steps: ["+strings.Join(list, ", ")+"]}")
	run, err := client.Of(s.engine).Start(t.Context(), w, nil, client.Options{ID: id})
	require.NoError(t, err)
	return run
}

// after returns the number of the newest event that a frame tells of, which follows event next without a gap.
func after(t *testing.T, f client.Frame, next uint64) uint64 {
	t.Helper()
	var u struct {
		From, Seq uint64
		Events    []struct{ Event struct{ Seq uint64 } }
	}
	require.NoError(t, json.Unmarshal(f.Data, &u))
	switch f.Event {
	case "end":
		return next
	case "snapshot":
		require.Zero(t, next)
		return u.Seq
	}
	require.Equal(t, "update", f.Event)
	require.Equal(t, next+1, u.From)
	require.Len(t, u.Events, int(u.Seq-next))
	for i, e := range u.Events {
		require.Equal(t, next+1+uint64(i), e.Event.Seq)
	}
	return u.Seq
}

// beginOf returns what is before the number of the event in the ids of a feed.
func beginOf(t *testing.T, s *site, path string) string {
	for f, err := range s.remote.Feed(t.Context(), path, "") {
		require.NoError(t, err)
		return strings.TrimRight(f.ID, "0123456789")
	}
	t.Fatal("the feed has no frame")
	return ""
}

func TestAClientThatIsKilledAndResumedGetsEachEventOnceAndInOrder(t *testing.T) {
	const steps = 50
	kills := 1000
	if testing.Short() {
		kills = 100
	}
	s, random := newSite(t), rand.New(rand.NewPCG(1, 2))
	run := chain(t, s, "a", steps)
	sent := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < steps && err == nil; i++ {
			err = run.Send(context.Background(), fmt.Sprint("m", i), i)
		}
		sent <- err
	}()
	for _, path := range []string{"/v1/runs/a/feed?view=events", "/v1/feed?view=events&run=a"} {
		begin := beginOf(t, s, path)
		id, at, ends := begin+"0", uint64(0), 0
		for killed := 0; killed < kills/2 || ends == 0; killed++ {
			left := 1 + random.IntN(8)
			for f, err := range s.remote.Feed(t.Context(), path, id) {
				require.NoError(t, err)
				at = after(t, f, at)
				if id = f.ID; f.Event == "end" {
					ends++
					last, err := run.Last(t.Context())
					require.NoError(t, err)
					require.Equal(t, last, at)
					at = random.Uint64N(last)
					id = begin + fmt.Sprint(at)
					break
				}
				if left--; left == 0 {
					break
				}
			}
		}
	}
	require.NoError(t, <-sent)
}

// What is in a map is shown where it is opened, of one run and of several.
func TestAFeedShowsTheItemsOfOpenedMaps(t *testing.T) {
	s := newSite(t)
	w := workflow(t, `{kind: Workflow, name: w, operations: {ask: {wait: {message: go}}}, steps: [{map: {id: m, over: "{{ [1, 2] }}", steps: [{id: a, operation: ask}]}}]}`)
	_, err := client.Of(s.engine).Start(t.Context(), w, nil, client.Options{ID: "a"})
	require.NoError(t, err)
	for query, want := range map[string]int{"": 1, "open=none": 1, "open=m": 3, "open=*": 3, "view=steps&open=none&open=m": 3} {
		for _, path := range []string{"/v1/runs/a/feed?", "/v1/feed?run=a&"} {
			for f, err := range s.remote.Feed(t.Context(), path+query, "") {
				require.NoError(t, err)
				var at feed.Snapshot
				require.NoError(t, json.Unmarshal(f.Data, &at))
				require.Len(t, at.Steps, want, path+query)
				require.Equal(t, []feed.MapCount{{Map: "m", Of: 2, Running: 2}}, at.Maps)
				break
			}
		}
	}
	for _, path := range []string{"/v1/runs/a/feed?open=", "/v1/feed?run=a&open=", "/v1/runs/a/feed?open=m&view=events", "/v1/runs/a/feed?open=m&view=log"} {
		for _, err := range s.remote.Feed(t.Context(), path, "") {
			require.Equal(t, "bad_request", api.ErrorOf(err).Code, path)
		}
	}
	for _, err := range s.remote.Feed(t.Context(), "/v1/runs/a/feed?view=net", "") {
		require.Equal(t, "not_possible", api.ErrorOf(err).Code)
	}
}

// A connection that is cut anywhere, also within a frame, is made again by the client itself.
func TestAFeedGoesOnWhenItsConnectionIsCut(t *testing.T) {
	const steps = 60
	s := newSite(t)
	via, cut := cutter(t, s.url)
	c, err := client.Dial(via, "secret")
	require.NoError(t, err)
	t.Cleanup(c.Close)
	run := chain(t, s, "a", steps)
	for i := range steps {
		require.NoError(t, run.Send(t.Context(), fmt.Sprint("m", i), strings.Repeat("x", 100)))
	}
	next := uint64(0)
	for f, err := range c.Feed(t.Context(), "/v1/runs/a/feed?view=events", "0") {
		require.NoError(t, err)
		next = after(t, f, next)
	}
	last, err := run.Last(t.Context())
	require.NoError(t, err)
	require.Equal(t, last, next)
	require.Greater(t, cut.Load(), int64(3))
}

func TestAFeedThatIsRefusedSaysWhy(t *testing.T) {
	s := newSite(t)
	for path, code := range map[string]string{
		"/v1/feed?q=statsu:failed": "bad_request", "/v1/runs/none/feed": "run_not_found", "/v1/feed?run=a&run=a": "bad_request",
		"/v1/feed?view=all": "bad_request", "/v1/nothing": "no_route",
	} {
		n := 0
		for _, err := range s.remote.Feed(t.Context(), path, "") {
			n++
			require.Equal(t, code, api.ErrorOf(err).Code, path)
		}
		require.Equal(t, 1, n, path)
	}
	ctx, cancel := context.WithCancel(t.Context())
	for f, err := range s.remote.Feed(ctx, "/v1/feed", "") {
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			break
		}
		require.Equal(t, "ready", f.Event)
		cancel()
	}
	cancel()
}

// cutter returns the URL of what passes requests on to a server, and cuts each connection, after twice as many bytes as the one before; and how often it has.
func cutter(t *testing.T, url string) (string, *atomic.Int64) {
	to := strings.TrimPrefix(url, "http://")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	cut, ended := &atomic.Int64{}, make(chan struct{})
	go func() {
		defer close(ended)
		for most := int64(700); ; most *= 2 {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				conn.Close()
				continue
			}
			go func() { // ends with either connection
				_, _ = io.Copy(server, conn)
				server.Close()
			}()
			if n, _ := io.CopyN(conn, server, most); n == most {
				cut.Add(1)
			}
			conn.Close()
			server.Close()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-ended
	})
	return "http://" + listener.Addr().String(), cut
}
