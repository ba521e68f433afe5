package reactive

import (
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
)

// Check returns every violated invariant of Root.
func (r *Root) Check() error {
	var errs []error
	bad := func(number int, format string, args ...any) {
		errs = append(errs, fmt.Errorf("invariant %d: %s", number, fmt.Sprintf(format, args...)))
	}
	used := make([]int32, r.room.slots.Size())
	counts := map[int32]*expansion{-1: {}}
	for v := range r.Len() {
		n := r.keeper.Node(v)
		if n.Status == ledger.Absent {
			continue
		}
		if n.Status == ledger.Ready && !r.Closed() && !r.tree.satisfied(v) {
			bad(1, "%s is ready and has unsatisfied predecessors", r.Key(v))
		}
		if g := r.room.groupOf(v); g >= 0 && !r.Closed() {
			if holds := n.Status == ledger.Ready || n.Status == ledger.Running || n.Has(ledger.Pending) && n.Has(ledger.Granted); holds != n.Has(ledger.Holding) {
				bad(1, "%s is %s and holds slots: %v", r.Key(v), n.Status, n.Has(ledger.Holding))
			}
			for ; g >= 0 && n.Has(ledger.Holding); g = r.room.slots.Parent(g) {
				used[g]++
			}
		}
		if want := shows(r.Row(v).Kind, n.Status, n.Flags); r.places.bank.Output(v) != want {
			bad(3, "%s is %s and shows %04b, not %04b", r.Key(v), n.Status, r.places.bank.Output(v), want)
		}
		owner := r.blocks[n.Block].owner
		if counts[owner] == nil {
			counts[owner] = &expansion{}
		}
		counts[owner].unsettled += 1 - bit(r.places.bank.Output(v), plan.ShowsSettled)
		counts[owner].bad += bit(r.places.bank.Output(v), plan.ShowsBlocked)
	}
	for g := range r.room.slots.Size() {
		if _, got := r.room.slots.Limit(int32(g)); !r.Closed() && got != used[g] {
			bad(2, "group %d counts %d slots, %d are held", g, got, used[g])
		}
	}
	if x := counts[-1]; x.unsettled != r.top.unsettled || x.bad != r.top.bad {
		bad(4, "the run counts %d unsettled and %d bad, not %d and %d", r.top.unsettled, r.top.bad, x.unsettled, x.bad)
	}
	for owner, x := range r.maps {
		want := counts[owner]
		if want == nil {
			want = &expansion{}
		}
		if r.keeper.Node(owner).Has(ledger.Expanded) && (x.unsettled != want.unsettled || x.bad != want.bad) {
			bad(4, "%s counts %d unsettled and %d bad, not %d and %d", r.Key(owner), x.unsettled, x.bad, want.unsettled, want.bad)
		}
	}
	return errors.Join(errs...)
}

// Work returns the cost of deriving so far.
func (r *Root) Work() (edges, derived uint64) { return r.places.bank.Work() }

// Timers returns the number of timers that the root holds.
func (r *Root) Timers() int { return r.keeper.TimersKept() }
