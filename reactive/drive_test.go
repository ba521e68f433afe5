package reactive_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
)

// driver drives a root through time as a coordinator does. At each instant, it applies first the events that arrive, then the
// timers that are due, then the decisions that follow. Instants are seconds after the start.
//
// It records the calls in progress from the root's requests, and checks after every instant that these are the open calls
// according to the journal alone.
type driver struct {
	t       require.TestingT
	plan    *plan.Plan
	root    *reactive.Root
	journal []journal.Event
	now     int64
	flying  map[reactive.Request]int64 // when each call was made

	targets func(attempt int32) []string // participants of a target; nil: those that it names
	started func(reactive.Request)       // called for every call that is made
	crash   func() bool                  // called after every event; true: the root is rebuilt from the journal
}

// driverStart is the start of driven runs. It is not 0, because 0 means no instant.
var driverStart = time.Unix(1_000_000, 0)

func instant(second int64) int64 {
	return driverStart.Add(time.Duration(second) * time.Second).UnixNano()
}

func newDriver(t require.TestingT, p *plan.Plan) *driver {
	return &driver{t: t, plan: p, root: reactive.New(p), flying: map[reactive.Request]int64{}}
}

// start begins the run.
func (s *driver) start() *driver {
	s.apply(journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: "r"}}})
	s.settle()
	return s
}

// receive applies events that arrive at a second, and their consequences.
func (s *driver) receive(second int64, events ...journal.Event) []reactive.Effect {
	s.advance(second - 1)
	s.now = second
	var outcomes []reactive.Effect
	for _, e := range events {
		outcomes = append(outcomes, s.apply(e))
	}
	s.settle()
	return outcomes
}

// advance advances time to a second.
func (s *driver) advance(second int64) {
	for due := s.root.NextDue(); due != 0 && due <= instant(second); due = s.root.NextDue() {
		s.now = max(s.now, (due-instant(0)+int64(time.Second)-1)/int64(time.Second))
		s.settle()
	}
	s.now = max(s.now, second)
}

// settle fires due timers and decides, until no event follows.
func (s *driver) settle() {
	for before := -1; before != len(s.journal); {
		before = len(s.journal)
		for e, ok := s.root.Fire(instant(s.now)); ok; e, ok = s.root.Fire(instant(s.now)) {
			s.apply(e)
		}
		if s.root.Finished() == nil {
			s.decide()
		}
	}
	if s.root.Finished() == nil && !s.root.Closed() {
		require.Equal(s.t, s.calls(slices.Collect(maps.Keys(s.flying))), s.calls(s.root.OpenCalls()), "calls under way at %d", s.now)
	}
}

// decide applies the events that follow from the previous ones.
func (s *driver) decide() {
	if v, failure, ok := s.root.NextClosing(); ok {
		s.apply(s.about(v, journal.Event{Type: journal.RunClosed, Detail: &journal.Detail{Failure: failure}}))
	}
	if s.root.Done() {
		verdict := s.root.Verdict()
		s.apply(journal.Event{Type: journal.RunFinished, Value: verdict.Output,
			Detail: &journal.Detail{State: string(verdict.Status), Failure: verdict.Failure}})
		return
	}
	for h, ok := s.root.NextHedge(); ok; h, ok = s.root.NextHedge() {
		s.apply(s.about(h.Node, journal.Event{
			Type: journal.DispatchCreated, Attempt: h.Attempt, Detail: &journal.Detail{Participant: h.Participant},
		}))
	}
	for v, number, ok := s.root.NextDecision(); ok; v, number, ok = s.root.NextDecision() {
		e := journal.Event{Type: journal.DecisionRequested, Attempt: s.root.Attempt(v), Detail: &journal.Detail{Count: number}}
		input, failure := s.root.DecisionInput(v)
		if e.Value = input; failure != nil {
			e.Type, e.Detail.Failure = journal.DecisionReceived, failure
		}
		s.apply(s.about(v, e))
	}
	for v, ok := s.root.NextStart(nil); ok && !s.root.Paused(); v, ok = s.root.NextStart(nil) {
		s.request(v)
	}
}

// request begins an attempt.
func (s *driver) request(v int32) {
	e := journal.Event{Type: journal.CallRequested, Attempt: s.root.Attempt(v) + 1}
	switch asks := s.root.Row(v).Asks; {
	case asks && s.targets != nil:
		e.Detail = &journal.Detail{Participants: s.root.Lacking(v, s.targets(e.Attempt))}
	case asks:
		e.Detail = &journal.Detail{Participants: s.root.Lacking(v, s.root.Place(v).Step.Target.Participants)}
	default:
		s.fly(reactive.Request{Node: v, Attempt: e.Attempt})
	}
	s.apply(s.about(v, e))
}

func (s *driver) about(v int32, e journal.Event) journal.Event {
	e.Node = s.root.Key(v)
	return e
}

func (s *driver) fly(req reactive.Request) {
	s.flying[req] = s.now
	if s.started != nil {
		s.started(req)
	}
}

// apply journals an event, and records the calls that it begins and ends.
func (s *driver) apply(e journal.Event) reactive.Effect {
	e.Seq, e.At = uint64(len(s.journal)+1), instant(s.now)
	s.journal = append(s.journal, e)
	out := s.root.Apply(&e)
	require.NoError(s.t, s.root.Check(), "after %s %s#%d", e.Type, e.Node, e.Attempt)
	if v, ok := s.root.Node(e.Node); ok && out == reactive.Applied && ends(e.Type) {
		req := reactive.Request{Node: v, Attempt: e.Attempt}
		if e.Detail != nil {
			req.Participant, req.Decision = e.Detail.Participant, e.Detail.Count
		}
		delete(s.flying, req)
	}
	for _, req := range s.root.TakeCancels() {
		delete(s.flying, req)
	}
	for _, req := range s.root.TakeCalls() {
		s.fly(req)
	}
	if s.crash != nil && s.crash() {
		s.recover()
	}
	return out
}

// ends reports whether an event of this type is the end of a call.
func ends(t journal.Type) bool {
	switch t {
	case journal.CallResponded, journal.CallError, journal.CallSkipped, journal.CallCompleted, journal.CallAborted,
		journal.DispatchSettled, journal.DecisionReceived:
		return true
	}
	return false
}

// recover discards the root and rebuilds it from the stored journal.
func (s *driver) recover() {
	s.root = reactive.New(s.plan)
	for _, e := range stored(s.t, s.journal) {
		s.root.Apply(&e)
	}
	s.root.TakeCalls()
	s.root.TakeCancels()
}

// stored returns events as a store returns them.
func stored(t require.TestingT, events []journal.Event) []journal.Event {
	codec := &journal.Codec{}
	var data []byte
	for i := range events {
		var err error
		data, err = codec.Append(data, &events[i])
		require.NoError(t, err)
	}
	if len(events) == 0 {
		return nil
	}
	back, err := codec.DecodeAll(nil, data)
	require.NoError(t, err)
	return back
}

// calls describes requests, in order.
func (s *driver) calls(list []reactive.Request) string {
	slices.SortFunc(list, func(a, b reactive.Request) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Decision, b.Decision),
			cmp.Compare(a.Participant, b.Participant))
	})
	var b strings.Builder
	for _, req := range list {
		fmt.Fprintf(&b, "%s#%d", s.root.Key(req.Node), req.Attempt)
		if req.Participant != "" {
			fmt.Fprintf(&b, "/%s", req.Participant)
		}
		if req.Decision != 0 {
			fmt.Fprintf(&b, "?%d", req.Decision)
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// node returns the number of a step.
func (s *driver) node(key string) int32 {
	v, ok := s.root.Node(key)
	require.True(s.t, ok, key)
	return v
}

// full describes the visible state of a root, dispatches and tasks included.
func full(root *reactive.Root) string {
	var b strings.Builder
	b.WriteString(state(root))
	for v := range root.Len() {
		for _, d := range root.Dispatches(v) {
			fmt.Fprintf(&b, " %s/%d:%s", d.Participant, d.Attempt, d.State)
		}
		fmt.Fprintf(&b, " %s %v", root.Fulfillment(v), root.Decidable(v))
	}
	return b.String()
}

// Events for tests.

func responded(key string, attempt int32, output any) journal.Event {
	return journal.Event{Type: journal.CallResponded, Node: key, Attempt: attempt, Value: output}
}

func failedWith(key string, attempt int32, code string, retryable bool) journal.Event {
	return journal.Event{Type: journal.CallError, Node: key, Attempt: attempt,
		Detail: &journal.Detail{Failure: &journal.Failure{Code: code, Retryable: retryable}}}
}

// of makes an end of a call the end of one participant's call.
func of(participant string, e journal.Event) journal.Event {
	d := journal.Detail{}
	if e.Detail != nil {
		d = *e.Detail
	}
	d.Participant = participant
	e.Detail = &d
	return e
}

func unreachable(key string, attempt int32) journal.Event {
	return journal.Event{Type: journal.DispatchSettled, Node: key, Attempt: attempt,
		Detail: &journal.Detail{State: "unreachable", Failure: &journal.Failure{Code: "unreachable", Retryable: true}}}
}

func decided(key string, attempt, number int32, answer any) journal.Event {
	return journal.Event{Type: journal.DecisionReceived, Node: key, Attempt: attempt, Value: answer, Detail: &journal.Detail{Count: number}}
}

func undecidable(key string, attempt, number int32) journal.Event {
	e := decided(key, attempt, number, nil)
	e.Detail.Failure = &journal.Failure{Code: "broken", Retryable: true}
	return e
}

// override returns a person's decision that overrides an earlier one.
func override(key string, attempt int32, fulfilled bool) journal.Event {
	e := person(key, attempt, fulfilled)
	e.Type = journal.DecisionOverridden
	return e
}

// person returns the decision of a person.
func person(key string, attempt int32, fulfilled bool) journal.Event {
	d := &journal.Detail{State: "fulfilled", Actor: "ann", Reason: "why"}
	if !fulfilled {
		d.State = "not_fulfilled"
	}
	return journal.Event{Type: journal.DecisionReceived, Node: key, Attempt: attempt, Detail: d}
}
