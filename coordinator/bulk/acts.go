package bulk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/rerun"
	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// Engine is the part of an engine that Acts needs.
type Engine interface {
	// CheckOpen returns an error once the engine has shut down.
	CheckOpen() error

	// ReadError completes the error of a reader.
	ReadError(ctx context.Context, err error) error

	// Now returns the time of the engine's clock, Unix nanoseconds.
	Now() int64

	// Take passes a command to a run, and returns once it is durable. If it is refused, Take returns the reason.
	Take(ctx context.Context, run, actor string, command journal.Event) error

	// Held reports whether a run is held since it was imported.
	Held(run string) bool

	// Lifted reports whether a command of an act has released a held run.
	Lifted(ctx context.Context, run, act string) (bool, error)

	// Exists reports whether there is a run with that id.
	Exists(ctx context.Context, run string) (bool, error)

	// Delete deletes a run.
	Delete(ctx context.Context, run string) error

	// Learn compiles a workflow, and registers it.
	Learn(w *template.Workflow) (*registry.Entry, error)

	// Rerun starts, for an act, the run id that repeats another, and returns once that is durable. dir is the folder of its programs; "":
	// the folder of the other run.
	Rerun(ctx context.Context, run, actor, act string, what rerun.Options, id, dir string) error

	// PreviewRerun previews a Rerun.
	PreviewRerun(ctx context.Context, run string, what rerun.Options) (*rerun.Preview, error)

	// Move switches a run to another workflow, for an act, and returns once that is durable.
	Move(ctx context.Context, run, actor, act, reason string, to *registry.Entry) error

	// PreviewMove returns the error with which Move would refuse; nil: it would not.
	PreviewMove(ctx context.Context, run string, to *registry.Entry) error

	// Report logs an error that perhaps no caller receives; run "": it is about no single run.
	Report(what, run string, err error)

	// Go starts a goroutine. The engine waits for its end when it shuts down.
	Go(f func())

	// Draining returns a context that ends when the engine begins to shut down.
	Draining() context.Context
}

// Acts acts on the runs of a store.
type Acts struct{ *acts }

type acts struct {
	store  journal.Store
	reader *reader.Reader
	engine Engine

	registry *registry.Registry // of the engine

	begin sync.Mutex   // one act at a time chooses its runs
	slice atomic.Int32 // runs whose outcomes are recorded at once; tests set it while acts may go on

	mu      sync.Mutex
	index   index
	drivers map[uint64]*driver // of the acts that go on here
}

// New returns the acts of an engine's store.
func New(store journal.Store, from *reader.Reader, engine Engine, known *registry.Registry) Acts {
	a := &acts{store: store, reader: from, engine: engine, registry: known, drivers: map[uint64]*driver{}}
	a.slice.Store(sliceRuns)
	return Acts{a}
}

// index is the stream of all acts, folded.
type index struct {
	last uint64 // sequence of its newest event
	all  []*entry
}

// entry is an act in the index.
type entry struct {
	Status
	stopping  bool
	forgotten bool  // its stream is known to be deleted
	err       error // why this process no longer drives it
}

// apply takes an event. If alone is true, the act of the event may be unknown to x.
func (x *index) apply(e *journal.Event, alone bool) error {
	if e.Type != journal.BulkRecorded || e.Detail == nil {
		return damaged(e)
	}
	x.last = e.Seq
	if e.Detail.State == recordAsked {
		act, err := actOf(e)
		if err == nil {
			x.all = append(x.all, &entry{Status: Status{Act: act, ID: uint64(len(x.all)) + 1, State: Suspended, Began: e.At}})
		}
		return err
	}
	id, ok := idOf(e)
	one := &entry{}
	if !alone && ok && id <= uint64(len(x.all)) {
		one = x.all[id-1]
	} else if !alone || !ok {
		return damaged(e)
	}
	switch State(e.Detail.State) {
	case recordStopping:
		one.stopping = true
		return nil
	case Completed, Stopped, Abandoned:
		return one.end(e)
	}
	return damaged(e)
}

// catchUp reads the new events of the index. The caller holds mu.
func (a *acts) catchUp(ctx context.Context) error {
	for e, err := range a.store.Read(ctx, journal.BulkIndex(), a.index.last+1) {
		if err == nil {
			err = a.index.apply(&e, false)
		}
		if err != nil {
			return a.engine.ReadError(ctx, fmt.Errorf("read the acts on many runs: %w", err))
		}
	}
	return nil
}

// note appends an event to the index.
func (a *acts) note(ctx context.Context, e journal.Event) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		if err := a.catchUp(ctx); err != nil {
			return err
		}
		last, err := a.store.Append(ctx, journal.BulkIndex(), a.index.last, []journal.Event{e}, journal.Head{})
		switch {
		case err == nil:
			e.Seq = last
			return a.index.apply(&e, false)
		case !errors.Is(err, journal.ErrConflict):
			return a.engine.ReadError(ctx, fmt.Errorf("note an act on many runs: %w", err))
		}
	}
}

// PreviewBulk previews an act by the computation with which BeginBulk chooses its runs, and refuses it as BeginBulk would. If Expect is
// 0, any number of runs will do: the preview reports the number to expect. It changes nothing.
func (a Acts) PreviewBulk(ctx context.Context, act Act) (*Preview, error) {
	if err := a.engine.CheckOpen(); err != nil {
		return nil, err
	}
	c, _, err := a.choose(ctx, &act, true)
	if err != nil {
		return nil, err
	}
	if act.Expect == 0 {
		act.Expect = c.preview.Count
	}
	if err := a.admit(&act, c); err != nil {
		return nil, err
	}
	return &c.preview, nil
}

// BeginBulk begins an act and returns its id once the choice of its runs is durable; AwaitBulk waits for its end. An act is refused as
// a whole, and nothing is journaled: with ErrAct if its query is empty or it is invalid, with a *CountError if the query does not select
// as many runs as it expects, with an *OverlapError if another act on one of the runs is under way. Before it begins, the acts that no
// engine works on are finished.
func (a Acts) BeginBulk(ctx context.Context, act Act) (uint64, error) {
	if err := a.engine.CheckOpen(); err != nil {
		return 0, err
	}
	a.begin.Lock()
	defer a.begin.Unlock()
	if _, _, err := act.check(time.Unix(0, a.engine.Now())); err != nil {
		return 0, err
	}
	if err := a.finishSuspended(ctx); err != nil {
		return 0, err
	}
	c, v, err := a.choose(ctx, &act, false)
	if err == nil {
		err = a.admit(&act, c)
	}
	if err != nil {
		return 0, err
	}
	_ = a.forget(ctx, 0, false, func(uint64, int64) error { return nil }) // otherwise the next act tries again
	act.Where = c.preview.Where
	defer a.registry.Use()() // until the act refers to its workflow
	d, err := a.write(context.WithoutCancel(ctx), act, v, c.targets)
	if err != nil {
		return 0, err
	}
	a.start(d)
	return d.id, nil
}

// admit refuses an act because of the runs that it has chosen.
func (a *acts) admit(act *Act, c *chosen) error {
	switch {
	case act.Expect != c.preview.Count:
		return &CountError{act.Expect, c.preview.Count}
	case c.preview.Count == 0:
		return fmt.Errorf("%w: the query selects no run", ErrAct)
	}
	return a.overlap(c.targets)
}

// overlap refuses runs that an act under way has chosen.
func (a *acts) overlap(targets []target) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.drivers) == 0 {
		return nil
	}
	wanted := make(map[string]bool, len(targets))
	for _, t := range targets {
		wanted[t.run] = true
	}
	var first *OverlapError
	for id, d := range a.drivers {
		if first != nil && id > first.Act {
			continue
		}
		if i := slices.IndexFunc(d.targets, func(t target) bool { return wanted[t.run] }); i >= 0 {
			first = &OverlapError{id, d.targets[i].run}
		}
	}
	if first == nil {
		return nil
	}
	return first
}

// write makes an act durable: first the act itself, then the runs that it has chosen.
func (a *acts) write(ctx context.Context, act Act, v *verb, targets []target) (*driver, error) {
	now := a.engine.Now()
	children, err := a.bundle(ctx, &act)
	if err != nil {
		return nil, err
	}
	if err := a.note(ctx, record(recordAsked, now, act.value(), journal.Detail{Actor: act.Actor, Reason: act.Reason})); err != nil {
		return nil, err
	}
	a.mu.Lock()
	id := a.index.all[len(a.index.all)-1].ID
	a.mu.Unlock()
	d := newDriver(a, id, act, v, targets, now)
	for batch := range slices.Chunk(append(act.how(now, children), chunks(targets, now)...), chunkBatch) {
		last, err := a.store.Append(ctx, journal.BulkStream(id), d.last, batch, journal.Head{})
		if err != nil {
			return nil, a.engine.ReadError(ctx, fmt.Errorf("note which runs act %d has chosen: %w", id, err))
		}
		d.last = last
	}
	return d, nil
}

// BulkActs yields all acts, the newest first.
func (a Acts) BulkActs(ctx context.Context) iter.Seq2[Status, error] {
	return func(yield func(Status, error) bool) {
		list, err := a.statuses(ctx)
		if err != nil {
			yield(Status{}, err)
			return
		}
		for _, s := range slices.Backward(list) {
			if s, err = a.counted(ctx, s); !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// BulkAct returns the status of an act. The error wraps ErrNotFound if no act has that id.
func (a Acts) BulkAct(ctx context.Context, id uint64) (Status, error) {
	list, err := a.statuses(ctx)
	if err != nil {
		return Status{}, err
	}
	if id == 0 || id > uint64(len(list)) {
		return Status{}, notFound(id, len(list))
	}
	return a.counted(ctx, list[id-1])
}

func notFound(id uint64, newest int) error {
	if newest == 0 {
		return fmt.Errorf("%w: %d; there has been none yet", ErrNotFound, id)
	}
	return fmt.Errorf("%w: %d; the newest is %d", ErrNotFound, id, newest)
}

// statuses returns the acts, the oldest first.
func (a *acts) statuses(ctx context.Context) ([]Status, error) {
	if err := a.engine.CheckOpen(); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.catchUp(ctx); err != nil {
		return nil, err
	}
	list := make([]Status, len(a.index.all))
	for i, one := range a.index.all {
		list[i] = one.Status
		if d := a.drivers[one.ID]; d != nil && !one.Over() {
			list[i] = d.status()
		}
	}
	return list, nil
}

// counted counts the outcomes of a suspended act so far.
func (a *acts) counted(ctx context.Context, s Status) (Status, error) {
	if s.State != Suspended {
		return s, nil
	}
	was, err := a.read(ctx, s.ID)
	for _, o := range was.outcomes {
		s.count(o)
	}
	return s, a.engine.ReadError(ctx, err)
}

func (s *Status) count(o Outcome) {
	switch o.Result {
	case Done:
		s.Done++
	case Already:
		s.Already++
	case Refused:
		s.Refused++
	}
}

// stored is an act as its stream records it.
type stored struct {
	how      Act            // of a rerun: its Rerun, without the workflow, and its Dir
	workflow *journal.Start // of a rerun or a move; nil: it has none
	begun    bool           // its choice is complete
	targets  []target
	outcomes []Outcome // of the first targets
	last     uint64    // sequence of the newest event
}

// read reads the stream of an act.
func (a *acts) read(ctx context.Context, id uint64) (s stored, err error) {
	for e, err := range a.store.Read(ctx, journal.BulkStream(id), 1) {
		if err == nil {
			err = Check(journal.BulkStream(id), &e)
		}
		if err != nil {
			return s, fmt.Errorf("read act %d: %w", id, err)
		}
		s.last = e.Seq
		switch e.Detail.State {
		case recordHow:
			s.workflow, _ = s.how.decodeHow(&e)
		case recordChosen:
			more, _ := targetsOf(&e)
			s.targets = append(s.targets, more...)
		case recordBegun:
			s.begun = true
		case recordDone:
			more, _ := outcomesOf(&e)
			s.outcomes = append(s.outcomes, more...)
		}
	}
	if len(s.outcomes) > len(s.targets) {
		err = fmt.Errorf("%w: act %d has more outcomes than chosen runs", journal.ErrDamaged, id)
	}
	return s, err
}

// BulkOutcomes yields the outcomes of an act, in the order in which it has chosen the runs. The error wraps ErrNotFound if they are no
// longer kept.
func (a Acts) BulkOutcomes(ctx context.Context, id uint64) iter.Seq2[Outcome, error] {
	return func(yield func(Outcome, error) bool) {
		status, err := a.BulkAct(ctx, id)
		if err != nil {
			yield(Outcome{}, err)
			return
		}
		was, err := a.read(ctx, id)
		if errors.Is(err, journal.ErrDeleted) || err == nil && len(was.targets) == 0 && status.State != Abandoned {
			err = fmt.Errorf("%w: the outcomes of act %d are no longer kept", ErrNotFound, id)
		}
		if err != nil {
			yield(Outcome{}, a.engine.ReadError(ctx, err))
			return
		}
		for i, t := range was.targets {
			o := Outcome{}
			if i < len(was.outcomes) {
				o = was.outcomes[i]
			}
			o.Run = t.run
			if status.Verb == verbRerun && o.Result == Done {
				o.New = newID(id, status.Began, t.run)
			}
			if !yield(o, nil) {
				return
			}
		}
	}
}

// AwaitBulk waits until an act has ended or no longer goes on: then its state is Suspended, and the error is the reason if this process
// has driven it.
func (a Acts) AwaitBulk(ctx context.Context, id uint64) (Status, error) {
	d := a.driver(id)
	if d == nil {
		a.begin.Lock() // an engine that has just started may be about to resume it
		d = a.driver(id)
		a.begin.Unlock()
	}
	if d != nil {
		select {
		case <-d.over:
		case <-ctx.Done():
			return Status{}, cancelled.Error(ctx)
		}
		if d.err != nil {
			return d.status(), d.err
		}
	}
	s, err := a.BulkAct(ctx, id)
	if s.State == Suspended {
		err = cmp.Or(a.failure(id), err)
	}
	return s, err
}

// failure returns the reason that this process no longer drives an act.
func (a *acts) failure(id uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.index.all[id-1].err
}

// driver returns the driver of an act here; nil: none.
func (a *acts) driver(id uint64) *driver {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.drivers[id]
}

// PreviewStopBulk returns the act that StopBulk would stop, or the error with which it would refuse.
func (a Acts) PreviewStopBulk(ctx context.Context, id uint64) (Status, error) {
	s, err := a.BulkAct(ctx, id)
	if err == nil && s.Over() {
		err = fmt.Errorf("%w: act %d is over: it is %s", ErrAct, id, s.State)
	}
	return s, err
}

// StopBulk stops an act: it asks no more runs, and undoes nothing. It returns when the act has ended. The error wraps ErrAct if the act
// is over already.
func (a Acts) StopBulk(ctx context.Context, id uint64, actor string) (Status, error) {
	s, err := a.PreviewStopBulk(ctx, id)
	if err = cmp.Or(err, limits.CheckActor(actor)); err != nil {
		return s, err
	}
	e := record(recordStopping, a.engine.Now(), map[string]any{"id": int64(id)}, journal.Detail{Actor: actor})
	if err := a.note(ctx, e); err != nil {
		return s, err
	}
	d := a.driver(id)
	if d == nil {
		a.begin.Lock() // one goroutine at a time finishes an act without a driver
		defer a.begin.Unlock()
		if err := a.finish(ctx, id); err != nil {
			return s, err
		}
		return a.BulkAct(ctx, id)
	}
	d.stopping.Store(true)
	return a.AwaitBulk(ctx, id)
}
