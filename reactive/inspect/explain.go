package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Explanation says why a run, or something in it, stands where it does.
type Explanation struct {
	About   string         `json:"about"`             // "run", or the key of a step, map, call or step-run
	Kind    string         `json:"kind"`              // run, or the kind of the key: step, map, conditional, call or step-run
	Status  string         `json:"status"`            // a reactive.RunStatus, or a reactive.Status
	Decided *DecidingEvent `json:"decided,omitempty"` // what brought it there; nil: nothing has yet
	Reasons []Reason       `json:"reasons,omitempty"` // the first is the most direct
}

// Reason is one of the reasons for something, with its own below it.
type Reason struct {
	Kind    string            `json:"kind"`              // a CauseKind or a routed.WaitKind, or call, message, child, pause, parked, room, failure, routed, items, nobody, late, end
	Text    string            `json:"text"`              // a sentence for people
	Step    string            `json:"step,omitempty"`    // whom it is about
	Due     time.Time         `json:"due,omitzero"`      // of timers
	Values  map[string]any    `json:"values,omitempty"`  // what an expression has read, by how it is written
	Missing map[string]string `json:"missing,omitempty"` // what it could not read, by how it is written: why
	Decided *DecidingEvent    `json:"decided,omitempty"` // the event that it follows from; nil: none
	Reasons []Reason          `json:"reasons,omitempty"` // why that is so; at most explainDepth levels
}

// DecidingEvent is the event that decided something.
type DecidingEvent struct {
	Seq    uint64    `json:"seq"`              // 0: it is not journaled yet, see State.Late
	Type   string    `json:"type"`             // a journal.Type, such as call.error
	At     time.Time `json:"at"`               // when it was decided
	Actor  string    `json:"actor,omitempty"`  // who did it; "": no person or program
	Reason string    `json:"reason,omitempty"` // in the words of the actor
}

// explainDepth bounds how far a chain of reasons is followed.
const explainDepth = 8

// Over reports whether the run or step that is explained has ended.
func (x *Explanation) Over() bool {
	return slices.ContainsFunc([]reactive.Status{reactive.Completed, reactive.Failed, reactive.Aborted, reactive.Skipped},
		func(s reactive.Status) bool { return s.String() == x.Status })
}

// Explainer is a run's root with what it forgets: which event decided what.
type Explainer struct {
	id       string
	root     *reactive.Root
	net      *net.Net
	nodes    map[string]*DecidingEvent        // by key
	steps    map[string]*DecidingEvent        // of a playbook, by step and step-run
	messages map[string]string                // by key of a call that waits for one
	past     map[string]past                  // of a playbook, by key of a step-run, an iteration or a call
	lost     map[string][]string              // of a playbook, by step-run: keys of iterations that have failed
	failed   map[*journal.Failure]routed.View // of a playbook, the step-runs that have failed
	routed   map[string]routed.View           // of a playbook, by step: where its newest run went
	denied   map[string]denial                // of a playbook, by step: its gate's last word, where that was no
	status   reactive.RunStatus
	decided  *DecidingEvent // of the run's status
	paused   *DecidingEvent
	above    *DecidingEvent   // of the pause of the run that started it
	journal  []*DecidingEvent // by sequence, for what names an event
	event    *DecidingEvent
}

// NewExplainer returns the explainer of a run whose journal root has not been given yet.
func NewExplainer(id string, root *reactive.Root) *Explainer {
	x := &Explainer{id: id, root: root, net: net.Of(root), nodes: map[string]*DecidingEvent{}, messages: map[string]string{}}
	x.root.Watch()
	if x.net == nil {
		return x
	}
	x.steps, x.past, x.lost = map[string]*DecidingEvent{}, map[string]past{}, map[string][]string{}
	x.failed, x.routed, x.denied = map[*journal.Failure]routed.View{}, map[string]routed.View{}, map[string]denial{}
	x.net.Watch(x.view)
	return x
}

// Ahead takes an event that is not journaled yet, see coordinator.State.Late.
func (x *Explainer) Ahead(e *journal.Event) {
	x.Apply(e)
	x.event.Seq = 0
}

// Explain returns why the run stands where it does, as of the last event; of a step, where one is named.
func (x *Explainer) Explain(step string) (*Explanation, error) {
	if step == "" {
		return x.run(), nil
	}
	return x.step(step)
}

// Apply takes the next event of the journal.
func (x *Explainer) Apply(e *journal.Event) {
	x.event = &DecidingEvent{Seq: e.Seq, Type: e.Type.String(), At: e.Time()}
	if e.Detail != nil {
		x.event.Actor, x.event.Reason = e.Detail.Actor, e.Detail.Reason
	}
	x.journal = append(x.journal, x.event)
	x.root.Apply(e)
	for _, c := range x.root.Changes() {
		key := x.root.Key(c.Node)
		if c.Call != nil {
			key = c.Call.Key
			switch {
			case c.To.Terminal():
				x.past[key] = past{c.To, c.Call.Failure, x.event}
			case c.To == reactive.Absent && !c.From.Terminal(): // its step-run was ended
				x.past[key] = past{reactive.Aborted, nil, x.event}
			}
		}
		x.nodes[key] = x.event
	}
	if e.Type == journal.CallRequested && e.Detail != nil && e.Detail.Name != "" {
		x.messages[e.Node] = e.Detail.Name
	}
	switch {
	case e.Type != journal.RunPaused:
	case e.Detail != nil && e.Detail.Cause != "":
		x.above = x.event
	default:
		x.paused = x.event
	}
	if s := x.root.RunStatus(); s != x.status {
		x.status, x.decided = s, x.event
	}
}

// at returns the event with a sequence.
func (x *Explainer) at(seq uint64) *DecidingEvent {
	if seq == 0 || seq > uint64(len(x.journal)) {
		return nil
	}
	return x.journal[seq-1]
}

// run explains the run as a whole.
func (x *Explainer) run() *Explanation {
	out := &Explanation{About: "run", Kind: "run", Status: string(x.status), Decided: x.decided}
	if e := x.root.Finished(); e != nil {
		out.Reasons = x.ending(e)
		return out
	}
	out.Reasons = append(out.Reasons, x.pause()...)
	if x.net != nil {
		for _, w := range x.net.Waits() {
			out.Reasons = append(out.Reasons, x.wait(&w))
		}
		return out
	}
	for v := range x.root.Len() {
		if x.root.Key(v) != "" && x.isFrontier(v) {
			out.Reasons = append(out.Reasons, x.about(v, 1))
		}
	}
	if due := x.root.Deadline(); due > 0 {
		out.Reasons = append(out.Reasons, timerReason("the run's deadline", due))
	}
	return out
}

// isFrontier reports whether a node is one of those on which the run's next move depends.
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

// ending returns why a run has ended as it has.
func (x *Explainer) ending(e *journal.Event) []Reason {
	f := e.Detail.Failure
	if f == nil {
		return []Reason{{Kind: "end", Text: "everything has come to its end"}}
	}
	r := Reason{Kind: "failure", Text: f.Error()}
	if by := x.root.ClosedBy(); by != nil {
		if v, ok := x.root.Node(by.Node); ok && x.net == nil {
			return []Reason{x.about(v, 1)}
		}
		r.Decided = x.at(by.Seq)
		r.Step = by.Node
		return []Reason{r}
	}
	if x.net != nil {
		r.Reasons = x.blamed()
		return append([]Reason{r}, x.faults(f.Code)...)
	}
	if v := x.root.Verdict().Node; v >= 0 {
		return []Reason{x.about(v, 1)}
	}
	return []Reason{r}
}

// blamed returns the step-run whose failure a playbook's run has ended with: it need not be the newest of its step, nor have kept
// the run from going on.
func (x *Explainer) blamed() []Reason {
	v, ok := x.failed[x.net.Verdict().Failure]
	if !ok {
		return nil
	}
	text := "step-run " + v.Run + " has failed with that"
	if i, _ := x.net.Playbook().StepIndex(v.Step); x.net.Playbook().Steps[i].Next != nil {
		text += ", and no arc with a when has taken it up"
	}
	return []Reason{{Kind: "failure", Step: v.Run, Text: text, Decided: x.at(v.Seq)}}
}

func (x *Explainer) pause() []Reason {
	var list []Reason
	if x.root.Stopped() {
		list = append(list, Reason{Kind: "pause", Text: "the run is paused", Decided: x.paused})
	}
	if x.root.PausedFromAbove() {
		parent := journal.ParentRun(x.id)
		list = append(list, Reason{Kind: "pause", Text: "the run that started it is paused: " + parent, Decided: x.above})
	}
	if len(list) == 0 && x.root.Paused() {
		list = append(list, Reason{Kind: "pause", Text: "the run is paused: a step's outcome has stopped it, and waits for a decision"})
	}
	return list
}

// step explains one step.
func (x *Explainer) step(name string) (*Explanation, error) {
	if x.net != nil {
		if out := x.playbookStep(name); out != nil {
			return out, nil
		}
	}
	v, ok := x.root.Node(name)
	if !ok {
		if out := x.within(name); out != nil {
			return out, nil
		}
		return nil, fmt.Errorf("%w: %q", decide.ErrStepNotFound, name)
	}
	out := &Explanation{About: name, Kind: x.kind(v), Status: x.root.Status(v).String(), Decided: x.nodes[name]}
	if x.root.Pending(v) {
		out.Status = "retrying"
	}
	if s := x.root.Status(v); s == reactive.Idle || s == reactive.Waiting || s == reactive.Ready {
		out.Reasons = x.pause()
	}
	out.Reasons = append(out.Reasons, x.reasons(v, 0)...)
	return out, nil
}

// about returns a node with its own reasons below it.
func (x *Explainer) about(v int32, depth int) Reason {
	key := x.name(v)
	r := Reason{Kind: "step", Step: x.root.Key(v), Text: key + " is " + x.root.Status(v).String(), Decided: x.nodes[x.root.Key(v)]}
	if x.root.Pending(v) {
		r.Text = key + " will be tried again"
	}
	if depth < explainDepth {
		r.Reasons = x.reasons(v, depth)
	}
	return r
}

// name returns the name of a node in a sentence.
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
	if x.net != nil {
		return "call"
	}
	return [...]string{plan.Step: "step", plan.Gate: "conditional", plan.Map: "map", plan.Join: "join"}[x.root.Row(v).Kind]
}

// reasons returns why a node stands where it does.
func (x *Explainer) reasons(v int32, depth int) []Reason {
	if u, ok := x.closer(v); ok {
		r := x.about(u, depth+1)
		r.Kind, r.Text = string(ByFailure), "the run was ended by "+x.name(u)+", which is "+x.root.Status(u).String()
		r.Decided = x.nodes[x.root.Key(v)]
		return []Reason{r}
	}
	var list []Reason
	if f := x.root.Failure(v); f != nil && !x.blocked(v) {
		list = append(list, Reason{Kind: "failure", Text: f.Error()})
	}
	switch x.root.Status(v) {
	case reactive.Ready:
		if !x.root.Paused() {
			list = append(list, Reason{Kind: "room", Text: "it may start, and waits for the process to have room for one more call"})
		}
	case reactive.Running:
		list = append(list, x.callOf(v)...)
	}
	for _, c := range Causes(x.root, v) {
		list = append(list, x.cause(v, &c, depth+1))
	}
	return list
}

// closer returns the node whose failure has ended the run, and aborted this one with all that had not ended.
func (x *Explainer) closer(v int32) (int32, bool) {
	by := x.root.ClosedBy()
	if by == nil || x.root.Status(v) != reactive.Aborted || x.nodes[x.root.Key(v)] != x.at(by.Seq) {
		return 0, false
	}
	u, ok := x.root.Node(by.Node)
	return u, ok && u != v
}

// blocked reports whether something else is to blame for a node's failure.
func (x *Explainer) blocked(v int32) bool {
	return slices.ContainsFunc(Causes(x.root, v), func(c Cause) bool { return c.Kind == ByFailure })
}

// callOf returns the call of a running step.
func (x *Explainer) callOf(v int32) []Reason {
	if x.root.Row(v).Kind != plan.Step {
		return nil
	}
	op, key := x.root.Operation(v), x.root.Key(v)
	switch {
	case x.messages[key] != "":
		return []Reason{{Kind: "message", Text: fmt.Sprintf("it waits for message %q", x.messages[key])}}
	case op.Kind == plan.Sleep:
		return nil
	case op.Bound != nil && op.Bound.Binding.Workflow != nil:
		id := x.id + "/" + reactive.RequestName(key, x.root.Attempt(v))
		return []Reason{{Kind: "child", Text: "it waits for the child run " + id}}
	case x.root.Row(v).Asks:
		return nil
	}
	text := "operation " + op.Name + " was called, and has not answered"
	if n, kind, at := x.root.Reports(v); n > 0 {
		text += fmt.Sprintf("; it has reported %d times, the last time %q at %s", n, kind, time.Unix(0, at).UTC().Format(time.RFC3339))
	}
	return []Reason{{Kind: "call", Text: text}}
}

// cause puts a cause into words.
func (x *Explainer) cause(v int32, c *Cause, depth int) Reason {
	r := Reason{Kind: string(c.Kind)}
	deeper := func(text string) {
		r.Text, r.Step, r.Decided = text, x.root.Key(c.Node), x.nodes[x.root.Key(c.Node)]
		if depth < explainDepth {
			r.Reasons = x.reasons(c.Node, depth)
		}
	}
	switch c.Kind {
	case ByPredecessor:
		deeper("it waits for " + x.name(c.Node) + ", which is " + x.root.Status(c.Node).String())
	case ByFailure:
		deeper("it needs " + x.name(c.Node) + ", which is " + x.root.Status(c.Node).String())
	case ByItems:
		deeper(x.name(c.Node) + " is " + x.root.Status(c.Node).String())
	case ByBranch:
		deeper(x.branch(v, c.Node))
	case BySlot:
		names := make([]string, len(c.Holders))
		for i, u := range c.Holders {
			names[i] = x.root.Key(u)
		}
		r.Text = fmt.Sprintf("it waits for a slot: %d at once, held by %s", c.Limit, strings.Join(names, ", "))
	case ByTimer:
		return timerReason(c.Timer, c.Due)
	case ByPerson:
		r.Text = "a person has to decide whether its task is done"
	case ByEnd:
		r.Text = "the run has ended, and nobody had decided whether its task is done"
		r.Decided = x.at(x.root.ClosedBy().Seq)
	case BySource:
		r.Text = "its decision source was asked, and has not answered"
	case ByParticipant:
		r.Text = "it waits for the answers of " + strings.Join(c.Participants, ", ")
	case ByTest:
		r.Text = "its test " + c.Test + " " + gave(x.root, c.Node)
		r.Values, r.Missing = readings(c.Read)
	}
	return r
}

func gave(root *reactive.Root, v int32) string {
	switch root.Chose(v) {
	case plan.Then:
		return "gave true"
	case plan.Else:
		return "gave false"
	}
	return "could not be decided"
}

// branch returns how the conditional around a node has decided.
func (x *Explainer) branch(v, gate int32) string {
	switch chosen := x.root.Chose(gate); {
	case chosen == plan.Undecided:
		return x.name(gate) + " around it has not decided"
	case chosen == x.root.Inside(v):
		return x.name(gate) + " has chosen its branch"
	}
	return x.name(gate) + " has chosen the other branch"
}

// readings returns the values that a test has read, short, and why there were none.
func readings(list []ReadValue) (values map[string]any, missing map[string]string) {
	values, missing = make(map[string]any, len(list)), map[string]string{}
	for _, r := range list {
		if r.Err != nil {
			missing[r.Text] = r.Err.Error()
			continue
		}
		values[r.Text] = r.Value
	}
	return shortened(values), missing
}

// valueMax is how much of a value an explanation shows, in bytes of JSON.
const valueMax = 200

// shortened returns values with texts in the place of those that are long. What it is given stays as it is.
func shortened(values map[string]any) map[string]any {
	out := maps.Clone(values)
	for k, v := range values {
		if text, err := value.JSON(v); err == nil && len(text) > valueMax {
			out[k] = string([]rune(string(text))[:valueMax/2]) + "…"
		}
	}
	return out
}

func timerReason(what string, due int64) Reason {
	at := time.Unix(0, due).UTC()
	return Reason{Kind: string(ByTimer), Text: what + " is due at " + at.Format(time.RFC3339), Due: at}
}
