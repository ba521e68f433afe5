package inspect

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Result is the end of a run.
type Result struct {
	Run     string             // id
	Status  reactive.RunStatus // a final one
	Failure *journal.Failure   // nil if it completed
	Output  any                // a value of package value, or the value in the event
}

// NewResult returns the result of a run from the event that finished it.
func NewResult(run string, e *journal.Event) *Result {
	d := e.Detail
	if d == nil { // only a damaged journal has such an event
		d = &journal.Detail{}
	}
	return &Result{Run: run, Status: reactive.RunStatus(d.State), Failure: d.Failure, Output: e.Value}
}

// Decode stores the output in a Go value, by its json tags.
func (r *Result) Decode(into any) error { return value.Convert(r.Output, into) }

// Err returns nil if the run completed, else the reason for its end.
func (r *Result) Err() error {
	if r.Status == reactive.RunCompleted {
		return nil
	}
	if r.Failure == nil {
		return fmt.Errorf("run %s: %s", r.Run, r.Status)
	}
	return fmt.Errorf("run %s: %s: %w", r.Run, r.Status, r.Failure)
}
