// Package sessions keeps the sessions of browsers that are logged in, each named by a secret in a cookie, and invitations, each of which
// begins one session. The process keeps them, and only the hashes of the secrets.
package sessions

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"
)

// Bounds of sessions and invitations.
const (
	inviteTime  = time.Hour          // an invitation that was not used is forgotten
	sessionTime = 7 * 24 * time.Hour // a session ends
	sessionsMax = 10_000             // beyond it, the oldest are forgotten
)

// Keep has sessions, each with a W that describes its user. The zero value has none. It is safe for concurrent use.
type Keep[W any] struct {
	mu      sync.Mutex
	invited secretMap[W]
	open    secretMap[W]
}

// Invite returns a secret that begins a session, once.
func (k *Keep[W]) Invite(who W, now time.Time) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.invited.add(who, now, inviteTime)
}

// Accept returns the identity that a secret invites. The secret is used up.
func (k *Keep[W]) Accept(secret string, now time.Time) (who W, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if who, ok = k.invited.get(secret, now); ok {
		k.invited.drop(secret)
	}
	return who, ok
}

// Begin begins a session and returns its secret.
func (k *Keep[W]) Begin(who W, now time.Time) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.open.add(who, now, sessionTime)
}

// Of returns the user of the session with a secret, if it has not ended.
func (k *Keep[W]) Of(secret string, now time.Time) (who W, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.open.get(secret, now)
}

// End ends a session.
func (k *Keep[W]) End(secret string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open.drop(secret)
}

// secretMap are entries by the hash of their secret, so that the time of a look-up reveals nothing of the secret.
type secretMap[W any] struct {
	of    map[[sha256.Size]byte]entry[W]
	order [][sha256.Size]byte // the oldest first; some may be gone
}

type entry[W any] struct {
	who   W
	until time.Time
}

func (h *secretMap[W]) add(who W, now time.Time, lasting time.Duration) (secret string) {
	for len(h.order) > 0 { // those that have expired, and the oldest of too many
		oldest, there := h.of[h.order[0]]
		if there && now.Before(oldest.until) && len(h.order) < sessionsMax {
			break
		}
		delete(h.of, h.order[0])
		h.order = h.order[1:]
	}
	var random [32]byte
	rand.Read(random[:]) // never fails
	secret = base64.RawURLEncoding.EncodeToString(random[:])
	if h.of == nil {
		h.of = map[[sha256.Size]byte]entry[W]{}
	}
	key := sha256.Sum256([]byte(secret))
	h.of[key], h.order = entry[W]{who, now.Add(lasting)}, append(h.order, key)
	return secret
}

func (h *secretMap[W]) get(secret string, now time.Time) (who W, ok bool) {
	e, ok := h.of[sha256.Sum256([]byte(secret))]
	if !ok || !now.Before(e.until) {
		return who, false
	}
	return e.who, true
}

func (h *secretMap[W]) drop(secret string) { delete(h.of, sha256.Sum256([]byte(secret))) }
