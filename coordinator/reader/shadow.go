package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/shadow"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Shadow compares a run with a replay of its outcomes under the workflow of an entry, and the runs below it likewise under the
// workflows that this would start. It reads their whole journals, and makes no call.
func (r *Reader) Shadow(ctx context.Context, run string, now *registry.Entry) (report *shadow.Report, err error) {
	s, err := r.BeginShadow(ctx, run, now, false)
	if err == nil {
		err = s.Follow(ctx, 0)
	}
	if err != nil {
		return nil, err
	}
	if report, err = s.Report(); err == nil {
		err = s.below(ctx, report)
	}
	return report, err
}

// Shadow is a run that is followed under another workflow, up to any event.
type Shadow struct {
	reader *Reader
	run    string
	now    *registry.Entry
	was    *plan.Plan     // that the run follows
	own    *journal.Start // of the run
	start  *journal.Start // under the other workflow
	moved  *journal.Event // the newest move, from which on the journal follows its own workflow; nil: none
	seq    uint64         // of the last event that was added
	of     *shadow.Shadow

	moves    bool              // the run is to go on under the other workflow
	input    value.Value       // of the run
	children map[string]string // of the other workflow
	root     *reactive.Root    // of a run that moves: as if it had been started with the other workflow
}

// BeginShadow returns the shadow of a run, before its first event. If moves is true, the run is to go on under the other workflow, and
// the shadow has a root.
func (r *Reader) BeginShadow(ctx context.Context, run string, now *registry.Entry, moves bool) (*Shadow, error) {
	if now.Missing != nil && len(now.Plan.Functions) > len(now.Functions) {
		return nil, now.Missing
	}
	start, err := r.Start(ctx, run)
	if err != nil {
		return nil, err
	}
	s := &Shadow{reader: r, run: run, now: now, moves: moves}
	return s, s.begin(ctx, start)
}

// Bundled sets the children of the other workflow, which are stored.
func (s *Shadow) Bundled(children map[string]string) {
	s.children, s.start.Children = children, children
}

// begin begins before the first event, for a run with this start.
func (s *Shadow) begin(ctx context.Context, start *journal.Start) error {
	if err := decide.SameRules(start); err != nil {
		return err
	}
	was, err := s.reader.registry.Read(ctx, start.Workflow, start.Children)
	if err != nil {
		return err
	}
	s.was, s.own = was.Plan, start
	s.start, s.seq = decide.StartUnder(start, s.now.Plan), 0
	if s.moves {
		s.start.Children, s.root = s.children, decide.NewRoot(s.now.Plan)
	}
	s.of, err = shadow.New(was.Plan, s.now.Plan, s.start, func(root *reactive.Root) decide.Host {
		return s.reader.process.Host(s.run, s.now, root)
	})
	return err
}

// Follow adds the events of the journal up to sequence upto; 0: all.
func (s *Shadow) Follow(ctx context.Context, upto uint64) error {
	for e, err := range s.reader.store.Read(ctx, s.run, s.seq+1) {
		switch {
		case err != nil:
			return fmt.Errorf("shadow run %s: %w", s.run, err)
		case upto > 0 && e.Seq > upto:
			return nil
		case decide.IsMove(&e) && (s.moved == nil || s.moved.Seq < e.Seq):
			s.moved = &e
			if err := s.begin(ctx, e.Detail.Start); err != nil {
				return err
			}
			return s.Follow(ctx, upto)
		case s.moved != nil:
			e = decide.Under(&e, s.moved)
		}
		if err := s.reader.Derived(s.run, func() { s.add(&e) }); err != nil {
			return err
		}
	}
	if s.seq == 0 {
		return fmt.Errorf("%w: %s", decide.ErrRunNotFound, s.run)
	}
	return nil
}

// add adds an event.
func (s *Shadow) add(e *journal.Event) {
	s.of.Add(e)
	s.seq = e.Seq
	if decide.StartOf(e) != nil {
		s.input = e.Value
	}
	if s.moves {
		moved := decide.Moved(s.start, "")
		under := decide.Under(e, &moved)
		s.root.Apply(&under)
	}
}

// Report compares the run with its shadow as of the last event that was added. A workflow that refuses the run's input would not even
// have started it.
func (s *Shadow) Report() (report *shadow.Report, err error) {
	panicked := s.reader.Derived(s.run, func() { report, err = s.of.Report() })
	if err = errors.Join(panicked, err); err != nil {
		return nil, err
	}
	if fault := s.Refused(); fault != nil {
		refused := shadow.Difference{Kind: shadow.Refused, Seq: 1, What: journal.RunStarted.String(), Begun: true, New: fault.Error()}
		report.Differences = slices.Insert(report.Differences, 0, refused)
	}
	return report, nil
}

// Root returns the root of the run as if it had been started with the other workflow, as of the last event that was added.
func (s *Shadow) Root() *reactive.Root { return s.root }

// Refused returns the reason that the other workflow refuses the input of the run; nil: it accepts the input.
func (s *Shadow) Refused() error { return s.now.Schema.Check(s.input) }

// Follows reports whether the run already follows the other workflow with these children.
func (s *Shadow) Follows(children map[string]string) bool {
	return registry.SameFamily(s.own.Workflow, s.own.Children, s.now.Plan.Hash, children)
}

// Was returns the workflow that the run follows.
func (s *Shadow) Was() *plan.Plan { return s.was }

// Start returns the start of the run as it would be under the other workflow.
func (s *Shadow) Start() *journal.Start { return s.start }
