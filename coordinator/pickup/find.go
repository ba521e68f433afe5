package pickup

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Found are the unfinished runs that an engine takes up when it begins: those that move, those with an open call of a run, and those
// whose timers are due first. Others are not counted.
type Found struct {
	Open       []journal.Head   // in order of id
	Unreadable map[string]error // by run: the error of reading its head
	Later      journal.Position // behind it are timers of runs that are not among them; zero: there are none
}

// dueMost bounds the timers that an engine holds for runs that it has not loaded.
const dueMost = 10_000

// The statuses of unfinished runs that an engine takes up at once, and of those that sleep.
var (
	moving   = []string{"running", "paused"}
	sleeping = "waiting"
)

// FindOf is Find, or Family for a run.
func (r *Runs) FindOf(ctx context.Context, store journal.Store, run string) (Found, error) {
	if run != "" {
		return r.Family(ctx, store, run)
	}
	return r.Find(ctx, store)
}

// Find reads the heads of the runs to be taken up. If the engine chooses runs, Find reads the heads of all unfinished ones; if the engine
// drives none, because it only answers a command, Find reads none.
func (r *Runs) Find(ctx context.Context, store journal.Store) (Found, error) {
	if err := r.held.Read(ctx); err != nil {
		return Found{}, err
	}
	if r.none {
		return Found{}, nil
	}
	f := finder{ctx: ctx, store: store, runs: r, heads: map[string]journal.Head{}, unreadable: map[string]error{}}
	statuses := moving
	if r.wants != nil {
		statuses = append(slices.Clone(moving), sleeping)
	}
	for _, status := range statuses {
		f.add(journal.Query{Index: journal.ByStatus, Key: status}, 0)
	}
	f.add(journal.Query{Index: journal.ByChild}, 0)
	f.addParents()
	later := journal.Position{}
	if r.wants == nil {
		later = f.add(journal.Query{Index: journal.ByDue, Oldest: true}, dueMost)
	}
	return f.chosen(later), f.err
}

// Family is Find for one run and those that belong to it.
func (r *Runs) Family(ctx context.Context, store journal.Store, run string) (Found, error) {
	f := finder{ctx: ctx, store: store, runs: r, heads: map[string]journal.Head{}, unreadable: map[string]error{}}
	f.addOne(run)
	for head, err := range store.Heads(ctx, run+"/") {
		if head.Run != "" && !strings.HasPrefix(head.Run, run+"/") || !f.take(head.Run, &head, err) {
			break
		}
	}
	return f.chosen(journal.Position{}), f.err
}

// chosen returns the runs that were found and go on here.
func (f *finder) chosen(later journal.Position) Found {
	out := Found{Unreadable: f.unreadable, Later: later}
	for _, run := range slices.Sorted(maps.Keys(f.heads)) {
		if head := f.heads[run]; f.runs.Choose(head) {
			out.Open = append(out.Open, head)
		}
	}
	return out
}

// finder collects heads.
type finder struct {
	ctx        context.Context
	store      journal.Store
	runs       *Runs
	heads      map[string]journal.Head
	unreadable map[string]error
	err        error
}

// add adds the unfinished ones of the first most runs of a list; most 0: of all. It returns the position of the last run if there may be
// more.
func (f *finder) add(q journal.Query, most int) (last journal.Position) {
	if f.err != nil {
		return last
	}
	n := 0
	for head, err := range f.store.List(f.ctx, q) {
		switch {
		case unreadable(&head, err):
			f.unreadable[head.Run] = err
		case err != nil:
			f.err = err
			return last
		case head.Open:
			f.heads[head.Run] = head
		}
		if n++; n == most {
			return journal.PositionOf(q.Index, &head)
		}
	}
	return last
}

// addParents adds the runs whose calls have started those that were found: they may sleep.
func (f *finder) addParents() {
	missing := map[string]bool{}
	for run := range f.heads {
		for parent := journal.ParentRun(run); parent != ""; parent = journal.ParentRun(parent) {
			if _, found := f.heads[parent]; !found {
				missing[parent] = true
			}
		}
	}
	for _, run := range slices.Sorted(maps.Keys(missing)) {
		f.addOne(run)
	}
}

// addOne adds a run if it is unfinished.
func (f *finder) addOne(run string) {
	for head, err := range headOf(f.ctx, f.store, run) {
		f.take(run, &head, err)
	}
}

// take adds a head that was read, if it is of an unfinished run. It reports false if reading has failed.
func (f *finder) take(run string, head *journal.Head, err error) bool {
	switch {
	case unreadable(head, err):
		f.unreadable[run] = err
	case err != nil:
		f.err = err
	case head.Open:
		f.heads[run] = *head
	}
	return f.err == nil
}

// headOf yields the head of a run, if there is one.
func headOf(ctx context.Context, store journal.Store, run string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		before := run[:len(run)-1]
		if last := run[len(run)-1]; last > 0 { // no id lies between this one and the wanted one
			before += string([]byte{last - 1, 0xff})
		}
		for head, err := range store.Heads(ctx, before) {
			if head.Run == run || head.Run == "" {
				yield(head, err)
			}
			return
		}
	}
}

func unreadable(head *journal.Head, err error) bool {
	return err != nil && head.Run != "" && (errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion))
}

// Sleeping yields the runs whose timers are due first behind a position, at most dueMost. later is the position from which to go on;
// zero: there are no more.
func (r *Runs) Sleeping(ctx context.Context, store journal.Store, behind journal.Position) (list []journal.Head, later journal.Position, err error) {
	f := finder{ctx: ctx, store: store, runs: r, heads: map[string]journal.Head{}, unreadable: map[string]error{}}
	later = f.add(journal.Query{Index: journal.ByDue, Oldest: true, After: behind}, dueMost)
	return f.chosen(later).Open, later, f.err
}

// laterPrefix begins the name of an alarm for the timers behind a position. No run has such a name.
const laterPrefix = "#"

// AlarmOf returns the name of the alarm for the timers behind a position.
func AlarmOf(p journal.Position) string { return fmt.Sprintf("%s%d/%s", laterPrefix, p.At, p.Run) }

// Behind returns the position in the name of an alarm; it reports false for the name of a run.
func Behind(alarm string) (p journal.Position, ok bool) {
	text, ok := strings.CutPrefix(alarm, laterPrefix)
	at, run, _ := strings.Cut(text, "/")
	n, err := strconv.ParseInt(at, 10, 64)
	return journal.Position{At: n, Run: run}, ok && err == nil
}
