package inspect

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Result is how a run ended.
type Result struct {
	Run     string             // id
	Status  reactive.RunStatus // a final one
	Failure *journal.Failure   // why it did not complete; nil when it did
	Output  any                // a value of package value, or that of the event
}

// NewResult returns the result of a run that has finished with an event.
func NewResult(run string, e *journal.Event) *Result {
	d := e.Detail
	if d == nil { // only a damaged journal has such an event
		d = &journal.Detail{}
	}
	return &Result{Run: run, Status: reactive.RunStatus(d.State), Failure: d.Failure, Output: e.Value}
}

// Decode puts the output into a Go value, by its json tags.
func (r *Result) Decode(into any) error { return value.Convert(r.Output, into) }

// Err returns nil when the run completed, else the reason for its end.
func (r *Result) Err() error {
	if r.Status == reactive.RunCompleted {
		return nil
	}
	if r.Failure == nil {
		return fmt.Errorf("run %s: %s", r.Run, r.Status)
	}
	return fmt.Errorf("run %s: %s: %w", r.Run, r.Status, r.Failure)
}
