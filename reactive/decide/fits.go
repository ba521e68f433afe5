package decide

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// A value that is larger than a run may keep is not journaled: what it comes from fails instead, with a code, or is refused.

// oversize says by how much a value is too large to be journaled; "" when it is not.
func (s *Stepper) oversize(what string, v value.Value) string {
	if v == nil {
		return ""
	}
	const instead = "which is as many as a value may have: keep large data elsewhere, and pass on where it is"
	most := s.limits.ValueBytesMax
	size, err := value.Size(v, most)
	if err == nil && size > most {
		return fmt.Sprintf("%s has more than %d bytes, %s", what, most, instead)
	}
	if most = s.limits.ValueNodesMax; err != nil || size <= most { // each node takes a byte at least
		return ""
	}
	if nodes, err := value.Nodes(v, most); err == nil && nodes > most {
		return fmt.Sprintf("%s has more than %d lists, objects, keys and scalars, %s", what, most, instead)
	}
	return ""
}

// fit makes the result of a call a failure when what it says is too large.
func (s *Stepper) fit(e *journal.Event) {
	text := s.oversize("the output", e.Value)
	if text == "" && e.Detail != nil {
		text = s.oversize("what the call tells beside its output", e.Detail.About)
		if f := e.Detail.Failure; text == "" && f != nil && s.oversize("", f.Details) != "" {
			text = s.oversize("what the failure "+f.Code+" tells", f.Details)
		}
	}
	if text == "" {
		return
	}
	d := journal.Detail{Failure: &journal.Failure{Code: reactive.CodeOutputTooLarge, Message: text}}
	if e.Detail != nil {
		d.Participant, d.Count = e.Detail.Participant, e.Detail.Count
	}
	switch e.Type {
	case journal.DispatchSettled:
		d.State = string(call.Unreachable)
	case journal.CallResponded:
		e.Type = journal.CallError
	}
	e.Value, e.Detail = nil, &d
}

// fittingInput is what a step is called with, or why it cannot be called with that.
func (s *Stepper) fittingInput(input value.Value) (value.Value, *journal.Failure) {
	if text := s.oversize("the input", input); text != "" {
		return nil, &journal.Failure{Code: reactive.CodeInputTooLarge, Message: text}
	}
	return input, nil
}

// verdict is how the run ends: with an output that is too large, it fails.
func (s *Stepper) verdict() reactive.Verdict {
	v := s.root.Verdict()
	if text := s.oversize("the output of the run", v.Output); text != "" {
		return reactive.Verdict{Status: reactive.RunFailed, Failure: &journal.Failure{Code: reactive.CodeOutputTooLarge, Message: text}, Node: -1}
	}
	return v
}

// refuseSize says why something from outside is not taken: it is too large alone, or too much waits already to be taken by
// a step.
func (s *Stepper) refuseSize(e *journal.Event) error {
	if text := s.oversize("the value", e.Value); text != "" {
		return fmt.Errorf("%w: %s", ErrLimit, text)
	}
	if e.Type != journal.MessageReceived {
		return nil
	}
	count, bytes := s.root.Unasked()
	size, err := value.Size(e.Value, s.limits.MailboxBytesMax)
	if err != nil {
		return err
	}
	switch most := s.limits.MessagesMax; {
	case most >= 0 && count >= most:
		return fmt.Errorf("%w: %d messages wait to be taken by a step, as many as may", ErrMailboxFull, count)
	case s.limits.MailboxBytesMax >= 0 && bytes+size > s.limits.MailboxBytesMax:
		return fmt.Errorf("%w: with this one, messages of more than %d bytes would wait to be taken by a step, and no more may",
			ErrMailboxFull, s.limits.MailboxBytesMax)
	}
	return nil
}
