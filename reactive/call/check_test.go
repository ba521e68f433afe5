package call

import (
	"errors"
	"fmt"
)

// Check returns every violated invariant of Gather.
func (g *Gather) Check() error {
	var errs []error
	bad := func(number int, format string, args ...any) {
		errs = append(errs, fmt.Errorf("invariant %d: %s", number, fmt.Sprintf(format, args...)))
	}
	newest, once := map[string]int{}, map[string]bool{}
	for i, d := range g.dispatches {
		newest[d.Participant] = i
		if name := fmt.Sprint(d.Attempt, " ", d.Participant); once[name] {
			bad(4, "%s was asked twice in attempt %d", d.Participant, d.Attempt)
		} else {
			once[name] = true
		}
		if i < g.first && d.State == Pending {
			bad(2, "%s is still waited for in the ended attempt %d", d.Participant, d.Attempt)
		}
	}
	counts := map[State]int{}
	for p, i := range g.asked {
		if newest[p] != i || g.dispatches[i].Participant != p {
			bad(1, "the newest dispatch of %s is %d, not %d", p, newest[p], i)
		}
		if s := g.dispatches[i].State; i >= g.first || s == Responded {
			counts[s]++
		}
	}
	for s, got := range map[State]int{Pending: g.pending, Responded: g.responded, Failed: g.failed, Unreachable: g.unreachable} {
		if counts[s] != got {
			bad(2, "%d are %s, counted %d", counts[s], s, got)
		}
	}
	if g.done && (g.pending > 0 || len(g.reserve) > 0) {
		bad(3, "ended with %d pending and %d in reserve", g.pending, len(g.reserve))
	}
	for _, p := range g.reserve {
		if g.askedNow(p) && p == g.reserve[0] {
			bad(4, "%s has been asked and is next", p)
		}
	}
	return errors.Join(errs...)
}

// Looked returns the number of visited dispatches.
func (g *Gather) Looked() int { return g.looked }
