package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api/timeline"
	"github.com/sluiceflow/sluice/coordinator/find"
	"github.com/sluiceflow/sluice/coordinator/gap"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// Handle carries out a request on an engine and passes the lines of the answer to emit, the last one with Done. It returns an
// *Error, or the error of emit, which ends the answer.
func Handle(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) error {
	var broken error // of emit
	send := func(r *Reply) error {
		broken = emit(r)
		return broken
	}
	done, err := handle(ctx, engine, req, send)
	if err == nil {
		err = send(&Reply{Done: done})
	}
	switch {
	case broken != nil:
		return broken
	case err != nil:
		return ErrorOf(err)
	}
	return nil
}

func handle(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) (*Done, error) {
	if err := req.check(); err != nil {
		return nil, err
	}
	if req.Verb == List {
		return list(ctx, engine, req, emit)
	}
	if req.Verb == Export || req.Verb == Import || req.Verb == Backup {
		return &Done{}, transferRuns(ctx, engine, req, emit)
	}
	if req.Verb.handleFolder() {
		return handleFolder(ctx, engine, req, emit)
	}
	if req.Verb == Delete {
		return deleteRun(ctx, engine, req)
	}
	if req.Verb.compares() {
		return changes(ctx, engine, req, emit)
	}
	if req.Verb.hasAttachment() {
		return attached(ctx, engine, req)
	}
	run, err := find.Run(ctx, engine, req.Run)
	if err != nil {
		return nil, err
	}
	done := &Done{Run: run.ID()}
	switch req.Verb {
	case Show:
		if err = show(ctx, run, req, emit); err == nil && req.Document {
			done.Document, err = documentOf(ctx, engine, run)
		}
	case Cells:
		done.Warning, err = listCells(ctx, run, req, emit)
	case Await:
		err = awaitCell(ctx, run, req, emit)
	case Explain:
		err = explain(ctx, req.reading(run), req.Step, emit)
	case Output:
		err = output(ctx, run, req, emit)
	case Graph:
		err = graph(ctx, req.reading(run), emit)
	case Events:
		err = events(ctx, run, req, emit)
	case Views:
		err = views(ctx, run, req, emit)
	case Watch:
		err = watch(ctx, run, req, emit)
	case Log:
		err = follow(ctx, run, req.Step, emit)
	case Repeat:
		err = rerun(ctx, engine, run, req, done, emit)
	case Move:
		err = moveRun(ctx, engine, run, req, done, emit)
	default:
		done.Driven, done.Did, done.Step = run.Driven(), string(req.Verb), req.Step
		as := run.As(req.Actor)
		if done.Dry = req.Dry; req.Dry {
			as = as.Dry(done.addEvent)
		}
		err = command(ctx, as, req, done)
		if done.Driven = done.Driven || req.Verb == Resume && run.Driven(); err == nil && !done.Driven && !req.Dry { // a hold may have ended
			done.Status = statusOf(ctx, engine, done.Run)
		}
	}
	switch {
	case errors.Is(err, coordinator.ErrStepNotFound):
		err = suggestStep(ctx, run, req.Step, err)
	case errors.Is(err, decide.ErrCellNotFound):
		err = suggestCell(ctx, run, req.Step, err)
	}
	return done, err
}

func show(ctx context.Context, run *coordinator.Run, req *Request, emit func(*Reply) error) error {
	if req.Step != "" {
		return showCell(ctx, run, req, emit)
	}
	state, err := req.reading(run).State(ctx)
	if err != nil {
		return err
	}
	described := runOfState(state)
	described.Past, described.Driven = req.At != nil, req.At == nil && !state.Finished && run.Driven()
	for i := range described.Awaits {
		if described.Past {
			described.Awaits[i].Command = nil // a command would change the present run
		}
	}
	described.Held = req.At == nil && !state.Finished && run.Held()
	described.Incomplete = req.At == nil && run.Incomplete()
	err = emit(&Reply{Run: described})
	if w := state.World; w != nil {
		for i := 0; i < len(w.Cells) && err == nil; i++ {
			err = emit(&Reply{Cell: cellOf(&w.Cells[i], false)})
		}
		return err // the cells include its calls
	}
	for i := 0; i < len(state.Steps) && err == nil; i++ {
		err = emit(&Reply{Step: stepOf(&state.Steps[i])})
	}
	return err
}

// documentOf returns the canonical document of a run's workflow.
func documentOf(ctx context.Context, engine *coordinator.Engine, run *coordinator.Run) (json.RawMessage, error) {
	known, err := engine.Registry()
	if err != nil {
		return nil, err
	}
	state, err := run.State(ctx)
	if err != nil {
		return nil, err
	}
	entry, err := known.Read(ctx, state.Start.Workflow, state.Start.Children)
	if err != nil {
		return nil, err
	}
	return encoded(entry.Plan.Workflow.Document()), nil
}

func explain(ctx context.Context, run reading, step string, emit func(*Reply) error) error {
	x, err := run.Explain(ctx, step)
	if err != nil {
		return err
	}
	return emit(&Reply{Explanation: x})
}

func output(ctx context.Context, run *coordinator.Run, req *Request, emit func(*Reply) error) error {
	v, err := run.Output(ctx, req.Step, req.Participant)
	if err != nil {
		return err
	}
	return emit(&Reply{Value: encoded(v)})
}

// events emits the events of a run, or the events about one of its steps or cells.
func events(ctx context.Context, run *coordinator.Run, req *Request, emit func(*Reply) error) error {
	kind, err := knownStep(ctx, run, req.Step)
	if err != nil {
		return err
	}
	wants, from := req.wants, req.From
	var line *timeline.Timeline
	if kind == "cell" {
		line = timeline.Of(req.Step)
		wants, from = line.Wants, 1 // earlier events determine the calls of the cell
	}
	missing := gap.New(from, req.From, trimmed(emit))
	for u, err := range run.History(ctx, from) {
		if errors.Is(err, coordinator.ErrMissing) {
			return plainEvents(ctx, run, req, emit)
		}
		if err != nil {
			return err
		}
		if err := missing.Before(u.Event.Seq); err != nil {
			return err
		}
		line.Begin(missing.First())
		if !wants(&u.Event) || u.Event.Seq < req.From {
			continue
		}
		described := withEffect(&u)
		if err := emit(&Reply{Event: &described}); err != nil {
			return err
		}
	}
	return nil
}

// knownStep returns the kind of a step, or "cell". It returns an error if the run does not have the step.
func knownStep(ctx context.Context, run *coordinator.Run, step string) (kind string, err error) {
	if step == "" {
		return "", nil
	}
	x, err := run.Explain(ctx, step)
	switch {
	case errors.Is(err, coordinator.ErrMissing):
		return "", nil // the run follows the rules of another version: its steps are unknown
	case err != nil:
		return "", err
	}
	return x.Kind, nil
}

// plainEvents is events for a run that this program cannot apply: the effects of the events are unknown.
func plainEvents(ctx context.Context, run *coordinator.Run, req *Request, emit func(*Reply) error) error {
	missing := gap.New(req.From, req.From, trimmed(emit))
	for e, err := range run.Events(ctx, max(1, req.From)) {
		if err != nil {
			return fmt.Errorf("read run %s: %w", run.ID(), err)
		}
		if err := missing.Before(e.Seq); err != nil {
			return err
		}
		if !req.wants(&e) {
			continue
		}
		described := EventOf(&e)
		if err := emit(&Reply{Event: &described}); err != nil {
			return err
		}
	}
	return nil
}

func views(ctx context.Context, run *coordinator.Run, req *Request, emit func(*Reply) error) error {
	if isWorld(ctx, run) {
		if _, err := knownStep(ctx, run, req.Step); err != nil {
			return err
		}
		return cellHistory(ctx, run, req, emit)
	}
	for v, err := range run.Views(ctx, max(1, req.From)) {
		if err != nil {
			return err
		}
		if req.Step != "" && req.Step != v.Step && req.Step != v.Run {
			continue
		}
		if err := emit(&Reply{View: viewOf(&v)}); err != nil {
			return err
		}
	}
	return nil
}

func watch(ctx context.Context, run *coordinator.Run, req *Request, emit func(*Reply) error) error {
	if req.UntilParked {
		watching, end := context.WithCancelCause(ctx)
		defer end(nil)
		ctx = watching
		go func() { // ends with the watch
			if _, err := run.Wait(watching); errors.Is(err, coordinator.ErrParked) {
				end(err)
			}
		}()
	}
	missing := gap.New(req.From, req.From, trimmed(emit))
	for u, err := range run.Watch(ctx, max(1, req.From)) {
		if parked := context.Cause(ctx); err != nil && errors.Is(parked, coordinator.ErrParked) {
			return fmt.Errorf("%w: %s", coordinator.ErrParked, coordinator.ParkedReason(parked))
		}
		if err != nil {
			return err
		}
		if err := missing.Before(u.Event.Seq); err != nil {
			return err
		}
		described := UpdateOf(&u)
		if err := emit(&Reply{Update: &described}); err != nil {
			return err
		}
	}
	return nil
}

// follow emits the output of the calls of a run.
func follow(ctx context.Context, run *coordinator.Run, step string, emit func(*Reply) error) error {
	for b, err := range run.Log(ctx, step) {
		if err == nil {
			err = emit(&Reply{Log: &b})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// command carries out a command on a run.
func command(ctx context.Context, run *coordinator.Run, req *Request, done *Done) (err error) {
	switch req.Verb {
	case Send:
		return message(ctx, run, req, done)
	case Patch:
		return patch(ctx, run, req)
	case Decide:
		return decision(ctx, run, req)
	case Pause, Resume:
		return pause(ctx, run, req)
	case Cancel:
		return run.Cancel(ctx, req.Reason)
	case Abort:
		return run.Abort(ctx, req.Step, req.Reason)
	case Keep:
		done.Seq, err = run.Snapshot(ctx)
		return err
	case Sweep:
		return sweep(ctx, run, req, done)
	}
	var opts []coordinator.RetryOption
	if req.Work {
		opts = append(opts, coordinator.RepeatWork())
	}
	if req.NewKey {
		opts = append(opts, coordinator.NewKey())
	}
	return run.Retry(ctx, req.Step, opts...)
}

// sweep deletes the content and events of a world that its last two snapshots do not need.
func sweep(ctx context.Context, run *coordinator.Run, req *Request, done *Done) (err error) {
	if done.Kept, done.Deleted, err = run.Sweep(ctx, req.Dry); err != nil {
		return err
	}
	gone, err := run.Trim(ctx, req.Events, req.Dry)
	done.TrimmedFrom, done.TrimmedTo = gone.From, gone.To
	return err
}

// deleteRun deletes a run. The request must have its full id, because a deletion is final.
func deleteRun(ctx context.Context, engine *coordinator.Engine, req *Request) (*Done, error) {
	done := &Done{Run: req.Run, Dry: req.Dry}
	_, err := engine.Run(ctx, req.Run)
	switch {
	case err != nil:
	case req.Dry:
		done.Deletes, err = engine.PreviewDelete(ctx, req.Run)
	default:
		err = engine.Delete(ctx, req.Run)
	}
	return done, err
}

func parsePayload(text json.RawMessage) (value.Value, error) {
	if len(text) == 0 {
		return nil, nil
	}
	v, err := value.ParseInput(text)
	if err != nil {
		return nil, fmt.Errorf("%w: payload: %w", ErrBadRequest, err)
	}
	return v, nil
}

// suggestStep adds to the error about an unknown step the most similar name.
func suggestStep(ctx context.Context, run *coordinator.Run, step string, err error) error {
	e := ErrorOf(err)
	state, err := run.State(ctx)
	if err != nil {
		return e
	}
	names := make([]string, len(state.Steps))
	for i := range state.Steps {
		names[i] = state.Steps[i].Step
	}
	e.Suggestion, _ = expr.Nearest(step, names)
	return e
}

// decision records the decision about the task of a step.
func decision(ctx context.Context, run *coordinator.Run, req *Request) error {
	payload, err := parsePayload(req.Payload)
	if err != nil {
		return err
	}
	return run.Decide(ctx, req.Step, req.Decision == Fulfilled, req.Reason, coordinator.WithPayload(payload))
}

// patch writes to the context of a playbook's run.
func patch(ctx context.Context, run *coordinator.Run, req *Request) error {
	payload, err := parsePayload(req.Payload)
	if err != nil {
		return err
	}
	changes, ok := payload.(map[string]any)
	if !ok {
		return fmt.Errorf("%w: a patch is an object of values by path", ErrBadRequest)
	}
	return run.Patch(ctx, changes)
}

// statusOf returns the status of a run from its head, or "" if the head cannot be read.
func statusOf(ctx context.Context, engine *coordinator.Engine, id string) string {
	head, err := find.Head(ctx, engine, id)
	if err != nil {
		return ""
	}
	return head.Status
}
