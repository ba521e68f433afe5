package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/find"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// commitsMax bounds the list of the newest groups of changes.
const commitsMax = 512

// group holds the changes between two places of the change log, each run once.
type group struct {
	after, to journal.Place
	runs      []changed
	taken     time.Time // when it was encoded for all observers; zero: for one observer
}

// changed is one run of a group, encoded once for all observers.
type changed struct {
	run     string
	seq     uint64       // of its newest event; 0: it was deleted
	head    journal.Head // zero: the run was deleted, maybe later
	encoded []byte       // a RunChange
	bare    []byte       // encoded without the names of awaited objects
	left    []byte       // the RunChange for observers whose query does not select the run
}

// changes follows the change log for all observers of all runs.
type changes struct {
	hub    *Hub
	ctx    context.Context
	cancel context.CancelFunc

	observers int // guarded by the hub

	mu    sync.Mutex
	place journal.Place // behind the newest group
	begun bool          // the place is known
	ring  []group
	err   error
	grown chan struct{} // closed by the next change; nil: no observer waits
}

// joinAll counts one more observer of all runs, and returns their changes.
func (h *Hub) joinAll() *changes {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.runs == nil {
		h.runs = &changes{hub: h}
		h.runs.ctx, h.runs.cancel = context.WithCancel(h.ctx)
		h.all.Go(h.runs.watch)
	}
	h.runs.observers++
	return h.runs
}

func (h *Hub) leaveAll(c *changes) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c.observers--; c.observers == 0 {
		c.cancel()
		h.retireAll(c)
	}
}

// retireAll makes later observers begin afresh. The caller holds mu.
func (h *Hub) retireAll(c *changes) {
	if h.runs == c {
		h.runs = nil
	}
}

// watch follows the change log until it has no observer.
func (c *changes) watch() {
	engine := c.hub.engine
	place, err := engine.Newest(c.ctx)
	for err == nil {
		c.mu.Lock()
		c.place, c.begun = place, true
		c.wake()
		c.mu.Unlock()
		var found group
		if err = engine.AwaitChange(c.ctx, place); err == nil {
			found, err = c.hub.groupAfter(c.ctx, place)
		}
		if errors.Is(err, journal.ErrGap) { // such as after a rebuild of the indexes: the observers detect that themselves
			found.to, err = engine.Newest(c.ctx)
		}
		if err == nil && found.to != place {
			c.hub.encoded.Add(int64(len(found.runs)))
			found.taken = time.Now()
			c.push(found)
			place = found.to
		}
	}
	if c.hub.ctx.Err() != nil {
		err = coordinator.ErrShutdown
	}
	c.hub.mu.Lock()
	c.hub.retireAll(c)
	c.hub.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	c.wake()
}

func (c *changes) push(g group) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ring) == commitsMax {
		c.ring[0] = group{}
		c.ring = c.ring[1:]
	}
	c.ring = append(c.ring, g)
}

func (c *changes) wake() {
	if c.grown != nil {
		close(c.grown)
		c.grown = nil
	}
}

// groupAfter reads and encodes the changes behind a place, up to now.
func (h *Hub) groupAfter(ctx context.Context, place journal.Place) (group, error) {
	newest, err := h.engine.Newest(ctx)
	if err != nil {
		return group{}, err
	}
	g := group{after: place, to: newest} // if no run has changed
	at := map[string]int{}
	for change, err := range h.engine.Changes(ctx, place) {
		if err != nil {
			return g, err
		}
		g.to = change.Place
		i, known := at[change.Run]
		if !known {
			i = len(g.runs)
			at[change.Run], g.runs = i, append(g.runs, changed{run: change.Run})
		}
		g.runs[i].seq = change.Last
	}
	for i := range g.runs {
		if err := h.describe(ctx, &g.runs[i]); err != nil {
			return g, err
		}
	}
	return g, nil
}

// describe reads the head of a run, and encodes the change. The head may be newer than the change; then another one follows.
func (h *Hub) describe(ctx context.Context, c *changed) error {
	what := RunChange{Run: c.run, Seq: c.seq, Deleted: c.seq == 0}
	if !what.Deleted {
		head, err := find.Head(ctx, h.engine, c.run)
		if err != nil && head.Run == "" {
			return err
		}
		if err != nil {
			head.Status, head.Open = coordinator.StatusDamaged, true
		}
		if head.Run != "" { // otherwise it was deleted since
			c.head, what.Head = head, api.RunOf(&head)
		}
	}
	var err error
	if c.encoded, err = encode(what); err == nil {
		c.bare = c.encoded
		if what.Head != nil && len(what.Head.Waits) > 0 {
			what.Head.Nameless()
			c.bare, err = encode(what)
		}
	}
	if err == nil {
		c.left, err = encode(RunChange{Run: c.run, Seq: c.seq, Left: true})
	}
	return err
}

// All observes the runs that a query selects, from behind a place, a former Frame.ID; "": from now on. The observer must be closed.
func (h *Hub) All(text, after string) (*ObserverOfAll, error) {
	q, err := query.Parse(text, time.Now())
	if err != nil {
		return nil, fmt.Errorf("%w: query: %w", api.ErrBadRequest, err)
	}
	return &ObserverOfAll{hub: h, changes: h.joinAll(), query: q, place: journal.Place(after), begun: after != ""}, nil
}

// ObserverOfAll follows the runs of a query. It belongs to one goroutine.
type ObserverOfAll struct {
	hub     *Hub
	changes *changes
	query   *query.Query
	place   journal.Place
	begun   bool

	nameless bool // see Wanted
}

// Next returns the next frame, as soon as there is one. If ctx ends, it returns the error of ctx, and can be called again.
func (o *ObserverOfAll) Next(ctx context.Context) (Frame, error) {
	for {
		f, grown, err := o.poll(ctx)
		if err != nil || grown == nil {
			return f, err
		}
		if err := o.hub.await(ctx, grown); err != nil {
			return Frame{}, err
		}
	}
}

// poll returns the next frame, or a channel to wait on.
func (o *ObserverOfAll) poll(ctx context.Context) (Frame, <-chan struct{}, error) {
	for {
		f, grown, err := o.shared()
		if err != nil || f.Kind != "" || grown != nil {
			return f, grown, err
		}
		if f, err = o.catchUp(ctx); err != nil || f.Kind != "" {
			return f, nil, err
		}
	}
}

// shared returns the next frame of the newest changes, or a channel to wait on. It returns neither if the observer is behind.
func (o *ObserverOfAll) shared() (Frame, <-chan struct{}, error) {
	c := o.changes
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun && !o.begun {
		o.begun, o.place = true, c.place
		return Frame{Kind: KindReady, ID: string(o.place), Data: []byte(`{}`)}, nil, nil
	}
	if c.begun && o.place != c.place {
		f := Frame{}
		if i := c.find(o.place); i >= 0 {
			f = o.join(c.ring[i:])
		}
		return f, nil, nil
	}
	if c.err != nil {
		return Frame{}, nil, c.err
	}
	if c.grown == nil {
		c.grown = make(chan struct{})
	}
	return Frame{}, c.grown, nil
}

// find returns the index in the ring of the group behind a place, or -1.
func (c *changes) find(place journal.Place) int {
	for i := len(c.ring) - 1; i >= 0; i-- {
		if c.ring[i].after == place {
			return i
		}
	}
	return -1
}

// join returns the frame of the first groups of a list, and moves behind them. The frame has no kind if no run is in them.
func (o *ObserverOfAll) join(list []group) Frame {
	data := []byte(`{"runs":[`)
	start := len(data)
	for i := range list {
		if i > 0 && len(data) > frameBytes {
			break
		}
		for j := range list[i].runs {
			if len(data) > start {
				data = append(data, ',')
			}
			data = append(data, o.changeFor(&list[i].runs[j])...)
		}
		o.place = list[i].to
	}
	if len(data) == start {
		return Frame{}
	}
	return Frame{Kind: KindUpdate, ID: string(o.place), Data: append(data, "]}"...), Since: list[0].taken}
}

// changeFor returns the encoding of a change for this observer.
func (o *ObserverOfAll) changeFor(c *changed) []byte {
	if c.head.Run != "" && !o.query.Matches(&c.head) {
		return c.left
	}
	if o.nameless {
		return c.bare
	}
	return c.encoded
}

// catchUp returns the frame of the changes in the log behind the observer's place.
func (o *ObserverOfAll) catchUp(ctx context.Context) (Frame, error) {
	g, err := o.hub.groupAfter(ctx, o.place)
	if errors.Is(err, journal.ErrGap) {
		newest, err := o.hub.engine.Newest(ctx)
		o.place = newest
		return Frame{Kind: KindReset, ID: string(newest), Data: []byte(`{}`)}, err
	}
	if err != nil {
		return Frame{}, err
	}
	return o.join([]group{g}), nil
}

// Close ends the observer.
func (o *ObserverOfAll) Close() { o.hub.leaveAll(o.changes) }
