package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/client"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/feed"
)

// chain starts a run of some steps, each of which waits for a message.
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

// after returns the number of the newest event in a frame, which has the events from next on without a gap.
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

// beginOf returns the text before the number of the event in the ids of a feed.
func beginOf(t *testing.T, s *site, path string) string {
	for f, err := range s.remote.Feed(t.Context(), path, "") {
		require.NoError(t, err)
		return strings.TrimRight(f.ID, "0123456789")
	}
	t.Fatal("the feed has no frame")
	return ""
}

// kills returns the number of times that a client is killed: a thousand with SLUICE_EXHAUSTIVE, otherwise a hundred.
func kills() int {
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		return 1000
	}
	return 100
}

func TestAClientThatIsKilledAndResumedGetsEachEventOnceAndInOrder(t *testing.T) {
	const steps = 50
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
		for killed := 0; killed < kills() || ends == 0; killed++ {
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

// moment is the progress of a client of all runs up to a frame.
type moment struct {
	id   string            // of the frame
	seen map[string]uint64 // newest event of each run
	ends int               // runs that have ended
}

// after returns the moment after a frame. Each run in the frame is further than before.
func (m moment) after(t *testing.T, f client.Frame) moment {
	require.Equal(t, "update", f.Event)
	m.id, m.seen = f.ID, maps.Clone(m.seen)
	var changed feed.Changed
	require.NoError(t, json.Unmarshal(f.Data, &changed))
	for _, c := range changed.Runs {
		require.Greater(t, c.Seq, m.seen[c.Run])
		if m.seen[c.Run] = c.Seq; c.Head.Finished && c.Head.Events == c.Seq {
			m.ends++
		}
	}
	return m
}

func TestAClientOfAllRunsThatIsKilledAndResumedGetsEachChangeOnceAndInOrder(t *testing.T) {
	const runs, steps = 5, 10
	s, random := newSite(t), rand.New(rand.NewPCG(3, 4))
	var past []moment // except the last
	for f, err := range s.remote.Feed(t.Context(), "/v1/feed", "") {
		require.NoError(t, err)
		require.Equal(t, "ready", f.Event)
		past = append(past, moment{id: f.ID, seen: map[string]uint64{}})
		break
	}
	list := map[string]client.Run{}
	for i := range runs {
		id := fmt.Sprint("r", i)
		list[id] = chain(t, s, id, steps)
	}
	sent := make(chan error, runs)
	for _, run := range list {
		go func() {
			var err error
			for i := 0; i < steps && err == nil; i++ {
				err = run.Send(context.Background(), fmt.Sprint("m", i), i)
			}
			sent <- err
		}()
	}
	now, whole := past[0], 0
	for killed := 0; killed < kills() || whole == 0; killed++ {
		left := 1 + random.IntN(8)
		for f, err := range s.remote.Feed(t.Context(), "/v1/feed", now.id) {
			require.NoError(t, err)
			if now = now.after(t, f); now.ends == runs {
				break
			}
			past = append(past, now)
			if left--; left == 0 {
				break
			}
		}
		if now.ends == runs {
			whole++
			for id, run := range list {
				last, err := run.Last(t.Context())
				require.NoError(t, err)
				require.Equal(t, last, now.seen[id])
			}
			now = past[random.IntN(len(past))]
		}
	}
	for range runs {
		require.NoError(t, <-sent)
	}
}

// A feed shows the items of a map if it is opened, for one run and for several.
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

// If a connection is cut anywhere, also within a frame, the client reconnects.
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

// cutter returns the URL of a proxy that passes requests on to a server, and cuts each connection after twice as many bytes as the one
// before; and the number of cuts.
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
