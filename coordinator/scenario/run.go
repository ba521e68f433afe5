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
	// hold, and the journal equals that of a run without crashes. A workflow with a step that is not idempotent is run without
	// crashes, because they fail that step.
	Crash bool

	// Seed shuffles answers of one instant, whose order the rules leave open. The same seed yields the same order. Default: 0,
	// the order of their requests.
	Seed int64

	// Limits bounds the runs, as in an engine. EventsMax also bounds the events of all runs together: a scenario with more fails.
	// Default: coordinator.DefaultLimits.
	Limits coordinator.Limits

	// WorkMax bounds the work of all runs together: that of expressions, as expr.Meter counts it, and of events. BytesMax bounds
	// the memory that their journals, workflows and differences take. A scenario that exceeds them fails. Defaults: WorkMax and
	// BytesMax.
	WorkMax  int
	BytesMax int

	// Workflows are trees built in Go, which a scenario names in place of a file. They are copied, not changed.
	Workflows map[string]*template.Workflow

	// Machines are the machines in Go that documents of worlds name, besides those that a world built in Go brings along.
	Machines []*registry.Machine
}

// Run runs the scenario in virtual time and reports the differences from its expectations. It makes no calls, reads no clock and
// returns the same report every time; it reads the files of the workflows. It takes time proportional to the number of events,
// with Crash to its square.
func (s *Scenario) Run(o Options) *Report {
	plain := o // for the run without crashes, to compare with
	plain.Crash = false
	var code []*machine.Code
	for _, m := range o.Machines {
		code = append(code, m.Code())
	}
	library := program.NewLibrary(code...)
	g := newExecution(s, plain, library)
	g.perform()
	if o.Crash && g.mayCrash() {
		crashed := newExecution(s, o, library)
		crashed.perform()
		if !crashed.fault {
			crashed.compare(g)
		}
		g = crashed
	}
	return g.conclude()
}

// mayCrash reports whether crashes must change nothing in these runs.
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

// compare records the first event that differs from that of the run without crashes.
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
