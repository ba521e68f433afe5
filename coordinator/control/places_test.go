package control

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
)

// On a busy machine the goroutine of a connection may run only after the connection's deadline: a request that was sent before is
// read, and does not time out.
func TestARequestSentInTimeIsRead(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	require.NoError(t, server.SetReadDeadline(time.Unix(1, 0)))
	go func() { _, _ = client.Write([]byte("{\"verb\": \"ping\"}\n")) }()
	line := make([]byte, 64)
	n, err := (&patientReader{conn: server}).Read(line)
	require.NoError(t, err)
	require.Equal(t, "{\"verb\": \"ping\"}\n", string(line[:n]))
}

// A request that waits while the server ends does not fail because of other requests: its client goes to the next process.
func TestARequestThatWaitsWhileTheServerEndsIsToldSo(t *testing.T) {
	full := make(places, 1)
	require.NoError(t, full.enter(t.Context()))
	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, full.enter(ended), coordinator.ErrShutdown)
}
