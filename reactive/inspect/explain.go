package inspect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/plan"
)

// explainDepth bounds the length of chains of reasons.
const explainDepth = 8

// Explainer explains a run. Unlike the run's root, it keeps the events of each decision.
type Explainer struct {
	// ForWorker describes the wait of calls whose operation workers carry out; "": unknown. Default: unknown.
	ForWorker func(operation string) string

	id       string
	root     *reactive.Root
	body     explain.Body              // nil: the run is not routed
	nodes    map[string]*explain.Event // by key
	messages map[string]string         // name of a message, by key of the call that waits for it
	status   reactive.RunStatus
	decided  *explain.Event // of the run's status
	paused   *explain.Event
	above    *explain.Event        // event of the pause of the run that started it
	journal  []*explain.Event      // in the order of their sequences
	gap      *journal.TrimmedError // after the first of them; nil: none
	last     uint64                // sequence of the newest of them
	event    *explain.Event        // the current event, or the last one
}

// NewExplainer returns the explainer of a run, or of one of its parts; "" is the run. The root must have no events yet.
func NewExplainer(id, step string, root *reactive.Root) *Explainer {
	x := &Explainer{id: id, root: root, nodes: map[string]*explain.Event{}, messages: map[string]string{}}
	x.root.Watch()
	if body := root.Body(); body != nil {
		x.body = body.Explain(bodyRun{x})
		if seq, ok := EventNumber(step); ok {
			if tracer, ok := x.body.(explain.Tracer); ok {
				tracer.Trace(seq)
			}
		}
	}
	return x
}

// EventNumber returns the sequence that `#42` names.
func EventNumber(name string) (seq uint64, ok bool) {
	digits, ok := strings.CutPrefix(name, "#")
	seq, err := strconv.ParseUint(digits, 10, 64)
	return seq, ok && err == nil
}

// bodyRun implements explain.Run for the body.
type bodyRun struct{ x *Explainer }

func (r bodyRun) Event() *explain.Event        { return r.x.event }
func (r bodyRun) At(seq uint64) *explain.Event { return r.x.at(seq) }
func (r bodyRun) Call(v int32) explain.Reason  { return r.x.about(v, 1) }
func (r bodyRun) Pause() []explain.Reason      { return r.x.pause() }

// Ahead takes an event that is not journaled yet, see coordinator.State.Late.
func (x *Explainer) Ahead(e *journal.Event) {
	x.Apply(e)
	x.event.Seq = 0
}

// Explain returns the reasons for the status of the run as of the last event, or of a step if one is named.
func (x *Explainer) Explain(step string) (*explain.Explanation, error) {
	if step == "" {
		return x.run(), nil
	}
	return x.step(step)
}

// Apply takes the next event of the journal.
func (x *Explainer) Apply(e *journal.Event) {
	x.note(e)
	x.root.Apply(e)
	for _, c := range x.root.Changes() {
		key := x.root.Key(c.Node)
		if c.Call != nil {
			key = c.Call.Key
			switch {
			case c.To.Terminal():
				x.body.CallEnded(key, c.To, c.Call.Failure)
			case c.To == reactive.Absent && !c.From.Terminal(): // its step-run was ended
				x.body.CallEnded(key, reactive.Aborted, nil)
			}
		}
		x.nodes[key] = x.event
	}
	if s := x.root.RunStatus(); s != x.status {
		x.status, x.decided = s, x.event
	}
}

// note keeps an event.
func (x *Explainer) note(e *journal.Event) {
	x.event = &explain.Event{Seq: e.Seq, Type: e.Type.String(), At: e.Time()}
	if e.Detail != nil {
		x.event.Actor, x.event.Reason = e.Detail.Actor, e.Detail.Reason
	}
	if e.Seq > x.last+1 {
		x.gap, x.journal = &journal.TrimmedError{First: e.Seq}, x.journal[:1]
	}
	x.journal, x.last = append(x.journal, x.event), e.Seq
	if message := messageOf(e); message != "" {
		x.messages[e.Node] = message
	}
	switch {
	case e.Type != journal.RunPaused:
	case e.Detail != nil && e.Detail.Cause != "":
		x.above = x.event
	default:
		x.paused = x.event
	}
}

// Trimmed takes an event of a world whose state at that event is unknown.
func (x *Explainer) Trimmed(e *journal.Event) {
	x.note(e)
	if tracer, ok := x.body.(explain.Tracer); ok {
		tracer.Trimmed(e)
	}
	switch e.Type {
	case journal.CallRequested:
		x.nodes[e.Node] = x.event
	case journal.CallResponded, journal.CallCompleted:
		x.body.CallEnded(e.Node, reactive.Completed, nil)
	case journal.CallError:
		x.body.CallEnded(e.Node, reactive.Failed, e.FailureOr("error"))
	case journal.CallAborted:
		x.body.CallEnded(e.Node, reactive.Aborted, e.FailureOr(reactive.CodeAborted))
	}
}

// Restored records that the root has the state of a snapshot: the events that decided its statuses are not known.
func (x *Explainer) Restored() {
	for e := range world.Of(x.root).CallEvents() {
		if message := messageOf(e); message != "" {
			x.messages[e.Node] = message
		}
	}
	x.status, x.decided = x.root.RunStatus(), nil
}

// at returns the event with a sequence, or nil if there is none or it was trimmed.
func (x *Explainer) at(seq uint64) *explain.Event {
	missing := uint64(0)
	if x.gap != nil && seq > 1 {
		missing = x.gap.First - 2
	}
	if seq == 0 || seq <= missing || seq-missing > uint64(len(x.journal)) {
		return nil
	}
	return x.journal[seq-missing-1]
}

// run explains the run as a whole.
func (x *Explainer) run() *explain.Explanation {
	out := &explain.Explanation{About: "run", Kind: "run", Status: string(x.status), Decided: x.decided}
	if e := x.root.Finished(); e != nil {
		out.Reasons = x.ending(e)
		return out
	}
	out.Reasons = append(out.Reasons, x.pause()...)
	if x.body != nil {
		out.Reasons = append(out.Reasons, x.body.Waiting()...)
		return out
	}
	for v := range x.root.Len() {
		if x.root.Key(v) != "" && x.isFrontier(v) {
			out.Reasons = append(out.Reasons, x.about(v, 1))
		}
	}
	if due := x.root.Deadline(); due > 0 {
		out.Reasons = append(out.Reasons, explain.Timer("the run's deadline", due))
	}
	return out
}

// isFrontier reports whether the next move of the run depends on a node.
func (x *Explainer) isFrontier(v int32) bool {
	switch s := x.root.Status(v); {
	case x.root.Pending(v), x.root.Decidable(v), s == reactive.Ready:
		return true
	case s == reactive.Running:
		return x.root.Row(v).Kind == plan.Step
	case s == reactive.Waiting:
		return slices.ContainsFunc(Causes(x.root, v), func(c Cause) bool { return c.Kind == BySlot })
	}
	return false
}

// ending returns the reasons for the final status of a run.
func (x *Explainer) ending(e *journal.Event) []explain.Reason {
	f := e.Detail.Failure
	if f == nil {
		return []explain.Reason{{Kind: "end", Text: "everything has come to its end"}}
	}
	if by := x.root.ClosedBy(); by != nil {
		if v, ok := x.root.Node(by.Node); ok && x.body == nil {
			return []explain.Reason{x.about(v, 1)}
		}
		return []explain.Reason{{Kind: "failure", Step: by.Node, Text: f.Error(), Decided: x.at(by.Seq)}}
	}
	if x.body != nil {
		return x.body.Ending(f)
	}
	if v := x.root.Verdict().Node; v >= 0 {
		return []explain.Reason{x.about(v, 1)}
	}
	return []explain.Reason{{Kind: "failure", Text: f.Error()}}
}

// pause returns the reasons for the pause of the run, or nil.
func (x *Explainer) pause() []explain.Reason {
	var list []explain.Reason
	if x.root.Stopped() {
		list = append(list, explain.Reason{Kind: "pause", Text: "the run is paused", Decided: x.paused})
	}
	if x.root.PausedFromAbove() {
		parent := journal.ParentRun(x.id)
		list = append(list, explain.Reason{Kind: "pause", Text: "the run that started it is paused: " + parent, Decided: x.above})
	}
	if len(list) == 0 && x.root.Paused() {
		list = append(list, explain.Reason{Kind: "pause", Text: "the run is paused: a step's outcome has stopped it, and waits for a decision"})
	}
	return list
}

// step explains one step.
func (x *Explainer) step(name string) (*explain.Explanation, error) {
	v, ok := x.root.Node(name)
	if !ok {
		if x.body != nil {
			if out := x.body.Explain(name); out != nil {
				return out, nil
			}
		}
		return nil, x.unknown(name)
	}
	out := &explain.Explanation{About: name, Kind: x.kind(v), Status: x.root.Status(v).String(), Decided: x.nodes[name]}
	if x.root.Pending(v) {
		out.Status = "retrying"
	}
	if s := x.root.Status(v); s == reactive.Idle || s == reactive.Waiting || s == reactive.Ready {
		out.Reasons = x.pause()
	}
	out.Reasons = append(out.Reasons, x.reasons(v, 0)...)
	return out, nil
}

// unknown returns the error for a name of no part of the run.
func (x *Explainer) unknown(name string) error {
	if world.Of(x.root) == nil {
		if _, isEvent := EventNumber(name); isEvent {
			return fmt.Errorf("%w: %q: the number of an event is explained only in a world", decide.ErrStepNotFound, name)
		}
		return fmt.Errorf("%w: %q", decide.ErrStepNotFound, name)
	}
	switch seq, isEvent := EventNumber(name); {
	case isEvent && x.gap != nil && seq > 1 && seq < x.gap.First:
		return fmt.Errorf("event %s is not there any more: %w", name, x.gap)
	case isEvent:
		return fmt.Errorf("%w or event %q: the newest event is #%d", decide.ErrCellNotFound, name, x.root.Seq())
	case x.gap != nil:
		return fmt.Errorf("%w %q, and %s have been trimmed", decide.ErrCellNotFound, name, x.gap.Gap())
	}
	return fmt.Errorf("%w %q", decide.ErrCellNotFound, name)
}

// about returns a node as a reason, with the reasons for its status.
func (x *Explainer) about(v int32, depth int) explain.Reason {
	key := x.name(v)
	r := explain.Reason{Kind: "step", Step: x.root.Key(v), Text: key + " is " + x.root.Status(v).String(), Decided: x.nodes[x.root.Key(v)]}
	if x.root.Pending(v) {
		r.Text = key + " will be tried again"
	}
	if depth < explainDepth {
		r.Reasons = x.reasons(v, depth)
	}
	return r
}

// name returns the name of a node, for sentences.
func (x *Explainer) name(v int32) string {
	kind := x.kind(v)
	if key := x.root.Key(v); key != "" {
		return kind + " " + key
	}
	if c := x.root.Place(v).Cond; c != nil {
		return "the conditional with the test " + c.Test
	}
	return "an unnamed " + kind
}

// kind returns the kind of a node.
func (x *Explainer) kind(v int32) string {
	if x.body != nil {
		return "call"
	}
	return [...]string{plan.Step: "step", plan.Gate: "conditional", plan.Map: "map", plan.Join: "join"}[x.root.Row(v).Kind]
}

// reasons returns the reasons for a node's status.
func (x *Explainer) reasons(v int32, depth int) []explain.Reason {
	if u, ok := x.closer(v); ok {
		r := x.about(u, depth+1)
		r.Kind, r.Text = string(ByFailure), "the run was ended by "+x.name(u)+", which is "+x.root.Status(u).String()
		r.Decided = x.nodes[x.root.Key(v)]
		return []explain.Reason{r}
	}
	var list []explain.Reason
	if f := x.root.Failure(v); f != nil && !x.blocked(v) {
		list = append(list, explain.Reason{Kind: "failure", Text: f.Error()})
	}
	if a := x.root.Adopted(v); a != nil {
		list = append(list, explain.Reason{Kind: "adopted", Text: adoption(a)})
	}
	switch x.root.Status(v) {
	case reactive.Ready:
		if !x.root.Paused() {
			list = append(list, x.room(v))
		}
	case reactive.Running:
		list = append(list, x.callOf(v)...)
	}
	for _, c := range Causes(x.root, v) {
		list = append(list, x.cause(v, &c, depth+1))
	}
	return list
}

// closer returns the node whose failure has ended the run and aborted v with all other unfinished nodes.
func (x *Explainer) closer(v int32) (int32, bool) {
	by := x.root.ClosedBy()
	if by == nil || x.root.Status(v) != reactive.Aborted || x.nodes[x.root.Key(v)] != x.at(by.Seq) {
		return 0, false
	}
	u, ok := x.root.Node(by.Node)
	return u, ok && u != v
}

// blocked reports whether a node has failed because of another failure.
func (x *Explainer) blocked(v int32) bool {
	return slices.ContainsFunc(Causes(x.root, v), func(c Cause) bool { return c.Kind == ByFailure })
}

// callOf returns the call of a running step.
func (x *Explainer) callOf(v int32) []explain.Reason {
	if x.root.Row(v).Kind != plan.Step {
		return nil
	}
	op, key := x.root.Operation(v), x.root.Key(v)
	switch {
	case x.messages[key] != "":
		return []explain.Reason{{Kind: "message", Text: fmt.Sprintf("it waits for message %q", x.messages[key])}}
	case op.Kind == plan.Sleep:
		return nil
	case op.Bound != nil && op.Bound.Binding.Workflow != nil:
		id := x.id + "/" + reactive.RequestName(key, x.root.Attempt(v))
		return []explain.Reason{{Kind: "child", Text: "it waits for the child run " + id}}
	case x.root.Row(v).Asks:
		return nil
	}
	text := "operation " + op.Name + " was called, and has not answered"
	if reported := x.root.Reports(v).Text(); reported != "" {
		text += "; " + reported
	}
	return []explain.Reason{{Kind: "call", Text: text}}
}

// adoption describes the origin of the result of a step that has made no call.
func adoption(a *journal.Kept) string {
	if a.Run == "" {
		return "it was not called: its result was set when the run was started"
	}
	return fmt.Sprintf("it was not called: its result was adopted from event %d of run %s", a.Seq, a.Run)
}

// room returns the reason for which a step that may start was not requested.
func (x *Explainer) room(v int32) explain.Reason {
	if x.root.RoomOf(v) >= reactive.WorkerRoom {
		name := x.root.Operation(v).Name
		if x.ForWorker != nil {
			if text := x.ForWorker(name); text != "" {
				return explain.Reason{Kind: "worker", Text: text}
			}
		}
		return explain.Reason{Kind: "worker", Text: "it may start, and waits for a worker that serves " + name}
	}
	return explain.Reason{Kind: "room", Text: "it may start, and waits for the process to have room for one more call"}
}
