package rerun

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// A run of a playbook is not repeated in part: its tokens come from one another, and each may have changed the context. It is repeated
// from an event on, and the new run begins with the events up to there:
//
//	old  run.started  step.scheduled  call.requested a  call.requested b  call.responded a │ call.responded b  …
//	new  run.started  step.scheduled  call.requested a                    call.responded a │ call.requested b  …
//
// A call that was under way at the event is left out, with all events about it: the new run makes it again. Instants move so that the
// event is now: the durations of calls and the remaining times of timers stay.

// past is the history of a playbook's run up to an event.
type past struct {
	events  []journal.Event
	effects []ledger.Effect
	calls   []Step // that were requested, each once
	known   map[string]bool
}

// add adds an event that the root has applied.
func (p *past) add(root *reactive.Root, e *journal.Event, effect ledger.Effect) {
	e.Hint = 0 // it is about that root
	p.events, p.effects = append(p.events, *e), append(p.effects, effect)
	if v, ok := root.Node(e.Node); ok && e.Type == journal.CallRequested && !p.known[e.Node] {
		p.known[e.Node] = true
		p.calls = append(p.calls, stepOf(root, root.Row(v).Op, root.Place(v), e.Node))
	}
}

// makePast determines the events that the rerun of a playbook's run keeps.
func (m *Maker) makePast(ctx context.Context, s *source, o *Options) (*Made, error) {
	if err := o.checkPast(s); err != nil {
		return nil, err
	}
	entry, err := m.Registry.Find(ctx, s.start.Workflow, s.start.Children)
	if err != nil {
		return nil, fmt.Errorf("run %s cannot be rerun here: %w", s.id, err)
	}
	input, err := value.Of(s.input)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	move := m.Now() - s.root.At()
	made := &Made{
		Entry: entry, Input: input, Dir: s.start.Dir, Labels: s.start.Labels, Identity: s.start.Identity, maker: m,
		From: &journal.From{Run: s.id, Seq: s.root.Seq()}, Past: s.start, Began: s.past.events[0].At + move,
	}
	of := s.past.without(underWay(s.root))
	for _, i := range of {
		made.Kept = append(made.Kept, moved(&s.past.events[i], move))
	}
	made.From.Kept = int32(len(made.Kept))
	if s.start.From != nil { // its past may have references to the run that it repeats itself
		rename(made.Kept, s.start.From.Run, s.id)
	}
	if err := usercode.Call(func() error { return made.checkEffects(s, of) }); err != nil {
		return nil, err
	}
	for _, c := range s.past.calls {
		if v, there := s.root.Node(c.Step); !there || !makesCall(s.root, v) {
			made.ended = append(made.ended, c)
		}
	}
	return made, nil
}

// makesCall reports whether a call is to be made, now or later. A sleep and a wait that have begun only go on.
func makesCall(root *reactive.Root, v int32) bool {
	if root.Status(v) == reactive.Absent || root.Row(v).Kind != plan.Step || root.Final(v) {
		return false
	}
	kind := root.Row(v).OpKind
	return root.Look(v).Fact != ledger.Requested || kind != plan.Sleep && kind != plan.Wait
}

// opened is a call that is under way: an attempt of a node, or a question to its decision source.
type opened struct {
	node              string
	attempt, decision int32
}

// underWay returns the calls that were requested and not answered.
func underWay(root *reactive.Root) map[opened]bool {
	open := map[opened]bool{}
	for v := range root.Len() {
		if root.Look(v).Fact == ledger.Requested && makesCall(root, v) {
			open[opened{node: root.Key(v), attempt: root.Attempt(v)}] = true
		}
	}
	for _, req := range root.OpenCalls() {
		if req.Decision != 0 {
			open[opened{root.Key(req.Node), req.Attempt, req.Decision}] = true
		}
	}
	return open
}

// without returns the indexes of the events, besides the first, that are not about calls under way.
func (p *past) without(open map[opened]bool) (kept []int) {
	for i := 1; i < len(p.events); i++ {
		e := &p.events[i]
		about := opened{node: e.Node, attempt: e.Attempt}
		if e.Attempt > 0 && open[about] {
			continue
		}
		if e.Type == journal.DecisionRequested && e.Detail != nil {
			if about.decision = e.Detail.Count; open[about] {
				continue
			}
		}
		kept = append(kept, i)
	}
	return kept
}

// first returns the first event of a rerun with a past.
func (d *Made) first(run string) journal.Event {
	e := decide.Started(run, d.Entry.Plan, d.Input, d.maker.Limits)
	decide.LikeStart(e.Detail.Start, d.Past)
	e.At, e.Detail.Start.From = d.Began, d.From
	return e
}

// checkEffects returns an error unless the kept events have the same effects in the new run as in the old one; of has their indexes in the
// old run.
func (d *Made) checkEffects(s *source, of []int) error {
	root, e := decide.NewRoot(d.Entry.Plan), d.first("rerun")
	e.Seq = 1
	root.Apply(&e)
	for k, i := range of {
		e := d.Kept[k]
		e.Seq = uint64(k + 2)
		if root.Apply(&e) != s.past.effects[i] {
			return fmt.Errorf("%w: run %s cannot be repeated from event %d on, because there event %d would do something else: say another event",
				decide.ErrNotPossible, s.id, s.root.Seq(), s.past.events[i].Seq)
		}
	}
	return nil
}

// rename replaces references to the run was in events by references to the run is.
func rename(events []journal.Event, was, is string) {
	replace := strings.NewReplacer("sluice://run/"+was+"/", "sluice://run/"+is+"/")
	for i := range events {
		e := &events[i]
		if v, err := value.Of(e.Value); err == nil { // an invalid Value is invalid in the old run, too
			e.Value = renamed(v, replace)
		}
		if e.Detail != nil && e.Detail.About != nil {
			e.Detail.About = renamed(e.Detail.About, replace) // moved has copied the detail
		}
	}
}

// renamed returns a value with its texts replaced. It shares no object or list with one that holds such a text.
func renamed(v any, replace *strings.Replacer) any {
	switch of := v.(type) {
	case string:
		return replace.Replace(of)
	case []any:
		list := make([]any, len(of))
		for i := range of {
			list[i] = renamed(of[i], replace)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(of))
		for k := range of {
			object[k] = renamed(of[k], replace)
		}
		return object
	}
	return v
}

// moved returns an event with its instants moved.
func moved(of *journal.Event, by int64) journal.Event {
	e := *of
	e.At += by
	if of.Detail != nil {
		d := *of.Detail
		for _, at := range []*int64{&d.Received, &d.Due, &d.RetryAt} {
			if *at != 0 {
				*at += by
			}
		}
		e.Detail = &d
	}
	return e
}
