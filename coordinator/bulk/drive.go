package bulk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// The pace of an act: it records the outcomes of sliceRuns runs as a whole, and asks atOnce of them at the same time, for which the
// appends of others wait. With 32 in place of 2, an act is twice as fast, and the slowest appends of others take four to eleven times as
// long. doubtRuns bounds the slices of all versions of the program.
const (
	sliceRuns = 256
	atOnce    = 2
	doubtRuns = 256
)

// driver carries out an act.
type driver struct {
	*acts
	id       uint64
	stream   string
	act      Act
	verb     *verb
	targets  []target
	next     int    // of these, the first that is not recorded
	last     uint64 // sequence of the stream's newest event
	doubt    int    // of these, the first that no dead process can have asked
	stopping atomic.Bool
	over     chan struct{} // closed when the driver ends
	err      error         // the reason, if the act has not ended; set before over is closed

	count sync.Mutex
	so    Status
}

func newDriver(a *acts, id uint64, act Act, v *verb, targets []target, began int64) *driver {
	d := &driver{acts: a, id: id, stream: journal.BulkStream(id), act: act, verb: v, targets: targets, over: make(chan struct{})}
	d.so = Status{Act: act, ID: id, State: Running, Began: began}
	return d
}

// status returns the status of the act.
func (d *driver) status() Status {
	d.count.Lock()
	defer d.count.Unlock()
	return d.so
}

// start drives an act on a goroutine of the engine.
func (a *acts) start(d *driver) {
	a.mu.Lock()
	a.drivers[d.id] = d
	a.mu.Unlock()
	a.engine.Go(func() { d.goOn(a.engine.Draining()) })
}

// goOn drives the act until the act or the context ends.
func (d *driver) goOn(ctx context.Context) {
	d.err = usercode.Call(func() error { return d.drive(ctx) })
	d.mu.Lock()
	delete(d.drivers, d.id)
	d.index.all[d.id-1].err = d.err
	d.mu.Unlock()
	if d.err != nil {
		d.count.Lock()
		d.so.State = Suspended
		d.count.Unlock()
		d.report(ctx, d.err)
	}
	close(d.over)
}

// inDoubt reports whether a process that died may have asked runs of the next slice.
func (d *driver) inDoubt() bool { return d.next < d.doubt }

// drive asks the runs that have not been asked, slice by slice, and records the outcome of each slice, and then of the act.
func (d *driver) drive(ctx context.Context) error {
	for {
		if err := d.act.missing(); err != nil && !d.stopping.Load() {
			return fmt.Errorf("act %d cannot go on in this process: %w", d.id, err)
		}
		left := d.targets[d.next:]
		if len(left) == 0 || d.stopping.Load() && !d.inDoubt() {
			return d.end(ctx)
		}
		slice := left[:min(len(left), int(d.slice.Load()))]
		outcomes := d.ask(ctx, slice)
		if err := errors.Join(context.Cause(ctx), d.engine.CheckOpen()); err != nil {
			return fmt.Errorf("act %d goes on later: %w", d.id, err)
		}
		if err := d.record(ctx, outcomes); err != nil {
			return err
		}
	}
}

// ask asks the runs of a slice. A run without a result was not asked, or the answer is unknown.
func (d *driver) ask(ctx context.Context, slice []target) []Outcome {
	outcomes := make([]Outcome, len(slice))
	looks := d.inDoubt() && d.stopping.Load()
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(atOnce, len(slice)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(slice) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				outcomes[i] = d.askOne(ctx, &request{driver: d, target: slice[i]}, looks)
			}
		})
	}
	all.Wait()
	return outcomes
}

// askOne asks one run, unless its journal says that the act has done so already. If looks is true, it only looks for that.
func (d *driver) askOne(ctx context.Context, a *request, looks bool) (o Outcome) {
	exists, err := d.engine.Exists(ctx, a.run)
	gone := err == nil && !exists || errors.Is(err, journal.ErrDeleted)
	if err != nil && !gone {
		return a.outcomeOf(ctx, err)
	}
	if d.inDoubt() {
		found, err := d.found(ctx, a, gone)
		if ctx.Err() != nil || errors.Is(err, journal.ErrClosed) {
			return Outcome{}
		}
		if found && (!d.verb.steps || looks) {
			return Outcome{Result: Done}
		}
	}
	switch {
	case looks:
		return Outcome{}
	case gone:
		return d.verb.deleted()
	}
	if err := usercode.Call(func() error { o = d.verb.carry(ctx, a); return nil }); err != nil {
		return Outcome{Result: Refused, Why: plain(a.run, err)}
	}
	return o
}

// found reports whether the act had acted on a run before its process died.
func (d *driver) found(ctx context.Context, a *request, gone bool) (found bool, err error) {
	switch {
	case d.verb.makes:
		return d.reran(ctx, a.run)
	case gone || d.verb.kind == 0:
		return gone && d.verb.kind == 0, nil
	}
	found, a.did, err = d.marked(ctx, a.run)
	return found, err
}

// record makes the outcomes of a slice durable.
func (d *driver) record(ctx context.Context, outcomes []Outcome) error {
	e := record(recordDone, d.engine.Now(), outcomesValue(outcomes), journal.Detail{})
	last, err := d.store.Append(ctx, journal.BulkStream(d.id), d.last, []journal.Event{e}, journal.Head{})
	if err != nil {
		return d.engine.ReadError(ctx, fmt.Errorf("note what act %d has done: %w", d.id, err))
	}
	d.last, d.next = last, d.next+len(outcomes)
	d.count.Lock()
	defer d.count.Unlock()
	for _, o := range outcomes {
		d.so.count(o)
	}
	return nil
}

// end records that the act has ended.
func (d *driver) end(ctx context.Context) error {
	so := d.status()
	state := Completed
	if so.Left() > 0 {
		state = Stopped
	}
	return d.note(ctx, record(string(state), d.engine.Now(), so.ending(), journal.Detail{}))
}

// revive returns the driver of an act that no process works on; nil if the act never began: it is abandoned.
func (a *acts) revive(ctx context.Context, s *entry) (*driver, error) {
	was, err := a.read(ctx, s.ID)
	if err != nil {
		return nil, a.engine.ReadError(ctx, err)
	}
	if !was.begun {
		return nil, a.note(ctx, record(string(Abandoned), a.engine.Now(), s.ending(), journal.Detail{}))
	}
	v, err := verbOf(s.Verb)
	if err != nil {
		return nil, fmt.Errorf("act %d: %w", s.ID, err)
	}
	act := s.Act
	act.Rerun, act.Dir = was.how.Rerun, was.how.Dir
	if err := a.unbundle(ctx, &act, was.workflow); err != nil {
		return nil, fmt.Errorf("act %d: %w", s.ID, a.engine.ReadError(ctx, err))
	}
	d := newDriver(a, s.ID, act, v, was.targets, s.Began)
	d.last, d.next, d.doubt = was.last, len(was.outcomes), len(was.outcomes)+doubtRuns
	d.stopping.Store(s.stopping)
	for _, o := range was.outcomes {
		d.so.count(o)
	}
	return d, nil
}

// suspended returns the acts that no engine works on.
func (a *acts) suspended(ctx context.Context) (list []*entry, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.catchUp(ctx); err != nil {
		return nil, err
	}
	for _, one := range a.index.all {
		if !one.Over() && a.drivers[one.ID] == nil {
			list = append(list, &entry{Status: one.Status, stopping: one.stopping})
		}
	}
	return list, nil
}

// finishSuspended finishes the acts that no engine works on.
func (a *acts) finishSuspended(ctx context.Context) error {
	list, err := a.suspended(ctx)
	for i := 0; i < len(list) && err == nil; i++ {
		err = a.finish(ctx, list[i].ID)
	}
	return err
}

// finish finishes a suspended act.
func (a *acts) finish(ctx context.Context, id uint64) error {
	list, err := a.suspended(ctx)
	for _, one := range list {
		if one.ID != id {
			continue
		}
		d, err := a.revive(ctx, one)
		if d == nil || err != nil {
			return err
		}
		a.start(d)
		select {
		case <-d.over:
			return d.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return err
}

// report logs the reason that acts do not go on, unless the engine is shutting down.
func (a *acts) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, decide.ErrShutdown) {
		a.engine.Report("an act on many runs cannot go on", "", err)
	}
}

// GoOn resumes the acts that no process works on. It returns at once.
func GoOn(a Acts) {
	a.begin.Lock() // so that queries about the act find it going on
	a.engine.Go(func() {
		ctx := a.engine.Draining()
		defer a.begin.Unlock()
		list, err := a.suspended(ctx)
		for _, one := range list {
			d, failed := a.revive(ctx, one)
			if err = errors.Join(err, failed); d != nil && failed == nil {
				a.start(d)
			}
		}
		a.report(ctx, err)
	})
}
