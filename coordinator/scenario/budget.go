package scenario

import (
	"cmp"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/decide"
)

// The default limits of a scenario.
const (
	WorkMax  = 2_000_000_000
	BytesMax = 256 << 20
)

// The costs of runs as work, besides evaluating expressions: see expr.Meter. They are small: a million events fit into WorkMax, or
// ten thousand events with a crash after each.
const (
	eventWork = 20 // an event that a root applies, a request, an answer, an expectation
	nodeWork  = 10 // a node of the plan of a new root
	textBytes = 16 // bytes of a new text for one unit of work
)

// programBytes is the approximate memory of a compiled workflow per byte of its document.
const programBytes = 32

// budget counts the work of all runs of an execution together.
type budget struct {
	workMax, bytesMax int
	work              int // of expressions and of the costs above
	bytes             int // of journals, content, programs and differences, which stay in memory
	events            int
}

func newBudget(o Options) budget {
	return budget{workMax: cmp.Or(o.WorkMax, WorkMax), bytesMax: cmp.Or(o.BytesMax, BytesMax)}
}

// ofRun returns the limits of each run.
func (g *execution) ofRun() decide.Limits {
	return g.limits.OfRun().Within(g.budget.workMax, g.budget.bytesMax)
}

// capMeters limits the evaluations of a run to the rest of the budget. A run that reaches the limit has another journal than in an
// engine, and exceeded fails the scenario.
func (g *execution) capMeters(t *track) {
	t.root.Meter().Cap(g.budget.remaining())
	t.seen.Meter().Cap(g.budget.remaining())
}

// remaining returns the remaining work plus one, so that exceeded notices a run that needed more.
func (b *budget) remaining() int { return b.workMax - b.work + 1 }

// countWork counts the work of a run's expressions since the last call.
func (g *execution) countWork(t *track) {
	spent := t.root.Meter().Spent() + t.seen.Meter().Spent()
	g.budget.work += spent - t.spent
	t.spent = spent
}

// exceeded fails the scenario if its runs together have exceeded a bound, and reports whether the scenario has failed. A run that
// reaches its own limit of events ends by itself, with a few more events.
func (g *execution) exceeded() bool {
	if g.fault {
		return true
	}
	b := &g.budget
	switch most := g.limits.EventsMax; {
	case len(g.tracks) > 1 && most >= 0 && b.events > most:
		g.fail("journal", fmt.Sprintf("at most %d events of all runs together", most), "more")
	case b.bytes > b.bytesMax:
		g.fail("journal", fmt.Sprintf("at most %d bytes of all runs together", b.bytesMax), "more")
	case b.work > b.workMax:
		g.fail("expressions", fmt.Sprintf("at most %d steps of work of all runs together", b.workMax), "more")
	}
	return g.fault
}
