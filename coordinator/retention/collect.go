package retention

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/sluiceflow/sluice/internal/pace"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Kinds of collected objects.
const (
	KindRun        = "run"        // Name: its id
	KindAct        = "act"        // Name: the number of an act on many runs, whose outcomes were kept
	KindDefinition = "definition" // Name: its hash
	KindValue      = "blob"       // Name: the hash of a large value
	KindContent    = "content"    // Name: the id of the world whose content it was
)

// Gone is an object that was deleted, or would be.
type Gone struct {
	Kind  string // a Kind… constant
	Name  string // see there
	Blobs int    // of content
	Bytes int64  // approximate; 0 for content
}

// Collection configures a Collect.
type Collection struct {
	Dry    bool             // nothing is deleted
	Beside bool             // other work goes on: Collect pauses after each slice
	Found  func(Gone) error // is called with each deletion; its error ends the collection. Default: none
	Rules  []Rule           // in place of the rules of the store; nil: the rules of the store
}

// Collected counts deletions, done or previewed.
type Collected struct {
	Runs        int   // with those below them
	Acts        int   // on many runs, that have ended
	Definitions int   // to which no run and no name refers any longer
	Values      int   // large ones, to which no event refers any longer
	Content     int   // blobs that worlds no longer need
	Bytes       int64 // of all except content, approximate
	Failed      int   // runs that cannot be read, and stay
}

// Collect deletes the runs whose time is over by the rules, and then definitions, large values and content of worlds without references,
// also those that earlier deletions have left behind. It may be stopped at any moment, and goes on when it is called again. If events
// cannot be read, their references are unknown: definitions and large values then stay, and Collect returns that error at the end.
func (r Retention) Collect(ctx context.Context, how Collection) (Collected, error) {
	if err := r.engine.CheckOpen(); err != nil {
		return Collected{}, err
	}
	for i := range how.Rules {
		if err := how.Rules[i].check(); err != nil {
			return Collected{}, err
		}
	}
	c := &collector{Retention: r, how: how, now: r.engine.Now(), gone: map[string]bool{}}
	if how.Beside {
		c.pace = pace.Resting(4)
	}
	err := c.collect(ctx)
	return c.done, r.engine.ReadError(ctx, err)
}

// collector is a Collect under way.
type collector struct {
	Retention
	how   Collection
	now   int64
	times *times
	pace  pace.Pace
	done  Collected
	slice []family
	gone  map[string]bool // runs without a parent that a dry collection would delete
	err   error           // of Found
}

// family is a run and those below it, whose time is over.
type family struct {
	heads []journal.Head
	bytes []int64
	err   error
}

func (c *collector) collect(ctx context.Context) error {
	rules := c.how.Rules
	if rules == nil {
		var err error
		if rules, _, err = c.read(ctx); err != nil {
			return err
		}
	}
	var err error
	if c.times, err = timesOf(rules, c.now); err != nil {
		return err
	}
	if least, ok := c.times.least(); ok {
		if err := c.collectRuns(ctx, c.now-int64(least)); err != nil {
			return err
		}
	}
	if err := c.collectActs(ctx); err != nil {
		return err
	}
	if err := c.sweepWorlds(ctx); err != nil {
		return err
	}
	return c.sweep(ctx)
}

// collectActs deletes the outcomes of acts on many runs that have ended, by the rule for runs that no other rule selects.
func (c *collector) collectActs(ctx context.Context) error {
	if c.forget == nil {
		return nil
	}
	before := int64(0)
	if c.times.rest != Forever {
		before = c.now - int64(c.times.rest)
	}
	err := c.forget(ctx, before, c.how.Dry, func(act uint64, bytes int64) error {
		c.done.Acts++
		if c.how.Dry {
			c.gone[journal.BulkStream(act)] = true
		}
		return errors.Join(c.found(Gone{Kind: KindAct, Name: strconv.FormatUint(act, 10), Bytes: bytes}), c.pace.Rest(ctx))
	})
	if errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion) {
		return nil // they stay, and doctor reports the reason
	}
	return err
}

// collectRuns deletes the runs whose time is over. It skips runs that were started after latest: their time is not over.
func (c *collector) collectRuns(ctx context.Context, latest int64) error {
	looked := 0
	for head, err := range c.store.List(ctx, journal.Query{Index: journal.ByStart, Oldest: true}) {
		switch {
		case err != nil && head.Run == "":
			return err
		case err != nil:
			c.done.Failed++
			continue
		case head.Started > latest:
			return c.flush(ctx)
		}
		if journal.ParentRun(head.Run) == "" && !head.Open {
			if err := c.look(ctx, &head); err != nil {
				return err
			}
		}
		if looked++; looked%lookSlice == 0 || len(c.slice) == deleteSlice {
			if err := c.flush(ctx); err != nil {
				return err
			}
		}
	}
	return c.flush(ctx)
}

// Bounds of a slice: runs that are read, and families that are deleted.
const (
	lookSlice   = 512
	deleteSlice = 128
)

// look adds the family of a run to the slice if the time of each run in it is over.
func (c *collector) look(ctx context.Context, head *journal.Head) error {
	if !c.over(head) || c.engine.Holds(head.Run) || c.holds.Incomplete(head.Run) {
		return nil
	}
	heads, err := c.family(ctx, head.Run, false)
	switch {
	case errors.Is(err, decide.ErrNotPossible):
		return nil // one is open
	case errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion):
		c.done.Failed++
		return nil
	case err != nil:
		return err
	}
	f := family{heads: heads, bytes: make([]int64, len(heads))}
	for i := range heads {
		if heads[i].Open || !c.over(&heads[i]) || c.engine.Holds(heads[i].Run) {
			return nil
		}
		if f.bytes[i], err = c.store.Size(ctx, heads[i].Run); err != nil {
			return err
		}
	}
	c.slice = append(c.slice, f)
	return nil
}

// over reports whether the time of a run is over.
func (c *collector) over(h *journal.Head) bool {
	until, ok := c.times.until(h)
	return ok && c.now >= until
}

// flush deletes the families of the slice at the same time, so that they share commits, and pauses.
func (c *collector) flush(ctx context.Context) error {
	var all sync.WaitGroup
	for i := range c.slice {
		f := &c.slice[i]
		if c.how.Dry {
			c.gone[f.heads[0].Run] = true
			continue
		}
		all.Go(func() { f.err = c.deleteAll(ctx, f.heads, tombstoneOf(c.times, f.heads, c.now)) })
	}
	all.Wait()
	for i := range c.slice {
		f := &c.slice[i]
		if errors.Is(f.err, decide.ErrNotPossible) || errors.Is(f.err, journal.ErrDeleted) {
			continue // it was reopened, or deleted, meanwhile
		}
		if f.err != nil {
			return f.err
		}
		for j := range f.heads {
			c.done.Runs++
			if err := c.found(Gone{Kind: KindRun, Name: f.heads[j].Run, Bytes: f.bytes[j]}); err != nil {
				return err
			}
		}
	}
	c.slice = c.slice[:0]
	return c.pace.Rest(ctx)
}

// found reports something that was deleted.
func (c *collector) found(g Gone) error {
	c.done.Bytes += g.Bytes
	if c.how.Found == nil {
		return nil
	}
	return c.how.Found(g)
}

// sweepWorlds deletes the content of open worlds that they no longer need.
func (c *collector) sweepWorlds(ctx context.Context) error {
	for _, status := range []string{"running", "waiting", "paused"} {
		looked := 0
		for head, err := range c.store.List(ctx, journal.Query{Index: journal.ByStatus, Key: status}) {
			if err != nil && head.Run == "" {
				return err
			}
			if looked++; looked%lookSlice == 0 {
				if err := c.pace.Rest(ctx); err != nil {
					return err
				}
			}
			if err != nil || !head.Open || head.Snapshot == 0 {
				continue
			}
			if err := c.sweepWorld(ctx, head.Run); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *collector) sweepWorld(ctx context.Context, run string) error {
	deleted, err := c.engine.SweepContent(ctx, run, c.how.Dry)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // it is parked, or damaged: its needs are unknown
		c.done.Failed++
		return nil
	}
	if c.done.Content += deleted; deleted > 0 {
		err = c.found(Gone{Kind: KindContent, Name: run, Blobs: deleted})
	}
	return errors.Join(err, c.pace.Rest(ctx))
}

// sweep deletes definitions and large values to which nothing refers.
func (c *collector) sweep(ctx context.Context) error {
	uses, end := c.engine.WatchDefinitions()
	defer end()
	w := &journal.StreamSweep{Now: c.now, Dry: c.how.Dry, Keep: uses, Pause: c.rest, Found: c.swept}
	if c.how.Dry {
		w.Keep = nil
		w.Gone = func(run string) bool { root, _, _ := strings.Cut(run, "/"); return c.gone[root] || c.gone[run] }
	}
	if err := c.store.SweepStreams(ctx, w); err != nil {
		return fmt.Errorf("definitions and large values stay: %w", err)
	}
	return c.err
}

func (c *collector) rest(ctx context.Context) error { return errors.Join(c.err, c.pace.Rest(ctx)) }

func (c *collector) swept(stream string, bytes int64) {
	kind, name := KindDefinition, journal.DefinitionIn(stream)
	if name != "" {
		c.done.Definitions++
	} else {
		kind, name = KindValue, journal.BlobIn(stream)
		c.done.Values++
	}
	if err := c.found(Gone{Kind: kind, Name: name, Bytes: bytes}); c.err == nil {
		c.err = err
	}
}
