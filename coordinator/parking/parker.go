package parking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Engine is the part of an engine that a Parker needs.
type Engine interface {
	// CheckOpen returns an error once the engine has shut down.
	CheckOpen() error

	// ReadError completes the error of a reader.
	ReadError(ctx context.Context, err error) error

	// Drives reports whether the engine drives a run when the run is not parked.
	Drives(run string) bool

	// Driven is Drives, but false once the engine begins to shut down.
	Driven(run string) bool

	// Outside calls f, unless the run is in memory, and prevents loading it meanwhile. It reports whether it has called f.
	Outside(run string, f func()) bool

	// LoadIf loads a run if it is wanted and not in memory.
	LoadIf(run string, wanted func() bool)
}

// Config configures a Parker.
type Config struct {
	Context  context.Context    // of the process
	Engine   Engine             // whose runs are parked
	Reader   *reader.Reader     // finds the reason that a run cannot go on
	Registry *registry.Registry // may later have the missing part of a run
	Logger   *slog.Logger       // logs each parked run once
}

// Parker parks the runs of an engine, tries them again, and waits for those that are not in memory. It is safe for concurrent use.
type Parker struct {
	*Runs
	Config
}

// For returns the parker of an engine.
func For(config Config) *Parker { return &Parker{New(), config} }

// Log logs that a run is parked.
func (p *Parker) Log(run string, reason error) {
	p.Logger.Warn("a run is parked: it cannot go on in this process", "run", run, "reason", reason)
}

// Reason returns the reason why a run is parked, or nil if it is not recorded as parked.
func (p *Parker) Reason(run string) (reason error) {
	p.Engine.Outside(run, func() {
		if place := p.At(run); place != nil {
			reason = place.Reason
		}
	})
	return reason
}

// Parks reports whether a run that leaves memory because of an error is parked. It returns the run's start if registering another
// workflow could help.
func (p *Parker) Parks(run string, because error) (start *journal.Start, parks bool) {
	err := usercode.Apart(func() error {
		ctx := context.WithoutCancel(p.Context)
		head, err := p.Reader.Head(ctx, run)
		parks = head.Open || err != nil && !errors.Is(err, decide.ErrRunNotFound) // even a failed start may be durable
		if parks && errors.Is(because, decide.ErrMissing) && !errors.Is(because, decide.ErrRules) {
			start, _ = p.Reader.Start(ctx, run) // nil: unknown, so nothing can help
		}
		return nil
	})
	return start, parks || err != nil
}

// ParkAsleep parks a run that is not in memory. If the registry has changed since known, the run may no longer lack anything.
func (p *Parker) ParkAsleep(run string, reason error, start *journal.Start, known uint64) {
	reason = fmt.Errorf("%w: %w", decide.ErrParked, reason)
	parked := false
	p.Engine.Outside(run, func() { parked = p.Park(run, reason, start) })
	if parked {
		p.Log(run, reason)
	}
	if known != p.Registry.Learned() {
		p.RetryMissing()
	}
}

// RetryMissing loads the parked runs whose workflows no longer lack anything.
func (p *Parker) RetryMissing() {
	complete := map[string]bool{}
	for run, place := range p.Missing() {
		key := registry.Key(place.Start.Workflow, place.Start.Children)
		if _, known := complete[key]; !known {
			_, err := p.Registry.Find(p.Context, place.Start.Workflow, place.Start.Children)
			complete[key] = err == nil
		}
		p.Engine.LoadIf(run, func() bool { return complete[key] && p.At(run) == place })
	}
}

// Examine parks a sleeping run that could not go on once woken, so that it is reported early.
func (p *Parker) Examine(run string) {
	known := p.Registry.Learned()
	if start, reason := p.Reader.Obstacle(p.Context, run, true); reason != nil {
		p.ParkAsleep(run, reason, start, known)
	}
}

// Parked returns the reason why the run of a head, as journaled, cannot go on in this process, or nil.
func (p *Parker) Parked(ctx context.Context, head *journal.Head) error {
	if err := p.Engine.CheckOpen(); err != nil {
		return err
	}
	if head.Status == reader.StatusDamaged && p.Reason(head.Run) == nil { // it may not have been read before
		return p.ParkedNow(ctx, head.Run)
	}
	if p.Engine.Drives(head.Run) || !head.Open {
		return p.Reason(head.Run)
	}
	if _, reason := p.Reader.Obstacle(ctx, head.Run, false); reason != nil {
		return fmt.Errorf("%w: %w", decide.ErrParked, reason)
	}
	return nil
}

// ParkedNow is Parked for a run whose head was not read.
func (p *Parker) ParkedNow(ctx context.Context, run string) error {
	if err := p.Engine.CheckOpen(); err != nil {
		return err
	}
	drives := p.Engine.Drives(run)
	if !p.Engine.Outside(run, func() {}) {
		return nil
	}
	head, err := p.Reader.Head(ctx, run)
	switch {
	case err != nil && errors.Is(err, journal.ErrDamaged):
		if drives {
			p.ParkAsleep(run, err, nil, p.Registry.Learned())
		}
		return fmt.Errorf("%w: %w", decide.ErrParked, err)
	case err != nil:
		return p.Engine.ReadError(ctx, err)
	case drives && head.Open && p.Reason(run) == nil:
		p.Examine(run)
	}
	return p.Parked(ctx, &head)
}

// Await follows a run that is not in memory until it ends. It returns a nil result if the run has meanwhile been loaded or parked.
func (p *Parker) Await(ctx context.Context, run string) (*inspect.Result, error) {
	notice, release := p.noticeOf(run)
	defer release()
	if notice.Err() != nil {
		return nil, p.Engine.CheckOpen()
	}
	if err := p.Reason(run); err != nil {
		return nil, err
	}
	result, last, err := p.ending(ctx, run)
	if result != nil || err != nil {
		return result, err
	}
	if result, err = p.Reader.Await(ctx, notice, run, last); result != nil || err != nil {
		return result, p.Engine.ReadError(ctx, err)
	}
	return nil, p.Engine.CheckOpen()
}

// noticeOf returns a context that ends when the run is parked, or has ended if the run is in memory, and a function that releases it.
func (p *Parker) noticeOf(run string) (ctx context.Context, release func()) {
	if !p.Engine.Outside(run, func() { ctx, release = p.Notice(p.Context, run) }) {
		ended, cancel := context.WithCancel(p.Context)
		cancel()
		return ended, cancel
	}
	return ctx, release
}

// ending reads the result of a run that is not in memory, or nil if it has not ended, and the sequence of its last event. If the run
// cannot go on here, ending parks it.
func (p *Parker) ending(ctx context.Context, run string) (*inspect.Result, uint64, error) {
	known := p.Registry.Learned()
	end, err := p.Reader.Progress(ctx, run)
	if err != nil {
		return nil, 0, p.Engine.ReadError(ctx, err)
	}
	if end.Result == nil && end.Start != nil && p.Engine.Driven(run) {
		if start, reason := p.Reader.ObstacleOf(ctx, end.Start, true); reason != nil {
			p.ParkAsleep(run, reason, start, known)
		}
	}
	return end.Result, end.Last, nil
}
