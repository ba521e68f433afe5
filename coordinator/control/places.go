package control

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
)

// Bounds of requests answered at a time, by kind, so that no kind delays another: commands end soon, readers may be slow, and
// watchers stay.
const (
	CommandsMax = 256
	ReadsMax    = 128
	WatchersMax = 256
	UploadsMax  = 4
	placeTime   = time.Second            // time in which a request must get a place
	IdleMax     = 128                    // connections that have not sent their request
	idleTime    = 100 * time.Millisecond // time left to the oldest when another connects
	connections = CommandsMax + ReadsMax + WatchersMax + 2*IdleMax
)

// places bounds the answers of one kind in progress.
type places chan struct{}

// enter takes a place, if one is released soon. ctx ends with the server: the client then asks the process that takes the directory next.
func (p places) enter(ctx context.Context) error {
	wait := time.NewTimer(placeTime)
	defer wait.Stop()
	select {
	case p <- struct{}{}:
		return nil
	case <-ctx.Done():
		return api.ErrorOf(coordinator.ErrShutdown)
	case <-wait.C:
		return api.ErrorOf(api.ErrBusy)
	}
}

func (p places) leave() { <-p }

// waiting holds the connections that have not sent their request, oldest first. If there are too many, it closes the oldest, after
// a moment in which data that has been sent is read.
type waiting struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (w *waiting) add(conn net.Conn) {
	_ = conn.SetReadDeadline(time.Now().Add(requestTime))
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.conns) == IdleMax {
		_ = w.conns[0].SetReadDeadline(time.Now().Add(idleTime)) // fails only if it is closed already
		w.conns = slices.Delete(w.conns, 0, 1)
	}
	w.conns = append(w.conns, conn)
}

// patientReader reads a connection whose goroutine may run only after the deadline: it still reads the data that was sent before.
type patientReader struct {
	conn net.Conn
	late bool
}

func (r *patientReader) Read(p []byte) (int, error) {
	n, err := r.conn.Read(p)
	if n > 0 || r.late || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	r.late = true
	if err := r.conn.SetReadDeadline(time.Now().Add(idleTime)); err != nil {
		return 0, err
	}
	return r.conn.Read(p)
}

func (w *waiting) remove(conn net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer conn.SetReadDeadline(time.Time{})
	if i := slices.Index(w.conns, conn); i >= 0 {
		w.conns = slices.Delete(w.conns, i, i+1)
	}
}
