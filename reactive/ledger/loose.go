package ledger

import "github.com/sluiceflow/sluice/reactive/journal"

// looseRequest names a request that does not belong to a node.
type looseRequest struct {
	key     string
	attempt int32
}

// loose holds the events of such a request.
type loose struct{ begin, end *journal.Event }

// foldLoose records an event of a request that does not belong to a node, or not yet: when the node is later created and
// requested, the end is already recorded.
func (l *Ledger) foldLoose(e *journal.Event) Effect {
	if e.Attempt == 0 {
		return Unbound
	}
	req := looseRequest{e.Node, e.Attempt}
	known := l.loose[req]
	if known == nil {
		known = &loose{}
		l.loose[req] = known
		l.looseOrder = append(l.looseOrder, req)
	}
	kept := *e
	switch {
	case e.Type == journal.CallRequested && known.begin == nil:
		known.begin = &kept
	case e.Type != journal.CallRequested && known.end == nil:
		known.end = &kept
	default:
		return Duplicate
	}
	return Unbound
}
