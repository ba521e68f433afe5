package workers

import (
	"context"

	"github.com/sluiceflow/sluice/coordinator/keychain"
)

// unlock finds and fetches the secrets of the run of a lease, so that they are redacted from the worker's deliveries: the worker did not
// receive them, but may know them. was is the reason that deliveries about the call cannot be accepted.
func (h *Hub) unlock(ctx context.Context, l *lease) (was string, err error) {
	if !l.known {
		l.ring, l.known = h.ring(l.ID)
	}
	if !l.known { // of an earlier engine, or it has ended
		ring, was, err := h.engine.Secrets(ctx, l.Run)
		switch {
		case err != nil:
			return splitError(err)
		case was != "":
			return was, nil
		}
		if l.ring, l.known = h.ring(l.ID); !l.known { // the run was loaded, and has not offered the call
			l.ring, l.known = ring, true
		}
	}
	if l.ring == nil {
		return "", nil
	}
	l.ring.Try(ctx)
	return "", ctx.Err()
}

// ring returns the secrets of the run of a call that this hub has.
func (h *Hub) ring(id ID) (ring *keychain.Ring, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.calls[id]; r != nil && r.known {
		return r.Ring, true
	}
	w, known := h.withdrawn[id]
	return w.ring, known
}
