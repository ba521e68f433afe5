package rerun

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template"
)

// Options selects the steps that run again, and holds the new values. At most one of From, Only, Failed and Changed is set. If none is
// set, steps whose output Set sets are kept with that output, and the steps that follow run again, as do steps whose input it sets; if
// Set is empty, too, a new Input or Workflow means Changed. The run of a playbook is rerun from an event on: At is set, and nothing else.
type Options struct {
	From     string             // key of a step, map or conditional: it and all that follows run again
	Only     string             // key of the only step that runs again
	Failed   bool               // failed steps, and those that follow
	Changed  bool               // steps whose operation or input is another now
	At       uint64             // results count as of that event of the old run, 0: as of its last; of a playbook, the events up to it are kept
	Set      map[string]any     // values by place: `steps.price.output`, `steps.price.input.currency`
	Input    any                // of the run; nil: the input of the old run
	Null     bool               // the input of the run is null, which Input cannot express
	Workflow *template.Workflow // nil: the workflow of the old run
	Entry    *registry.Entry    // of the workflow, in the engine's Registry, in place of Workflow
}

// ErrUnclear means that options select nothing to run again, select it twice, or set a place that no run has.
var ErrUnclear = errors.New("coordinator: it is not clear what runs again")

// unclear is an error of that condition. Its text is the fault alone.
type unclear string

func (u unclear) Error() string        { return string(u) }
func (u unclear) Is(target error) bool { return target == ErrUnclear }

// NewInput reports whether the options set the input.
func (o *Options) NewInput() bool { return o.Input != nil || o.Null }

// Check returns an error if options contradict each other, or set a place that cannot be set in any run.
func (o *Options) Check() error {
	chosen := []string{}
	for name, is := range map[string]bool{"from": o.From != "", "only": o.Only != "", "failed": o.Failed, "changed": o.Changed} {
		if is {
			chosen = append(chosen, name)
		}
	}
	switch {
	case o.Null && o.Input != nil:
		return unclear("the input is null, and it is not: say one")
	case len(chosen) > 1:
		return unclear("say what runs again in one way: from a step, only a step, what failed, or what changed")
	case len(chosen) == 0 && len(o.Set) == 0 && !o.NewInput() && o.Workflow == nil && o.Entry == nil && o.At == 0:
		return unclear("say what runs again: from a step, only a step, what failed, or what changed; of a playbook, from which event on")
	}
	_, err := parseSet(o.Set)
	return err
}

// checkPast refuses options that do not apply to the run of a playbook.
func (o *Options) checkPast(s *source) error {
	refuse := func(why string) error {
		return fmt.Errorf("%w: run %s is of a playbook: %s", decide.ErrNotPossible, s.id, why)
	}
	switch {
	case o.From != "" || o.Only != "" || o.Failed || o.Changed:
		return refuse("it is rerun from an event on, with --at N, and not by steps; `sluice runs events` shows its events")
	case o.NewInput():
		return refuse("what it keeps follows from its input: start the playbook with the other input")
	case o.Workflow != nil || o.Entry != nil:
		return refuse("what it keeps follows from its document: move the run while it is open, or start the other playbook")
	case len(o.Set) > 0:
		return refuse("what it keeps follows from its results: rerun it without settings, and patch the context of the new run")
	}
	by := s.root.Finished()
	if s.root.Closed() {
		by = s.root.ClosedBy()
	}
	if by != nil {
		return refuse(fmt.Sprintf("event %d has ended it, and nothing follows event %d: say an event before it", by.Seq, s.root.Seq()))
	}
	return nil
}

// selection is the part of Options about one run: the run itself, or a child of it.
type selection struct {
	from, only      string
	failed, changed bool
}

func (o *Options) selection() selection {
	s := selection{from: o.From, only: o.Only, failed: o.Failed, changed: o.Changed}
	s.changed = s.changed || s.from == "" && s.only == "" && !s.failed && len(o.Set) == 0 && (o.NewInput() || o.Workflow != nil || o.Entry != nil)
	return s
}

// below returns the selection for the child of a step that runs again; the zero selection if the whole child does.
func (s selection) below(step string) selection {
	inner := selection{failed: s.failed, changed: s.changed}
	for _, to := range []struct{ is, set *string }{{&s.from, &inner.from}, {&s.only, &inner.only}} {
		if rest, ok := strings.CutPrefix(*to.is, step+"/"); ok {
			*to.set = rest
		}
	}
	return inner
}

// Why runs of other kinds are not rerun.
var (
	errWorld = errors.New("a world is not rerun: retry its failed cells")
	errChild = errors.New("a playbook that a step has started is not rerun from within: rerun from the step, which starts it again")
)
