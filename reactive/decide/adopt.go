package decide

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// A rerun adopts results of the run that it repeats. They are journaled with its start, in one batch, so that it no longer
// needs the repeated run:
//
//	run.started  result.kept  result.kept  input.set │ result.adopted  call.requested  …
//
// A step adopts its kept result when it may start: only then is its branch taken, its item present, and its input comparable.

// adopt journals that a step adopts its kept result. It reports false if there is none, or if the result depends on an input
// that has changed.
func (s *Stepper) adopt(v int32) bool {
	kept := s.root.KeptFor(v)
	if kept == nil {
		return false
	}
	if of := kept.Detail.Kept; of.If {
		input, failure := s.input(v)
		if failure != nil || !s.root.SameInput(of, input) {
			return false
		}
	}
	s.apply(s.About(v, journal.Event{Type: journal.ResultAdopted, Attempt: max(1, kept.Attempt)}))
	return true
}

// keeps reports whether an event records a result that a rerun keeps, or an input that it sets.
func keeps(e *journal.Event) bool { return e.Type == journal.ResultKept || e.Type == journal.InputSet }

// NoteStart returns the first events of a run that no engine drives: its start, and the events that it keeps. If past is true, these
// are the past of another run, with their instants.
func NoteStart(root *reactive.Root, host Host, now int64, first journal.Event, kept []journal.Event, past bool) ([]journal.Event, error) {
	s := NewStepper(root, host)
	s.Settle(now)
	if _, err := s.refuseCommand(&first); err != nil {
		return nil, err
	}
	if !past {
		first.At = now
	}
	s.apply(first)
	for _, e := range kept {
		if !past {
			e.At = now
		}
		s.apply(e)
	}
	s.end()
	return s.batch, nil
}
