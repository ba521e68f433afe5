package decide

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// A value that is too large for a run is not journaled: its source fails with a code, or is refused.

// oversize returns the failure that replaces a value that does not fit, or nil: with the given code if the value is too large,
// or with CodeLimit if the values journaled before leave no room for it.
func (s *Stepper) oversize(code, what string, v value.Value) *journal.Failure {
	if v == nil {
		return nil
	}
	const instead = "which is as many as a value may have: keep large data elsewhere, and pass on where it is"
	most := s.limits.ValueBytesMax
	size, err := value.Size(v, most)
	switch all := s.limits.BytesMax; {
	case err == nil && size > most:
		return &journal.Failure{Code: code, Message: fmt.Sprintf("%s has more than %d bytes, %s", what, most, instead)}
	case err == nil && all >= 0 && s.root.Bytes()+size > all:
		return &journal.Failure{Code: reactive.CodeLimit, Message: fmt.Sprintf(
			"%s has %d bytes, and the values that the run has journaled have %d; at most %d are allowed together: keep large data elsewhere, and pass on where it is",
			what, size, s.root.Bytes(), all)}
	}
	if most = s.limits.ValueNodesMax; err != nil || size <= most { // each node takes at least one byte
		return nil
	}
	if nodes, err := value.Nodes(v, most); err == nil && nodes > most {
		return &journal.Failure{Code: code, Message: fmt.Sprintf("%s has more than %d lists, objects, keys and scalars, %s", what, most, instead)}
	}
	return nil
}

// fit replaces a result of a call that is too large by a failure.
func (s *Stepper) fit(e *journal.Event) {
	const code = reactive.CodeOutputTooLarge
	failure := s.oversize(code, "the output", e.Value)
	if failure == nil && e.Detail != nil {
		failure = s.oversize(code, "the metadata of the output", e.Detail.About)
		if f := e.Detail.Failure; failure == nil && f != nil {
			failure = s.oversize(code, "what the failure "+f.Code+" tells", f.Details)
		}
	}
	if failure == nil {
		return
	}
	d := journal.Detail{Failure: failure}
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

// fittingInput returns the input of a step's call, or a failure if the input is too large.
func (s *Stepper) fittingInput(input value.Value) (value.Value, *journal.Failure) {
	if f := s.oversize(reactive.CodeInputTooLarge, "the input", input); f != nil {
		return nil, f
	}
	return input, nil
}

// verdict returns the end of the run, which is a failure if the output is too large.
func (s *Stepper) verdict() reactive.Verdict {
	v := s.root.Verdict()
	if f := s.oversize(reactive.CodeOutputTooLarge, "the output of the run", v.Output); f != nil {
		return reactive.Verdict{Status: reactive.RunFailed, Failure: f, Node: -1}
	}
	return v
}

// refuseSize returns an error if an item from outside is too large, or if too many messages already wait for a step.
func (s *Stepper) refuseSize(e *journal.Event) error {
	if f := s.oversize("", "the value", e.Value); f != nil {
		return fmt.Errorf("%w: %s", ErrLimit, f.Message)
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
		return fmt.Errorf("%w: %d messages already wait for a step, the most that may", ErrMailboxFull, count)
	case s.limits.MailboxBytesMax >= 0 && bytes+size > s.limits.MailboxBytesMax:
		return fmt.Errorf("%w: with this one, messages of more than %d bytes would wait for a step, which is the limit",
			ErrMailboxFull, s.limits.MailboxBytesMax)
	}
	return nil
}
