package pool

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// gone is the owner of a run that has left memory: it accepts no calls.
type gone struct{ offered int }

func (g *gone) Deliver(calls []*Call) bool                        { g.offered += len(calls); return false }
func (g *gone) DeliverHere([]*Call) (accepted, asleep bool)       { return false, false }
func (g *gone) Drive()                                            {}
func (g *gone) AddReport(journal.Event, func(error)) (taken bool) { return false }
func (g *gone) Wake()                                             {}

// TestTheWatchDeliversCallsOfARunThatHasLeftMemory: the calls that a busy worker has collected are removed from the pool, which
// the watch must not have locked then.
func TestTheWatchDeliversCallsOfARunThatHasLeftMemory(t *testing.T) {
	p, owner := New(Config{}), &gone{}
	run := p.Run("r", owner)
	c := &Call{run: &run}
	p.inProgress.Store(1)
	p.addUnreturned([]*Call{c})
	w := &worker{run: &run, ended: []*Call{c}}
	w.turns.Store(1)
	w.seen = 1
	p.workers = append(p.workers, w)
	p.watch()
	require.True(t, p.tick.Stop(), "there is another round")
	require.Equal(t, 1, owner.offered)
	require.Empty(t, p.unreturned)
}
