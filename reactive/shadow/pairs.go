package shadow

import (
	"cmp"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// key identifies an event in both journals.
type key struct {
	node, participant, name string
	attempt, count          int32
	of                      journal.Type
}

// keyOf returns the key of an event.
func keyOf(e *journal.Event) key {
	k := key{node: e.Node, attempt: e.Attempt, of: e.Type}
	if d := e.Detail; d != nil {
		k.participant, k.count, k.name = d.Participant, d.Count, d.Timer
	}
	return k
}

// requestOf returns the key of the request to which an outcome belongs.
func requestOf(e *journal.Event) key {
	k := key{node: e.Node, attempt: e.Attempt}
	if d := e.Detail; d != nil {
		k.participant = d.Participant
		if e.Type == journal.DecisionReceived || e.Type == journal.DecisionRequested {
			k.count = d.Count
		}
	}
	return k
}

// event holds the compared parts of an event that one of the workflows has decided.
type event struct {
	key
	seq       uint64 // of the recorded event; for the other workflow, of the first event of the turn
	value     any
	detail    *journal.Detail
	pause     int64 // of a sleep
	operation int32 // of a request; -1: none
	plan      *plan.Plan
}

func (s *Shadow) event(root *reactive.Root, e *journal.Event) event {
	out := event{key: keyOf(e), seq: e.Seq, value: e.Value, detail: e.Detail, operation: -1, plan: root.Plan()}
	if e.Type == journal.CallRequested {
		if e.Detail != nil && e.Detail.Due > 0 {
			out.pause = e.Detail.Due - e.At
		}
		if v, ok := root.Node(e.Node); ok {
			out.operation = root.Row(v).Op
		}
	}
	return out
}

// side is the run to which an event belongs.
type side uint8

const (
	recorded side = iota // of the run
	shadowed             // of the other workflow
)

// pairs pairs the events of the run with those of the other workflow.
type pairs struct {
	turn  [2][]event       // of the current turn
	left  [2]map[key]event // unpaired events of earlier turns
	ops   map[ops]bool
	diffs []Difference
	more  int // number of differences beyond differencesMax
}

// differencesMax bounds the stored differences. The rest is counted.
const differencesMax = 1000

func (p *pairs) init() {
	p.left = [2]map[key]event{{}, {}}
	p.ops = map[ops]bool{}
}

func (p *pairs) add(of side, e *event) { p.turn[of] = append(p.turn[of], *e) }

// settle pairs the events of a turn, most of which are in the same order.
func (p *pairs) settle() {
	was, is := p.turn[recorded], p.turn[shadowed]
	for i := range max(len(was), len(is)) {
		if i < len(was) && i < len(is) && was[i].key == is[i].key {
			p.compare(&was[i], &is[i])
			continue
		}
		if i < len(was) {
			p.pair(recorded, &was[i])
		}
		if i < len(is) {
			p.pair(shadowed, &is[i])
		}
	}
	clear(was)
	clear(is)
	p.turn[recorded], p.turn[shadowed] = was[:0], is[:0]
}

// pair pairs an event with one of the other side, or keeps it.
func (p *pairs) pair(of side, e *event) {
	other, ok := p.left[1-of][e.key]
	if !ok {
		p.left[of][e.key] = *e
		return
	}
	delete(p.left[1-of], e.key)
	if of == recorded {
		p.compare(e, &other)
	} else {
		p.compare(&other, e)
	}
}

// compare adds the differences between two events with one key.
func (p *pairs) compare(was, is *event) {
	switch was.of {
	case journal.CallRequested:
		p.compareRequests(was, is)
	case journal.DecisionRequested:
		p.differ(was, is, Input, was.value, is.value)
	case journal.CallResponded, journal.BranchDecided, journal.MapExpanded:
		p.differ(was, is, Result, was.value, is.value)
	case journal.StepFailed, journal.CallError, journal.CallSkipped, journal.RunClosed:
		p.differ(was, is, Result, code(was.detail), code(is.detail))
	case journal.RunFinished:
		p.differ(was, is, End, ending(was), ending(is))
	}
}

func (p *pairs) compareRequests(was, is *event) {
	if !p.same(was, is) {
		p.found(p.of(was, Operation, nameOf(was), nameOf(is)))
	}
	p.differ(was, is, Input, was.value, is.value)
	p.differ(was, is, Input, pause(was), pause(is))
	p.differ(was, is, Participants, participants(was.detail), participants(is.detail))
	if was.detail != nil && is.detail != nil && was.detail.Name != is.detail.Name {
		p.found(p.of(was, Input, was.detail.Name, is.detail.Name))
	}
}

// ops has one operation of each plan.
type ops struct{ was, is int32 }

// same reports whether two requests call the same operation.
func (p *pairs) same(was, is *event) bool {
	if was.operation < 0 || is.operation < 0 {
		return true
	}
	of := ops{was.operation, is.operation}
	same, known := p.ops[of]
	if !known {
		same = sameOperation(&was.plan.Operations[of.was], &is.plan.Operations[of.is])
		p.ops[of] = same
	}
	return same
}

func sameOperation(was, is *plan.Operation) bool {
	if was.Name != is.Name || was.Kind != is.Kind || (was.Bound == nil) != (is.Bound == nil) {
		return false
	}
	return was.Bound == nil || value.Equal(was.Bound.Binding.Document(), is.Bound.Binding.Document())
}

func nameOf(e *event) string { return e.plan.Operations[e.operation].Name }

func participants(d *journal.Detail) any {
	if d == nil || len(d.Participants) == 0 {
		return nil
	}
	list := make([]any, len(d.Participants))
	for i, id := range d.Participants {
		list[i] = id
	}
	return list
}

// pause returns the duration of a request's sleep, in the form of documents, or nil.
func pause(e *event) any {
	if e.pause == 0 {
		return nil
	}
	return duration.Format(time.Duration(e.pause))
}

// code returns the code of a failure.
func code(d *journal.Detail) any {
	if d == nil || d.Failure == nil {
		return nil
	}
	return d.Failure.Code
}

// ending returns the end of a run as a value.
func ending(e *event) any {
	out := map[string]any{"status": e.detail.State, "output": e.value}
	if f := e.detail.Failure; f != nil {
		out["code"], out["step"] = f.Code, f.Step
	}
	return out
}

// differ adds a difference unless two values are equal.
func (p *pairs) differ(was, is *event, kind Kind, before, after any) {
	if !value.Equal(before, after) {
		p.found(p.of(was, kind, before, after))
	}
}

func (p *pairs) of(e *event, kind Kind, before, after any) Difference {
	return Difference{Kind: kind, Step: e.node, Attempt: e.attempt, Seq: e.seq, What: e.of.String(), Participant: e.participant, Old: before, New: after}
}

func (p *pairs) found(d Difference) {
	if len(p.diffs) >= differencesMax {
		p.more++
		return
	}
	p.diffs = append(p.diffs, d)
}

// unpaired returns the differences of events that only one side has. It omits consequences of a request that only that side has.
func (p *pairs) unpaired() (list []Difference) {
	for of, left := range p.left {
		for k, e := range left {
			if k.of != journal.CallRequested {
				request := key{node: k.node, attempt: k.attempt, of: journal.CallRequested}
				if _, follows := left[request]; follows {
					continue
				}
			}
			if kind, ok := only(k.of, side(of)); ok {
				d := p.of(&e, kind, nil, nil)
				if side(of) == recorded {
					d.Old = described(&e)
				} else {
					d.New, d.ahead = described(&e), true
				}
				list = append(list, d)
			}
		}
	}
	slices.SortFunc(list, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Step, b.Step), cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.What, b.What), cmp.Compare(a.Participant, b.Participant))
	})
	return list
}

// only returns the kind of difference for an event that only one side has. It reports false if there is no difference.
func only(of journal.Type, by side) (Kind, bool) {
	switch of {
	case journal.CallRequested, journal.DispatchCreated, journal.DecisionRequested, journal.StepScheduled:
		return [...]Kind{Gone, Unasked}[by], true
	case journal.ResultAdopted:
		return Result, true
	case journal.StepFailed, journal.CallError, journal.CallSkipped, journal.CallResponded, journal.BranchDecided, journal.MapExpanded, journal.DecisionReceived:
		return Result, true
	case journal.RunClosed, journal.RunDeadlineExceeded, journal.RunFinished:
		return End, true
	}
	return "", false
}

// described describes an event that only one side has.
func described(e *event) any {
	switch {
	case e.of == journal.RunFinished:
		return ending(e)
	case e.detail != nil && e.detail.Failure != nil:
		return e.detail.Failure.Code
	case e.of == journal.CallRequested && e.operation >= 0:
		return nameOf(e)
	}
	return e.value
}
