package decide

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// intentsMax bounds the events that one step decides, and separately the timers that it fires before. The next step does the
// rest, after the inbox was read again, so that a cancel is never delayed for long.
const (
	intentsMax = 1024
	workMax    = 4_000_000 // of expressions: the bound of one evaluation
	bytesMax   = 32 << 20  // of events: the bound of one value
)

// participantBytes is the approximate memory of one asked participant: its request and the record of its answer.
const participantBytes = 256

// Item is input for a run: the result of a call, or a command.
type Item struct {
	Event    journal.Event   // without Seq and At; the stepper completes its Detail, which must not be shared
	Received int64           // Unix nanoseconds; 0: now
	Reply    func(err error) // of a command: called when it is durable or refused
	Taken    *journal.Event  // of a message: set before Reply to its event, or to the event of an earlier message with its id; nil: not used

	// Look, in an item without an event, reads the root. Reply is called when all events applied to the root are durable.
	Look func(*reactive.Root)

	// If, in an item without a Reply, reports whether the stepper should still apply the event; nil: always.
	If func(*reactive.Root) bool

	// Move, in an item with a run.moved, returns the root of the run under the other workflow, as of the event upto, or an error if
	// the run cannot proceed under it. A stepper takes no such item: the driver makes another stepper.
	Move func(upto uint64) (*reactive.Root, error)

	// Past is true if the event is the start of a run that begins with the past of another, or part of that past: the stepper takes
	// it unchanged, with its instant.
	Past bool
}

// Host has the functions of the driver that a Stepper calls.
type Host interface {
	// Function calls a Go function of the workflow. The code of its failure is ignored.
	Function(name string, args []any) (value.Value, *journal.Failure)

	// Pure carries out a call without side effects. It reports false for every other call.
	Pure(v int32, input any) (result call.Result, ok bool)

	// Reserve reserves room in the process, or with a worker, for one more call. If it reports false, there is no room, and the
	// step stays ready.
	Reserve(room reactive.Room) bool
}

// Resolver is a Host that resolves targets to participants.
type Resolver interface {
	// Resolve returns the participants of a step's target at an instant (Unix nanoseconds), in order. A failure fails the
	// step.
	Resolve(v int32, at int64) ([]string, *journal.Failure)
}

// Limiter is a Host with limits. Other hosts have the default limits.
type Limiter interface {
	// Limits returns the limits, always the same.
	Limits() Limits
}

// Stepper decides for one run. Its drivers include the engine's loop and the scenario runner.
//
//	items, now ──▶ Step ──▶ Batch ──▶ Append ──▶ Calls, Cancels, Replies
//
// It is ahead of the journal by the batch that Step returned. If that batch cannot be appended, the driver discards the stepper
// and makes another from the journal.
type Stepper struct {
	Reserved Reserved // by this step: one for each step with a plain call or a fan-out; the driver decrements it

	root    *reactive.Root
	host    Host
	limits  Limits
	fold    func(*journal.Event) // applies an event to the root
	last    int                  // length of the batch at which this step stops
	begun   int                  // work of expressions before this step
	held    int                  // bytes of events before this step
	beside  int                  // bytes of the batch besides encodings of values
	batch   []journal.Event
	calls   []reactive.Request
	answers []answer
	waiting int // bytes of answers
	workers workerWaits
	now     int64
}

// NewStepper returns the stepper of a run. root must have applied the run's journal.
func NewStepper(root *reactive.Root, host Host) *Stepper {
	s := &Stepper{root: root, host: host, fold: func(e *journal.Event) { root.Apply(e) }}
	if l, ok := host.(Limiter); ok {
		s.limits = l.Limits()
	}
	s.limits = s.limits.complete()
	root.Cells().Serve(host)
	return s
}

// FoldWith makes the stepper call f in place of the root's Apply. f must apply each event to the root.
func (s *Stepper) FoldWith(f func(*journal.Event)) { s.fold = f }

// answer is the result of a pure operation, which is journaled after the starts of its round.
type answer struct {
	req    reactive.Request
	result call.Result
}

// StepResult is the work of a step for its driver, which must append Batch and, when it is durable, do the rest.
type StepResult struct {
	Batch   []journal.Event    // to be appended; valid until the next Step
	Calls   []reactive.Request // to be made: of steps, to participants, and to decision sources
	Cancels []reactive.Request // to be stopped
	Replies []Reply            // to be sent once Batch is durable
	Bytes   int                // approximate bytes of Batch
	More    bool               // there is more to decide at once
	Err     error              // not nil: the run cannot proceed, and the rest of the result is invalid
}

// Reply is the answer to a command.
type Reply struct {
	To  func(error) // called once, with Err
	Err error       // nil: the command is journaled
}

// Reserved counts the calls with reserved room, by kind of room. It excludes room with workers, which the host counts.
type Reserved [reactive.NoRoom]int

// Step applies items and due timers, in the order of their instants, and then decides. now must not decrease. The batch is
// valid until the next Step.
func (s *Stepper) Step(now int64, items []Item) StepResult {
	s.now, s.beside = now, 0
	held := s.root.Bytes()
	clear(s.batch) // the batch must not keep durable events in memory
	s.batch, s.calls, s.Reserved = s.batch[:0], s.calls[:0], Reserved{}
	var out StepResult
	s.budget()
	for i := range items {
		if t := items[i].Received; t > 0 {
			s.fire(t - 1)
		}
		if r, ok := s.take(&items[i]); ok {
			out.Replies = append(out.Replies, r)
		}
	}
	late := s.fire(now)
	out.More = s.decide() || late && s.root.Finished() == nil
	out.Batch, out.Calls = s.batch, s.stillOpen(append(s.calls, s.root.TakeCalls()...))
	out.Cancels, out.Bytes = s.root.TakeCancels(), s.root.Bytes()-held+s.beside
	out.Err = s.root.Cells().Err()
	return out
}

// SnapshotDue reports whether a snapshot of the run's state is due. If leaves is true, the run is about to leave memory.
func (s *Stepper) SnapshotDue(leaves bool) (due bool) {
	_, due = s.root.Cells().Snapshot(leaves)
	return due
}

// stillOpen removes the calls that the step itself has ended.
func (s *Stepper) stillOpen(calls []reactive.Request) []reactive.Request {
	return slices.DeleteFunc(calls, func(req reactive.Request) bool { return !s.root.Open(req) })
}

// fire applies the timers due at an instant. It reports whether it stopped early, since a task that is retried at once sets a
// new timer each time; items that have arrived then precede the rest. It answers a wait that a message has reached, so that it
// does not time out: a process that did not drive the run may have journaled the message.
func (s *Stepper) fire(until int64) (late bool) {
	for {
		e, ok := s.root.Fire(until)
		switch {
		case !ok:
			return false
		case s.answerMessages():
			continue
		case s.full():
			return true
		}
		e.At = s.now
		s.apply(e)
	}
}

// take applies one item. A refused command leaves the journal unchanged.
func (s *Stepper) take(it *Item) (Reply, bool) {
	if it.Look != nil {
		it.Look(s.root)
		return Reply{it.Reply, nil}, true
	}
	if it.If != nil && !it.If(s.root) {
		return Reply{}, false
	}
	begins := it.Past && it.Event.Type != journal.RunStarted || keeps(&it.Event)
	if begins && !s.root.Beginning() {
		return Reply{}, false // the start was taken before
	}
	if it.Reply == nil && !begins {
		s.settle(&it.Event)
		s.fit(&it.Event)
	}
	if begins && it.Past {
		s.apply(it.Event)
		return Reply{}, false
	}
	earlier, err := s.refuse(it)
	if err != nil || earlier != nil {
		it.taken(earlier)
		return Reply{it.Reply, err}, it.Reply != nil
	}
	e := it.Event
	if !it.Past {
		e.At = s.now
	}
	if it.Received != s.now && it.Received != 0 {
		e.Detail = cmp.Or(e.Detail, &journal.Detail{})
		e.Detail.Received = it.Received
	}
	s.applyCommand(e)
	it.taken(&s.batch[len(s.batch)-1])
	return Reply{it.Reply, nil}, it.Reply != nil
}

// taken stores the event of a message in it.Taken.
func (it *Item) taken(e *journal.Event) {
	if it.Taken != nil && e != nil {
		*it.Taken = *e
	}
}

// settle brings the result of a call into the form that cells take.
func (s *Stepper) settle(e *journal.Event) {
	if s.root.Body() == nil || e.Type != journal.CallResponded || e.Detail != nil && e.Detail.Participant != "" {
		return
	}
	if v, ok := s.root.Node(e.Node); ok && s.root.Open(s.root.Request(v, e.Attempt)) {
		s.root.Cells().Settle(v, e)
	}
}

// applyCommand applies a command that was not refused. A retry of a step resumes a finished run. An abort or a retry of a cell has
// its own event type.
func (s *Stepper) applyCommand(e journal.Event) {
	if e.Type == journal.NodeAborted || e.Type == journal.NodeRetried {
		if _, call := s.root.Node(e.Node); !call {
			command := e // a copy, so that e, which is usually a result, stays on the stack
			s.root.Cells().Command(&command)
			e = command
		}
	}
	if e.Type == journal.NodeRetried && s.root.Finished() != nil {
		s.apply(journal.Event{Type: journal.RunReopened, At: s.now, Detail: e.Detail})
	}
	s.apply(e)
}

func (s *Stepper) apply(e journal.Event) {
	e.Seq = s.root.Seq() + 1
	s.batch = append(s.batch, e)
	s.beside += s.besideText(&e)
	s.fold(&s.batch[len(s.batch)-1])
}

// besideText returns the bytes of an event in memory besides the encodings of its values, for the parts that can be large.
func (s *Stepper) besideText(e *journal.Event) int {
	n := s.nodeBytes(e.Value)
	if d := e.Detail; d != nil {
		n += len(d.Participants)*participantBytes + s.nodeBytes(d.About)
		if d.Failure != nil {
			n += len(d.Failure.Message) + s.nodeBytes(d.Failure.Details)
		}
	}
	return n
}

// nodeBytes returns the bytes in memory of the lists, objects, keys and scalars of a value, or 0 for a scalar. It counts only
// if the driver bounds the memory of its runs.
func (s *Stepper) nodeBytes(v any) int {
	if !s.limits.inMemory {
		return 0
	}
	nodes, _ := value.Nodes(v, s.limits.ValueNodesMax)
	if nodes < 2 {
		return 0
	}
	return nodes * value.NodeBytes
}

// decide runs rounds until no event follows: first ends, then answers to waits, then starts. It reports whether it stopped
// early.
func (s *Stepper) decide() (more bool) {
	if !s.root.Started() || s.root.Finished() != nil {
		return false
	}
	s.budget()
	for {
		before := len(s.batch)
		s.end()
		if s.root.Finished() != nil {
			return false
		}
		s.answerMessages()
		s.callFunctions()
		s.askParticipants()
		s.askDecisions()
		s.move()
		s.start()
		s.answerPure()
		switch {
		case s.full():
			return true
		case len(s.batch) == before:
			return false
		}
	}
}

// budget sets the bounds of the current step.
func (s *Stepper) budget() {
	s.last, s.begun, s.held = len(s.batch)+intentsMax, s.root.Meter().Spent(), s.root.Bytes()+s.beside
}

// full reports whether the step has reached a bound; so a cancel waits at most one step. The next step closes a run at its
// limit of events.
func (s *Stepper) full() bool {
	return len(s.batch) >= s.last || s.root.Meter().Spent()-s.begun > s.limits.StepWorkMax || s.root.Bytes()+s.beside+s.waiting-s.held > s.limits.StepBytesMax || s.overfull()
}

// overfull reports whether a run that is not closed has reached its limit of events.
func (s *Stepper) overfull() bool {
	most := s.limits.EventsMax
	return most > 0 && s.root.Tail() >= uint64(most) && !s.root.Closed()
}

// end closes a run that aborts at its first failure, and finishes a run that has nothing left to do.
func (s *Stepper) end() {
	if s.root.Plan().Workflow.FailurePolicy == template.AbortAll && !s.root.Closed() {
		if v, ok := s.root.UncaughtFailure(); ok {
			s.apply(journal.Event{
				Type: journal.RunClosed, At: s.now, Node: s.root.Key(v), Hint: v + 1,
				Detail: &journal.Detail{Failure: s.root.Failure(v)},
			})
		}
	}
	if s.overfull() {
		s.apply(journal.Event{Type: journal.RunClosed, At: s.now, Detail: &journal.Detail{Failure: &journal.Failure{
			Code: reactive.CodeLimit, Message: fmt.Sprintf("the journal has %d events, as many as a run may have", s.root.Tail()),
		}}})
	}
	if v, failure, ok := s.root.NextClosing(); ok {
		s.apply(journal.Event{
			Type: journal.RunClosed, At: s.now, Node: s.root.Key(v), Hint: v + 1, Detail: &journal.Detail{Failure: failure},
		})
	}
	if !s.root.Done() {
		return
	}
	verdict := s.verdict()
	s.apply(journal.Event{
		Type: journal.RunFinished, At: s.now, Value: verdict.Output,
		Detail: &journal.Detail{State: string(verdict.Status), Failure: verdict.Failure},
	})
}

// answerMessages ends the waits that a message has reached, and reports whether there were any.
func (s *Stepper) answerMessages() (any bool) {
	for {
		a, ok := s.root.NextMatch()
		if !ok {
			return any
		}
		any = true
		s.apply(s.About(a.Node, journal.Event{Type: journal.CallResponded, Attempt: a.Attempt, Value: a.Output}))
	}
}

// callFunctions calls the Go functions that decide conditionals and return the lists of maps.
func (s *Stepper) callFunctions() {
	for !s.full() {
		v, ok := s.root.NextAsk()
		if !ok {
			return
		}
		s.apply(s.About(v, s.decided(v)))
	}
}

// askParticipants asks the next participant of calls without an open dispatch.
func (s *Stepper) askParticipants() {
	for !s.full() {
		h, ok := s.root.NextHedge()
		if !ok {
			return
		}
		s.apply(s.About(h.Node, journal.Event{
			Type: journal.DispatchCreated, Attempt: h.Attempt, Detail: &journal.Detail{Participant: h.Participant},
		}))
	}
}

// askDecisions calls the decision sources of completed steps, unless the run is paused; then it does so after the resumption.
func (s *Stepper) askDecisions() {
	for !s.full() && !s.root.Paused() {
		v, number, ok := s.root.NextDecision()
		if !ok {
			return
		}
		e := journal.Event{Type: journal.DecisionRequested, Attempt: s.root.Attempt(v), Detail: &journal.Detail{Count: number}}
		input, failure := s.root.DecisionInput(v)
		if failure == nil {
			input, failure = s.fittingInput(input)
		}
		if e.Value = input; failure != nil {
			e.Type, e.Detail.Failure = journal.DecisionReceived, failure
		}
		s.apply(s.About(v, e))
	}
}

// move journals the moves of a body, up to the limit: step-runs of a playbook, activations of cells.
func (s *Stepper) move() {
	for !s.full() && !s.root.Paused() {
		e, ok := s.root.Next(s.now)
		if !ok {
			return
		}
		e.At = s.now
		s.apply(e)
	}
}

// start requests ready nodes in template order, up to the limit. If the process lacks room for a kind of call, start requests
// only nodes that do not need it.
func (s *Stepper) start() {
	s.workers.nodes = s.workers.nodes[:0]
	if s.root.Paused() {
		return
	}
	var lacking reactive.Rooms
	for !s.full() {
		v, ok := s.root.NextStart(lacking)
		if !ok {
			return
		}
		if s.adopt(v) {
			continue
		}
		if room := s.root.RoomOf(v); room != reactive.NoRoom {
			if !s.host.Reserve(room) {
				lacking = lacking.With(room)
				s.workers.note(v, room)
				continue
			}
			if room < reactive.NoRoom {
				s.Reserved[room]++
			}
		}
		s.request(v, s.root.Operation(v))
	}
}

// request journals the request of a call, or the failure to render its input.
func (s *Stepper) request(v int32, op *plan.Operation) {
	input, failure := s.input(v)
	if failure == nil {
		input, failure = s.fittingInput(input)
	}
	e := journal.Event{Type: journal.CallRequested, Attempt: s.root.Attempt(v) + 1, Value: input}
	if failure == nil {
		e.Detail, failure = s.ending(v, op, input)
	}
	asks := s.root.Row(v).Asks
	if asks {
		var ids []string
		if ids, failure = s.resolve(v, failure); failure == nil {
			e.Detail = &journal.Detail{Participants: s.root.Lacking(v, ids)}
		}
	}
	if failure != nil {
		s.apply(s.About(v, journal.Event{Type: journal.StepFailed, Detail: &journal.Detail{Failure: failure}}))
		return
	}
	s.apply(s.About(v, e))
	req := s.root.Request(v, e.Attempt)
	if asks {
		return // its participants are called instead
	}
	if result, done := s.carryOut(v, op, input); done {
		s.answers = append(s.answers, answer{req, result})
		size, _ := value.Size(result.Output, s.limits.ValueBytesMax)
		s.waiting += size + s.nodeBytes(result.Output)
		if f := result.Failure; f != nil {
			s.waiting += len(f.Message)
		}
	} else if op.Kind == plan.Call {
		s.calls = append(s.calls, req)
	}
}

// resolve returns the participants of a step's target, unless the step has already failed.
func (s *Stepper) resolve(v int32, failure *journal.Failure) ([]string, *journal.Failure) {
	r, ok := s.host.(Resolver)
	if !ok || failure != nil {
		return s.root.Place(v).Step.Target.Participants, failure
	}
	return r.Resolve(v, s.now)
}

// answerPure journals the results of the round's pure operations.
func (s *Stepper) answerPure() {
	for i := range s.answers {
		a := &s.answers[i]
		if s.root.Open(a.req) {
			e := s.About(a.req.Node, Ending(a.req, a.result))
			s.settle(&e)
			s.fit(&e)
			s.apply(e)
		}
	}
	clear(s.answers)
	s.answers, s.waiting = s.answers[:0], 0
}

// About sets the node of an event.
func (s *Stepper) About(v int32, e journal.Event) journal.Event {
	e.At, e.Node, e.Hint = s.now, s.root.Key(v), v+1
	return e
}
