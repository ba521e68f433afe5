package scenario

import (
	"bytes"
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/duration"
)

// Options change how a scenario is run, not its expectations. The zero Options run it once, as written.
type Options struct {
	// Crash discards the engine after every append and rebuilds it from the journal. That must change nothing: the
	// expectations hold, and the journal equals that of a run without crashes. A workflow with a step that is not idempotent
	// is run without crashes, since they do change its run.
	Crash bool

	// Seed shuffles answers that come in at one instant, where the rules leave their order open. The same seed yields the
	// same order. Default: 0, the order in which they were asked for.
	Seed int64

	// Limits bound the runs, as those of an engine do. EventsMax also bounds the events of all runs together: a scenario
	// with more fails. Default: coordinator.DefaultLimits.
	Limits coordinator.Limits

	// WorkMax bounds the work of the expressions of all runs together, as expr.Meter counts it, and BytesMax the encoded
	// size of their journals, which stay in memory. A scenario beyond either fails. Defaults: WorkMax and BytesMax.
	WorkMax  int
	BytesMax int

	// Workflows are trees built in Go, which a scenario names in place of a file. They are copied and not changed.
	Workflows map[string]*template.Workflow
}

// Run runs the scenario in virtual time and reports the differences from its expectations. It makes no calls, reads no clock
// and returns the same report every time; it only reads the files of the workflows. It takes time in proportion to the
// number of events, and with Crash to the square of that number.
func (s *Scenario) Run(o Options) *Report {
	plain := o // the run without crashes, with which the run with crashes is compared
	plain.Crash = false
	g := newSimulation(s, plain)
	g.perform()
	if o.Crash && g.mayCrash() {
		crashed := newSimulation(s, o)
		crashed.perform()
		if !crashed.fault {
			crashed.compare(g)
		}
		g = crashed
	}
	return g.conclude()
}

// mayCrash reports whether crashes must change nothing in the runs of the simulation: all their steps are idempotent.
func (g *simulation) mayCrash() bool {
	for _, t := range g.tracks {
		for i := range t.program.Plan.Nodes {
			if s := t.program.Plan.Nodes[i].Step; s != nil && s.NonIdempotent {
				return false
			}
		}
	}
	return len(g.tracks) > 0
}

// compare reports the first event that differs from the run without crashes.
func (g *simulation) compare(plain *simulation) {
	for i, t := range g.tracks {
		if i >= len(plain.tracks) {
			g.differ("", "crash", "the child runs of a run without crashes", "one more, at "+t.path, nil)
			return
		}
		if by, got, same := t.sameAs(plain.tracks[i]); !same {
			g.differ("", "crash", "the journal of a run without crashes", got, by)
			return
		}
	}
	if n := len(plain.tracks) - len(g.tracks); n > 0 {
		g.differ("", "crash", "the child runs of a run without crashes", fmt.Sprintf("%d fewer", n), nil)
	}
}

// sameAs compares two journals event by event, as they are stored.
func (t *track) sameAs(other *track) (by *Event, got string, same bool) {
	var codec journal.Codec
	for i := range max(len(t.journal), len(other.journal)) {
		switch {
		case i >= len(t.journal):
			return other.event(i), "no such event", false
		case i >= len(other.journal):
			return t.event(i), "one event more", false
		}
		a, errA := codec.Append(nil, &t.journal[i])
		b, errB := codec.Append(nil, &other.journal[i])
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			return t.event(i), "another event than " + other.event(i).String(), false
		}
	}
	return nil, "", true
}

// conclude completes the report.
func (g *simulation) conclude() *Report {
	r := g.report
	r.Passed = len(r.Differences) == 0
	r.Duration = duration.Format(g.sinceStart())
	if len(g.tracks) > 0 {
		if e := g.main().finished(); e != nil {
			r.Duration = duration.Format(time.Duration(e.At - g.s.start.UnixNano()))
		}
	}
	for _, t := range g.tracks {
		r.Events += len(t.journal)
	}
	return r
}
