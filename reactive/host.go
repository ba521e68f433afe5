package reactive

// host implements ledger.Host for a root.
type host struct{ r *Root }

func (h host) Key(v int32) string { return h.r.Key(v) }

func (h host) Before(v, u int32) bool { return h.r.before(v, u) }

func (h host) Use(v int32) (number int32, asked uint64) {
	if h.r.routed == nil {
		return 0, 0
	}
	use := h.r.routed.of(v)
	return use.number, use.asked
}

func (h host) Requested(v int32, seq uint64) {
	if h.r.routed != nil {
		h.r.routed.of(v).asked = seq
	}
	h.r.tree.attemptBegun(v)
}

func (h host) Started(v int32) { h.r.tree.markStarted(v) }

func (h host) Again(v int32) {
	h.r.tree.resumeMaps(v)
	h.r.want(v)
}

func (h host) Want(v int32) { h.r.want(v) }

func (h host) Unwant(v int32) { h.r.stopWaiting(v) }
