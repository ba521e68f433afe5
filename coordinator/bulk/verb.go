package bulk

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/commands"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/expr"
)

// verb is something that can be done to many runs.
type verb struct {
	name    string
	done    string                                                      // its past participle, for the outcome of a run
	steps   bool                                                        // it is about the failed steps of each run, which are chosen with it
	makes   bool                                                        // it starts another run for each
	kind    journal.Type                                                // of the events that it makes in the run; 0: it makes none
	event   func(reason string) journal.Event                           // the command; nil: it sends none, or one for each step
	foresee func(*Act, *journal.Head, bool) Outcome                     // the outcome by the head, and whether the run is held; zero: done
	examine func(context.Context, *acts, *Act, string, *examined) error // the same, for facts that only its journal has; nil: none
	carry   func(context.Context, *request) Outcome                     // does it to one run
}

// verbs are all verbs, in the order of display.
var verbs = []*verb{
	{name: "cancel", done: "cancelled", kind: journal.RunCancelled, event: commands.Cancelled, foresee: foreseeOpen, carry: carryCommand},
	{name: verbRetry, done: "retried", kind: journal.NodeRetried, steps: true, foresee: foreseeRetry, examine: examineSteps, carry: carryRetry},
	{name: verbRerun, done: "rerun", makes: true, foresee: foreseeRerun, examine: previewRerun, carry: carryRerun},
	{name: verbMove, done: "moved", kind: journal.RunMoved, foresee: foreseeMove, examine: previewMove, carry: carryMove},
	{name: "delete", done: "deleted", foresee: foreseeDelete, carry: carryDelete},
	{name: "pause", done: "paused", kind: journal.RunPaused, event: commands.Paused, foresee: foreseePause, carry: carryCommand},
	{name: "resume", done: "resumed", kind: journal.RunResumed, event: resumed, foresee: foreseeResume, carry: carryCommand},
}

func resumed(string) journal.Event { return commands.Resumed() }

// Verbs returns the names of all verbs.
func Verbs() []string {
	names := make([]string, len(verbs))
	for i, v := range verbs {
		names[i] = v.name
	}
	return names
}

// Past returns the past participle of a verb, such as "cancelled".
func Past(name string) string {
	for _, v := range verbs {
		if v.name == name {
			return v.done
		}
	}
	return name
}

func verbOf(name string) (*verb, error) {
	for _, v := range verbs {
		if v.name == name {
			return v, nil
		}
	}
	text := fmt.Sprintf("%q is none of %s", name[:min(len(name), 40)], strings.Join(Verbs(), ", "))
	if near, ok := expr.Nearest(name, Verbs()); ok && len(name) <= 40 {
		text += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return nil, fmt.Errorf("%w: %s", ErrAct, text)
}

// deleted is the outcome of a run that no longer exists.
func (v *verb) deleted() Outcome {
	if v.makes {
		return Outcome{Result: Refused, Why: "it is deleted"}
	}
	return already("it is deleted")
}

func already(why string) Outcome { return Outcome{Result: Already, Why: why} }

// ended is the outcome of a run that has ended.
func ended(h *journal.Head) Outcome { return already("it has ended: " + h.Status) }

func foreseeOpen(_ *Act, h *journal.Head, _ bool) (o Outcome) {
	if !h.Open {
		return ended(h)
	}
	return o
}

func foreseePause(_ *Act, h *journal.Head, _ bool) (o Outcome) {
	switch {
	case !h.Open:
		return ended(h)
	case h.Status == "paused":
		return already("it is paused")
	}
	return o
}

func foreseeResume(_ *Act, h *journal.Head, held bool) (o Outcome) {
	switch {
	case !h.Open:
		return ended(h)
	case h.Status != "paused" && !held:
		return already("it is not paused")
	}
	return o
}

func foreseeDelete(_ *Act, h *journal.Head, _ bool) (o Outcome) {
	switch parent := journal.ParentRun(h.Run); {
	case parent != "":
		return Outcome{Result: Refused, Why: "it belongs to run " + parent + ", and is deleted with it"}
	case h.Open:
		return Outcome{Result: Refused, Why: "it has not ended; cancel it first"}
	}
	return o
}

func foreseeRetry(_ *Act, h *journal.Head, _ bool) (o Outcome) {
	if o = unfit(verbRetry, h); o.Result == "" && !h.Open && h.Total > 0 && h.Failed == 0 {
		return already(noFailure)
	}
	return o
}

const noFailure = "no step has failed"

// request is one run that is about to be asked.
type request struct {
	*driver
	target
	did map[string]bool // steps that the act has asked again already, before its process died
}

// command sends a command to the run, with the name of the act.
func (a *request) command(ctx context.Context, event journal.Event) error {
	event.Detail.ID = a.stream
	return a.engine.Take(ctx, a.run, a.act.Actor, event)
}

// carryCommand sends one command to the run.
func carryCommand(ctx context.Context, a *request) Outcome {
	return a.outcomeOf(ctx, a.command(ctx, a.verb.event(a.act.Reason)))
}

// carryDelete deletes the run.
func carryDelete(ctx context.Context, a *request) Outcome {
	return a.outcomeOf(ctx, a.engine.Delete(ctx, a.run))
}

// outcomeOf returns the outcome of an error. A run that is in the requested state already, or has ended, is no failure.
func (a *request) outcomeOf(ctx context.Context, err error) Outcome {
	switch {
	case err == nil:
		return Outcome{Result: Done}
	case errors.Is(err, decide.ErrShutdown) || errors.Is(err, journal.ErrClosed) || ctx.Err() != nil:
		return Outcome{} // it is unknown
	case errors.Is(err, journal.ErrDeleted) || errors.Is(err, decide.ErrRunNotFound):
		return a.verb.deleted()
	}
	if head, unread := a.reader.Head(ctx, a.run); unread == nil && (errors.Is(err, decide.ErrFinished) || errors.Is(err, decide.ErrNotPossible)) {
		if o := a.verb.foresee(&a.act, &head, a.engine.Held(a.run)); o.Result == Already {
			return o
		}
	}
	return refusal(a.run, err)
}

// refusal is the outcome of a run that refuses.
func refusal(run string, err error) Outcome {
	var past interface{ Why() string } // of a move
	if errors.As(err, &past) {
		return Outcome{Result: Refused, Why: shortened("its history differs under the new workflow: " + past.Why())}
	}
	if _, ok := errors.AsType[*decide.FollowsError](err); ok {
		return already(followsReason)
	}
	return Outcome{Result: Refused, Why: plain(run, err)}
}
