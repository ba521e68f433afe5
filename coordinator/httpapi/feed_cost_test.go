//go:build !race

package httpapi

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// idleBytes bounds the memory of an idle feed: the client's connection, those of the HTTP server, and their stacks.
const idleBytes = 32 << 10

// The race detector would add memory of its own.
func TestAnIdleFeedTakesLittleMemory(t *testing.T) {
	const feeds = 500
	s := newTheatre(t)
	run := s.start(1, 0, 1)[0]
	held := func() int64 {
		runtime.GC()
		runtime.GC() // the second drops the pooled objects
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	before := held()
	for range feeds {
		conn, read := s.watch("/v1/runs/" + run.ID() + "/feed")
		for !bytes.Contains(read, []byte("event: snapshot")) {
			n, err := conn.Read(s.read[:])
			require.NoError(t, err)
			read = s.read[:n]
		}
	}
	require.Equal(t, feeds, s.server.streams.Count())
	require.Less(t, (held()-before)/feeds, int64(idleBytes))
}
