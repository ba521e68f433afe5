package reader

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Start returns the start of a run; if the run was moved, its start under the new workflow. It reads one event: the head records the
// place of a move. If the head is damaged, Start ignores moves.
func (r *Reader) Start(ctx context.Context, id string) (*journal.Start, error) {
	head, err := r.Head(ctx, id)
	if err != nil {
		head.Moved = 0
	}
	for event, err := range journal.ReadLean(ctx, r.store, id, max(1, head.Moved), journal.Beginnings) {
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", id, err)
		}
		if decide.IsMove(&event) {
			return event.Detail.Start, nil
		}
		if start := decide.StartOf(&event); start != nil {
			return start, nil
		}
		return nil, fmt.Errorf("%w: run %s does not begin with its start", journal.ErrDamaged, id)
	}
	return nil, fmt.Errorf("%w: %s", decide.ErrRunNotFound, id)
}

// Obstacle returns the reason, by its start alone, that a run could not go on in this process; nil if there is none. lacks determines
// whether missing operations and functions count. start is not nil if other workflows could help.
func (r *Reader) Obstacle(ctx context.Context, id string, lacks bool) (start *journal.Start, reason error) {
	start, err := r.Start(ctx, id)
	if err == nil {
		return r.ObstacleOf(ctx, start, lacks)
	}
	if Lasting(err) && !errors.Is(err, decide.ErrRunNotFound) && !errors.Is(err, journal.ErrClosed) {
		return nil, err
	}
	return nil, nil
}

// ObstacleOf is Obstacle for a run with a known start.
func (r *Reader) ObstacleOf(ctx context.Context, start *journal.Start, lacks bool) (*journal.Start, error) {
	if err := decide.SameRules(start); err != nil {
		return nil, err
	}
	if !lacks {
		return nil, nil
	}
	_, err := r.registry.Find(ctx, start.Workflow, start.Children)
	if err == nil || !Lasting(err) || errors.Is(err, journal.ErrClosed) {
		return nil, nil
	}
	return start, err
}

// Lasting reports whether an error about a journal will recur on every read.
func Lasting(err error) bool {
	if _, panicked := errors.AsType[*usercode.Panic](err); panicked {
		return true
	}
	for _, final := range []error{
		decide.ErrMissing, decide.ErrRunNotFound, journal.ErrDamaged, journal.ErrVersion, journal.ErrClosed,
		journal.ErrConflict, journal.ErrReadOnly, journal.ErrTooLarge, value.ErrTooLarge,
	} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}

// ParkedReason formats an error that wraps decide.ErrParked for people: the reason, without package names, or "" for nil. For
// damage it names the command that examines it.
func ParkedReason(err error) string {
	if err == nil {
		return ""
	}
	text := strings.NewReplacer(decide.ErrParked.Error()+": ", "", "coordinator: ", "", "journal: ", "").Replace(err.Error())
	if errors.Is(err, journal.ErrDamaged) {
		text += "; `sluice doctor` says what is damaged and what can be mended"
	}
	return text
}
