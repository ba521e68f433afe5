package scenario

import (
	"bytes"
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/machine"
)

// Options configures the run of a scenario. The zero Options run it once, without crashes.
type Options struct {
	// Crash discards the engine after every append and rebuilds it from the journal. This must change nothing: the expectations
	// are met, and the journal equals the journal without crashes. If any workflow of the runs has a step that is not idempotent,
	// the scenario runs without crashes, because a crash fails such a step.
	Crash bool

	// Seed shuffles the answers of one instant, because the rules leave their order open. The same seed yields the same order.
	// Default: 0, the order of their requests.
	Seed int64

	// Limits bounds the runs, as in an engine. In a scenario with child runs, EventsMax also bounds the events of all runs together: a
	// scenario with more events fails. Default: coordinator.DefaultLimits.
	Limits coordinator.Limits

	// WorkMax bounds the work of all runs together: for expressions, in the unit of expr.Meter, and for events. BytesMax bounds the
	// memory of their journals, workflows and differences. A scenario that exceeds a bound fails. Defaults: WorkMax and BytesMax.
	WorkMax  int
	BytesMax int

	// Workflows are workflows built in Go, by the name that a scenario uses in place of a path. Run copies them and does not change them.
	Workflows map[string]*template.Workflow

	// Machines are the machines in Go for documents of worlds. A world built in Go also provides its own.
	Machines []*registry.Machine
}

// Run runs the scenario in virtual time and reports the differences from its expectations. It reads the files of the workflows,
// makes no calls, reads no clock, and returns the same report every time. Its time is proportional to the number of events, or to
// the square of that number with Crash.
func (s *Scenario) Run(o Options) *Report {
	plain := o // for the run without crashes, to compare with
	plain.Crash = false
	var code []*machine.Code
	for _, m := range o.Machines {
		code = append(code, m.Code())
	}
	library := program.NewLibrary(code...)
	g := newExecution(s, plain, library)
	g.execute()
	if o.Crash && g.mayCrash() {
		crashed := newExecution(s, o, library)
		crashed.execute()
		if !crashed.fault {
			crashed.compare(g)
		}
		g = crashed
	}
	return g.conclude()
}

// mayCrash reports whether the runs must be unaffected by crashes: all their steps are idempotent.
func (g *execution) mayCrash() bool {
	for _, t := range g.tracks {
		for i := range t.program.Plan.Nodes {
			if s := t.program.Plan.Nodes[i].Step; s != nil && s.NonIdempotent {
				return false
			}
		}
	}
	return len(g.tracks) > 0
}

// compare records the first event that differs from the run without crashes.
func (g *execution) compare(plain *execution) {
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

// sameAs compares the stored encodings of two journals, event by event.
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
func (g *execution) conclude() *Report {
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
