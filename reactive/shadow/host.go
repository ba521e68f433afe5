package shadow

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// host has room for every call, makes no calls, and returns the participants that the run has asked.
type host struct {
	decide.Host
	root  *reactive.Root
	named map[string][]string // participants by request
}

var (
	_ decide.Resolver = (*host)(nil)
	_ decide.Limiter  = (*host)(nil)
)

// Pure makes no call: the journal has its outcome.
func (h *host) Pure(int32, any) (call.Result, bool) { return call.Result{}, false }

// Reserve implements decide.Host.
func (h *host) Reserve(reactive.Room) bool { return true }

// Limits implements decide.Limiter.
func (h *host) Limits() decide.Limits {
	if l, ok := h.Host.(decide.Limiter); ok {
		return l.Limits()
	}
	return decide.Limits{}
}

// Resolve returns the participants that the run asked in the same attempt or, if it made none, the current participants of the
// target.
func (h *host) Resolve(v int32, at int64) ([]string, *journal.Failure) {
	if ids, ok := h.named[reactive.RequestName(h.root.Key(v), h.root.Attempt(v)+1)]; ok {
		return ids, nil
	}
	if r, ok := h.Host.(decide.Resolver); ok {
		return r.Resolve(v, at)
	}
	return h.root.Place(v).Step.Target.Participants, nil
}
