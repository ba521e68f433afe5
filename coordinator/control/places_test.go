package control

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// On a busy machine the goroutine of a connection may run after the deadline that its place among the idle ones has: what the
// client has sent by then is a request, and not a timeout.
func TestWhatWasSentInTimeIsRead(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	require.NoError(t, server.SetReadDeadline(time.Unix(1, 0)))
	go func() { _, _ = client.Write([]byte("{\"verb\": \"ping\"}\n")) }()
	line := make([]byte, 64)
	n, err := (&tardy{conn: server}).Read(line)
	require.NoError(t, err)
	require.Equal(t, "{\"verb\": \"ping\"}\n", string(line[:n]))
}
