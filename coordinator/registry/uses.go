package registry

import (
	"sync"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// uses are the definitions that starts and publications under way use: from the moment at which a definition counts as stored until an
// event refers to it, the store does not record that it is needed.
//
//	start  ──┤ Use ── store definitions ── append run.started ── done ├──
//	sweep       ──┤ Watch ── mark ── used? no: forget that it is stored, delete ── end ├──
type uses struct {
	mu      sync.Mutex
	stored  map[string]bool    // definitions that are in the store, by hash; not all
	under   [2]int             // uses that have begun in each generation
	used    [2]map[string]bool // definitions noted in each; forgotten when all uses that began in it, or before, have ended
	now     int                // the younger generation
	watched int                // sweeps under way: during these, nothing is forgotten
}

// Bounds of the remembered definitions: beyond either, they are forgotten as soon as they may be.
const (
	storedMany = 10_000
	usedMany   = 1_000
)

// Use keeps the definitions that are stored or found, until done is called, from being swept.
func (l *Registry) Use() (done func()) {
	u := &l.uses
	u.mu.Lock()
	defer u.mu.Unlock()
	generation := u.now
	u.under[generation]++
	return sync.OnceFunc(func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.under[generation]--
		u.forget()
	})
}

// forget forgets definitions that no use under way may have noted. The caller holds mu.
func (u *uses) forget() {
	older := 1 - u.now
	if u.watched > 0 || u.under[older] > 0 {
		return
	}
	clear(u.used[older])
	if u.under[u.now] == 0 {
		clear(u.used[u.now])
	} else if len(u.used[u.now]) > usedMany {
		u.now = older
	}
}

// note records that a definition is used, and reports whether it is stored.
func (u *uses) note(hash string) (stored bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.used[u.now] == nil {
		u.used[u.now] = map[string]bool{}
	}
	u.used[u.now][hash] = true
	return u.stored[hash]
}

// keep records that a definition is stored.
func (u *uses) keep(hash string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.stored) >= storedMany || u.stored == nil {
		u.stored = map[string]bool{}
	}
	u.stored[hash] = true
}

// Watch begins a sweep, which end ends. used reports whether a use under way, now or at any time since the sweep began, uses a
// definition; if not, the registry treats it as deleted.
func (l *Registry) Watch() (used func(stream string) bool, end func()) {
	u := &l.uses
	u.mu.Lock()
	defer u.mu.Unlock()
	u.watched++
	used = func(stream string) bool {
		hash := journal.DefinitionIn(stream)
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.used[0][hash] || u.used[1][hash] {
			return true
		}
		delete(u.stored, hash)
		return false
	}
	end = func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.watched--
		u.forget()
	}
	return used, end
}
