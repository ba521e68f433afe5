package reader

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/shadow"
	"github.com/sluiceflow/sluice/template/plan"
)

// A run takes the results of its child runs, even if the child runs would have gone another way: so each child is followed separately,
// under the workflow that its step would start.

// below adds the shadows of all runs below the run. A step that the other workflow lacks, or that starts no run there, is a
// difference of the run itself.
func (s *Shadow) below(ctx context.Context, report *shadow.Report) error {
	for head, err := range s.reader.Below(ctx, s.run) {
		switch {
		case err != nil && !errors.Is(err, journal.ErrDamaged):
			return fmt.Errorf("list the runs below run %s: %w", s.run, err)
		case journal.ParentRun(head.Run) != s.run:
			continue
		}
		if err := s.child(ctx, report, head.Run); err != nil {
			return err
		}
	}
	return nil
}

// child adds the shadow of a child run, unless the workflow that its step would start is the one that it follows. A child that
// cannot be followed is reported.
func (s *Shadow) child(ctx context.Context, report *shadow.Report, id string) error {
	err := s.follow(ctx, report, id)
	if err == nil || ctx.Err() != nil || errors.Is(err, journal.ErrClosed) {
		return err
	}
	report.Children = append(report.Children, shadow.Child{Run: id, Why: err.Error()})
	return nil
}

// follow is child, but returns the reason that there is no shadow as an error.
func (s *Shadow) follow(ctx context.Context, report *shadow.Report, id string) error {
	start, err := s.reader.Start(ctx, id)
	if err != nil {
		return err
	}
	key, now, err := s.started(ctx, strings.TrimPrefix(start.Parent, s.run+"/"))
	if now == nil || err != nil {
		return err
	}
	family, err := registry.Family(ctx, now)
	if err != nil {
		return err
	}
	if registry.SameFamily(start.Workflow, start.Children, now.Plan.Hash, family) {
		report.Alike++
		return nil
	}
	below, err := s.reader.Shadow(ctx, id, now)
	if err == nil {
		report.AddChild(below, key+"/")
	}
	return err
}

// started returns the key of the step that has made a call, and the workflow that it would start; nil: none.
func (s *Shadow) started(ctx context.Context, call string) (string, *registry.Entry, error) {
	at := strings.LastIndexByte(call, '#')
	if at < 0 {
		return "", nil, nil
	}
	key, deciding := call[:at], strings.Contains(call[at:], "?")
	op := int32(-1)
	if row, ok := s.now.Plan.RowOf(key); ok && deciding {
		op = s.now.Plan.Nodes[row].Decision
	} else if ok && s.now.Plan.Nodes[row].Kind == plan.Step {
		op = s.now.Plan.Nodes[row].Op
	}
	e, err := s.now.ChildOf(ctx, op)
	return key, e, err
}
