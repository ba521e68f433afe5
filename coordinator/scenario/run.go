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

// Options change how a scenario is run, not what it expects. The zero Options run it once, as it is written.
type Options struct {
	// Crash throws the engine away after every append and makes it anew from the journal. That must change nothing: the
	// expectations hold, and the journal is that of a run without crashes. A workflow with a step that is not idempotent
	// is run without, since there a crash does change something.
	Crash bool

	// Seed shuffles answers that come in at one instant, where the rules leave their order open. The same seed gives the
	// same order. Default: 0, the order in which they were asked for.
	Seed int64

	// Limits bound the runs, as those of an engine do. EventsMax counts those
	// of all runs together, too: a scenario with more of them fails. Default: coordinator.DefaultLimits.
	Limits coordinator.Limits

	// WorkMax bounds the work of the expressions of all runs together, as expr.Meter counts it, and BytesMax the encoding of their
	// journals, which stay in memory. A scenario that takes more fails. Defaults: WorkMax and BytesMax.
	WorkMax  int
	BytesMax int

	// Workflows are trees built in Go, which a scenario names in place of a file. They are copied, not changed.
	Workflows map[string]*template.Workflow
}

// Run performs the scenario in virtual time and reports the differences from its expectations. It makes no calls, reads no
// clock and returns the same report every time; its only effect is to read the files of the workflows. The time it takes is
// that of the events of the run, with Crash of their square.
func (s *Scenario) Run(o Options) *Report {
	plain := o // the run without crashes, which the one with crashes is compared with
	plain.Crash = false
	g := newStage(s, plain)
	g.perform()
	if o.Crash && g.mayCrash() {
		crashed := newStage(s, o)
		crashed.perform()
		if !crashed.fault {
			crashed.compare(g)
		}
		g = crashed
	}
	return g.conclude()
}

// mayCrash reports whether a crash may change nothing in the runs that were on the stage.
func (g *stage) mayCrash() bool {
	for _, t := range g.tracks {
		for i := range t.program.Plan.Nodes {
			if s := t.program.Plan.Nodes[i].Step; s != nil && s.NonIdempotent {
				return false
			}
		}
	}
	return len(g.tracks) > 0
}

// compare notes the first event that is not as in a run without crashes.
func (g *stage) compare(plain *stage) {
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
func (g *stage) conclude() *Report {
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
