package control

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/coordinator/api"
)

// What is answered at a time, by kind, so that none is in the way of another: commands end soon, whoever looks may read as
// slowly as he likes, and who watches stays.
const (
	CommandsMax = 256
	LooksMax    = 128
	WatchersMax = 256
	placeTime   = time.Second            // how long a request waits for a place
	IdleMax     = 128                    // connections that have not sent their request
	idleTime    = 100 * time.Millisecond // that the oldest has left when there is another
	connections = CommandsMax + LooksMax + WatchersMax + 2*IdleMax
)

// places bound the answers of one kind that are under way.
type places chan struct{}

// enter takes a place, if one comes free soon.
func (p places) enter(ctx context.Context) error {
	wait := time.NewTimer(placeTime)
	defer wait.Stop()
	select {
	case p <- struct{}{}:
		return nil
	case <-ctx.Done():
	case <-wait.C:
	}
	return api.ErrorOf(api.ErrBusy)
}

func (p places) leave() { <-p }

// waiting are connections that have not sent their request, oldest first. The oldest gives way when there are too many, after
// a moment for what it has sent to be read: who asks for something does it at once.
type waiting struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (w *waiting) add(conn net.Conn) {
	_ = conn.SetReadDeadline(time.Now().Add(requestTime))
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.conns) == IdleMax {
		_ = w.conns[0].SetReadDeadline(time.Now().Add(idleTime)) // fails only of one that is closed already
		w.conns = slices.Delete(w.conns, 0, 1)
	}
	w.conns = append(w.conns, conn)
}

func (w *waiting) remove(conn net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer conn.SetReadDeadline(time.Time{})
	if i := slices.Index(w.conns, conn); i >= 0 {
		w.conns = slices.Delete(w.conns, i, i+1)
	}
}
