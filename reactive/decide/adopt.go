package decide

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// A rerun takes results over from the run that it repeats. They are journaled with its start, in one batch, so that nothing
// is needed of that run any more:
//
//	run.started  result.kept  result.kept  input.set │ result.adopted  call.requested  …
//
// A step adopts the result that is kept for it when it may start: then, and not before, its branch is known to be taken, its
// item to be there, and its input can be compared.

// adopt journals that a step takes the result that is kept for it. It reports false when there is none, or when the result
// depends on an input that has changed.
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

// keeps reports whether an event records something that a rerun keeps, or sets.
func keeps(e *journal.Event) bool { return e.Type == journal.ResultKept || e.Type == journal.InputSet }

// NoteStart returns the events by which a run begins that no engine drives: its start, and the events that it keeps. With past these
// are the past of another run, which keeps its instants.
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
