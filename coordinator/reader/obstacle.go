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

// Start is what a run was started with.
func (r *Reader) Start(ctx context.Context, id string) (*journal.Start, error) {
	for event, err := range r.store.Read(ctx, id, 1) {
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", id, err)
		}
		if start := decide.StartOf(&event); start != nil {
			return start, nil
		}
		return nil, fmt.Errorf("%w: run %s does not begin with its start", journal.ErrDamaged, id)
	}
	return nil, fmt.Errorf("%w: %s", decide.ErrRunNotFound, id)
}

// Obstacle is why a run could not go on in this process, as far as that shows from how it was started; nil when nothing is in
// the way. lacks tells whether what this program does not have counts. start is not nil when other workflows could help.
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

// ObstacleOf is Obstacle for a run whose start is known.
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

// Lasting reports whether an error about a journal will be the same the next time.
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

// ParkedReason is an error that wraps decide.ErrParked as a text for people: why the run is parked, without the names of packages;
// "" for nil. Of damage it says who looks into it.
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
