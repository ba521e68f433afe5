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

// The costs of the runs besides evaluating expressions, as work: see expr.Meter. They are small, so that a million events fit into
// WorkMax, and some ten thousand where each is followed by a crash.
const (
	eventWork = 20 // an event that a root applies, a request, an answer that comes in, an expectation
	nodeWork  = 10 // a node of the plan that a root is made of
	textBytes = 16 // of a text that is made
)

// programBytes is the memory that a byte of a workflow's document takes when it is compiled, roughly.
const programBytes = 32

// budget counts the work of all runs of an execution together.
type budget struct {
	workMax, bytesMax int
	work              int // of expressions, and as above
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

// cap ends the evaluations of a run that exceed the rest of the budget. Then its journal is no longer that of an engine, and exceeded
// fails the scenario.
func (g *execution) cap(t *track) {
	t.root.Meter().Cap(g.budget.left())
	t.seen.Meter().Cap(g.budget.left())
}

// left returns the work that is left, and one more, so that exceeded sees that a run needed more.
func (b *budget) left() int { return b.workMax - b.work + 1 }

// evaluated counts the work of a run's expressions since the last call.
func (g *execution) evaluated(t *track) {
	spent := t.root.Meter().Spent() + t.seen.Meter().Spent()
	g.budget.work += spent - t.spent
	t.spent = spent
}

// exceeded fails the scenario if its runs have used more than the bounds. A run that reaches its own limit of events ends by
// itself, with a few more events.
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
