package decide

import (
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// ErrRunExists means that another run has the id of the new run.
var ErrRunExists = errors.New("coordinator: another run has this id")

// ExistsError describes the difference between the existing run with an id and the new run. It wraps ErrRunExists.
type ExistsError struct {
	Run        string // id
	Difference string // such as "its input differs at /lines/0"
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("%v: %s: %s", ErrRunExists, e.Run, e.Difference)
}

func (e *ExistsError) Unwrap() error { return ErrRunExists }

// Difference describes the difference between an existing run and a new run with the same id; "" if they are equal. For inputs,
// it names only the place, because their values may be secret.
func Difference(was, second *journal.Event) string {
	old, now := StartOf(was), second.Detail.Start
	if old == nil {
		return "the parameters of its start are not known"
	}
	if old.Workflow != now.Workflow {
		text := fmt.Sprintf("it is a run of workflow %s, not of %s", old.Name, now.Name)
		if old.Name == now.Name {
			text = fmt.Sprintf("it is a run of another version of workflow %s", old.Name)
		}
		return fmt.Sprintf("%s (hash %.12s, not %.12s)", text, old.Workflow, now.Workflow)
	}
	if repeats(old) != repeats(now) {
		return "it is a " + repeats(old) + ", not a " + repeats(now)
	}
	input, err := value.Of(was.Value)
	if err != nil {
		return "its input is not known"
	}
	at, differ := value.FirstDifference(input, second.Value)
	switch {
	case !differ:
		return ""
	case len(at) == 0:
		return "its input differs"
	}
	return fmt.Sprintf("its input differs at %s", at)
}

// repeats describes the run that a run repeats, if any.
func repeats(s *journal.Start) string {
	if s.From == nil {
		return "run of its own"
	}
	kept := fmt.Sprintf("%d results and inputs", s.From.Kept)
	if s.From.Kept == 1 {
		kept = "one result or input"
	}
	return fmt.Sprintf("rerun of %s as of event %d that keeps %s", s.From.Run, s.From.Seq, kept)
}
