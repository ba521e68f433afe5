package scenario

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// question is a request of a run: a call, a request to one participant of a call, or a request for a decision about a step.
type question struct {
	t    *track
	call reactive.Request
	node string // key of the step
}

func (t *track) question(req reactive.Request) question {
	return question{t, req, t.root.Key(req.Node)}
}

// id returns the id of the request. A repeated request has the same id.
func (q question) id() string {
	id := q.t.id + "/" + reactive.RequestName(q.node, q.call.Attempt)
	switch {
	case q.call.Decision != 0:
		id += "/?" + strconv.Itoa(int(q.call.Decision))
	case q.call.Participant != "":
		id += "/" + q.call.Participant
	}
	return id
}

// part returns the script of the answer, or nil.
func (q question) part(c *answers) *script.Part {
	if q.t.world() != nil {
		return program.FindEffect(q.parts(c), program.EffectNames(q.t.path, q.node, q.operation(), q.t.root.Place(q.call.Node).Step))
	}
	if p, ok := q.task(); ok {
		return cmp.Or(q.parts(c).Find(q.t.path, q.node, ""), program.FindTask(q.parts(c), q.t.path, p))
	}
	if q.call.Decision != 0 {
		return c.decisions.Find(q.t.path, q.node, "")
	}
	return c.operations.Find(q.t.path, q.node, q.operation())
}

// parts returns the part of the script for the request: decisions or operations.
func (q question) parts(c *answers) script.Parts {
	if q.call.Decision != 0 {
		return c.decisions
	}
	return c.operations
}

// operation returns the name of the operation as in the document.
func (q question) operation() string {
	if p, ok := q.task(); ok {
		return p.Kind
	}
	return program.Operation(q.bound().Name)
}

// task returns the task of a playbook's call, and false for any other call.
func (q question) task() (routed.Place, bool) {
	if steps := q.t.root.Steps(); steps != nil {
		return steps.Place(q.call.Node)
	}
	return routed.Place{}, false
}

func (q question) bound() *plan.Operation { return q.t.root.Operation(q.call.Node) }

// answered returns the item that completes a call with an output.
func (q question) answered(output any) decide.Item { return q.ended(operation.ResultOf(output, nil)) }

// failed returns the item that fails a call.
func (q question) failed(f *journal.Failure) decide.Item {
	kept := *call.NewFailure(f.Code, f.Message)
	kept.Details, kept.Retryable = f.Details, f.Retryable
	return q.ended(call.Result{Failure: &kept})
}

// ended returns the item that ends a call with a result, as the engine makes it.
func (q question) ended(result call.Result) decide.Item {
	e := decide.Ending(q.call, result)
	e.Node = q.node
	return decide.Item{Event: e}
}

// report returns the item of a report in a scripted answer.
func (q question) report(number int32, f *script.Frame) decide.Item {
	e := decide.Reported(q.call, 1, number, f.Kind, f.Payload)
	e.Node = q.node
	return decide.Item{Event: e}
}

// item returns the item of a scripted answer.
func (q question) item(a script.Answer) decide.Item {
	switch {
	case a.Unreachable:
		return q.ended(operation.ResultOf(nil, operation.ErrUnreachable))
	case a.Failure != nil:
		return q.failed(a.Failure)
	}
	return q.withReports(a)
}

// unanswered returns the requests that a recovered run must repeat, in the order in which they were first made. lost holds the
// failures of calls that must not be repeated.
func (t *track) unanswered() (again []question, lost []decide.Item) {
	for _, req := range t.root.OpenCalls() {
		q := t.question(req)
		if req.Decision == 0 && t.root.Place(req.Node).Step.NonIdempotent {
			lost = append(lost, q.failed(&journal.Failure{
				Code: reactive.CodeInterrupted, Message: "the engine crashed while the call was under way, and the step is not idempotent",
			}))
			continue
		}
		again = append(again, q)
	}
	t.sort(again)
	return again, lost
}

// sort sorts questions by their requesting events. Scripted answers of one instant have the same order.
func (t *track) sort(list []question) {
	slices.SortStableFunc(list, func(a, b question) int { return cmp.Compare(t.asked(a), t.asked(b)) })
}

// asked returns the index of the requesting event of a question: an attempt, a further participant, or a decision.
func (t *track) asked(q question) int {
	return t.last(func(e *journal.Event) bool {
		if e.Node != q.node || e.Attempt != q.call.Attempt {
			return false
		}
		switch e.Type {
		case journal.CallRequested:
			return q.call.Decision == 0
		case journal.DispatchCreated:
			return q.call.Participant != "" && e.Detail.Participant == q.call.Participant
		case journal.DecisionRequested:
			return e.Detail.Count == q.call.Decision
		}
		return false
	})
}
