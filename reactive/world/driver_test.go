package world_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow/machine"
	"github.com/sluiceflow/sluice/template/kinds"
	definition "github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/machine/attempt"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

type failer interface {
	require.TestingT
	Helper()
}

// planOf returns the plan of a world with machines in Go.
func planOf(t failer, text string, machines ...*machine.Definition) *plan.Plan {
	t.Helper()
	checked, err := kinds.Load("world.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(t, err)
	of, _ := definition.Of(checked.Workflow)
	for _, m := range machines {
		require.True(t, of.Provide(m.Code()))
	}
	p, err := plan.Compile(checked)
	require.NoError(t, err)
	return p
}

// host answers no call at once, and runs each activation of a machine in Go twice.
type host struct{}

func (host) Function(string, []any) (value.Value, *journal.Failure)     { panic("there are none") }
func (host) Pure(int32, any) (call.Result, bool)                        { return call.Result{}, false }
func (host) Reserve(reactive.Room) bool                                 { return true }
func (host) Lacks(w *definition.World, m *definition.Machine) (e error) { _, e = w.Own(m); return e }
func (host) Learned() uint64                                            { return 0 }

func (host) Activate(w *definition.World, in *definition.Input) (*definition.Output, *definition.Failure) {
	activate, err := w.Own(in.Machine)
	if err != nil {
		panic(err)
	}
	return attempt.Run(w, activate, in, true)
}

// store has the content and the journal of one run.
type store struct {
	content map[journal.Hash][]byte // nil: no content
	events  []journal.Event
	fetched int // number of read blobs
	written int // number of put blobs
}

func (s *store) fetch(hash journal.Hash) ([]byte, error) {
	s.fetched++
	data, ok := s.content[hash]
	if !ok {
		return nil, journal.ErrNotFound
	}
	if sha256.Sum256(data) != hash {
		return nil, journal.ErrDamaged
	}
	return data, nil
}

func (s *store) put(blobs [][]byte) error {
	s.written += len(blobs)
	for _, b := range blobs {
		s.content[sha256.Sum256(b)] = b
	}
	return nil
}

// journal returns the encoded events.
func (s *store) journal(t failer) []byte {
	t.Helper()
	data, err := encoded(s.events)
	require.NoError(t, err)
	return data
}

func encoded(events []journal.Event) (data []byte, err error) {
	var codec journal.Codec
	for i := range events {
		if data, err = codec.Append(data, &events[i]); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// driver drives a world like an engine: it stores the events of a turn, and every later root reads them.
type driver struct {
	t    failer
	plan *plan.Plan
	store
	root *reactive.Root
	step *decide.Stepper
	now  int64 // Unix nanoseconds

	check   func() error // after each turn; nil: nothing
	crashes func() bool  // reports whether a turn ends with a crash; nil: never
	cuts    *rand.Rand   // place at which a crash cuts the events of a turn; nil: no cuts
	cache   world.Cache  // of cells at rest
	apart   bool         // events are not stored
	forgets bool         // worlds keep as little in memory as they can
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// drive starts a run of a world.
func drive(t failer, text string) *driver { return begin(t, planOf(t, text), true) }

// begin starts a run with or without content.
func begin(t failer, p *plan.Plan, content bool) *driver {
	d := &driver{t: t, plan: p, now: epoch}
	if content {
		d.content = map[journal.Hash][]byte{}
	}
	d.use(d.empty())
	first := decide.Started("r", p, nil, decide.Limits{})
	first.Detail.Start.Seed = bytes.Repeat([]byte{7}, 32)
	require.NoError(t, d.take(first))
	return d
}

// forgetful makes a run keep as little in memory as possible from its begin.
func (d *driver) forgetful() *driver {
	d.forgets = true
	world.Forgetful(d.world())
	return d
}

// spill writes states that are too large as content.
func (d *driver) spill() {
	if s := d.world().Spill(); s != nil {
		require.NoError(d.t, s.Write(d.put))
		d.world().Spilled(s)
	}
}

func (d *driver) world() *world.World { return world.Of(d.root) }

func (d *driver) empty() *reactive.Root {
	root := decide.NewRoot(d.plan)
	if d.content != nil {
		world.Of(root).Content(d.fetch, 0, d.cache)
	}
	if d.forgets {
		world.Forgetful(world.Of(root))
	}
	return root
}

func (d *driver) use(root *reactive.Root) {
	root.TakeCalls()
	root.TakeCancels()
	d.root, d.step = root, decide.NewStepper(root, host{})
}

// take sends a command.
func (d *driver) take(e journal.Event) (refused error) {
	it := command(e, &refused)
	it.Received = d.now
	d.turn(it)
	return refused
}

// turn takes turns until no event follows, the first with the items.
func (d *driver) turn(items ...decide.Item) {
	for more := true; more; items = nil {
		out := d.step.Step(d.now, items)
		require.NoError(d.t, out.Err)
		more = out.More
		batch := out.Batch
		if d.cuts != nil && d.cuts.IntN(2) == 0 && len(batch) > len(items) {
			batch, more = batch[:len(items)+d.cuts.IntN(len(batch)-len(items))], true
		}
		d.keep(batch)
		for _, r := range out.Replies {
			r.To(r.Err)
		}
		if d.check != nil {
			require.NoError(d.t, d.check())
		}
		if len(batch) < len(out.Batch) || d.crashes != nil && d.crashes() {
			d.recover()
		}
		d.spill()
	}
}

// keep appends events to the journal.
func (d *driver) keep(batch []journal.Event) {
	if d.apart {
		for _, e := range batch {
			e.Hint = 0
			d.events = append(d.events, e)
		}
		return
	}
	data, err := encoded(batch)
	require.NoError(d.t, err)
	var codec journal.Codec
	d.events, err = codec.DecodeAll(d.events, data)
	require.NoError(d.t, err)
}

// recover continues like the process after a crash.
func (d *driver) recover() {
	for i := len(d.events) - 1; i > 0 && d.content != nil; i-- {
		if e := d.events[i]; e.Type == journal.WorldSnapshotted {
			root, err := d.restored(&e)
			require.NoError(d.t, err)
			d.use(root)
			return
		}
	}
	root := d.empty()
	require.NoError(d.t, d.apply(root, 0))
	d.use(root)
}

// apply applies the events after a sequence to a root.
func (d *driver) apply(root *reactive.Root, after uint64) error {
	for i := after; i < uint64(len(d.events)); i++ {
		e := d.events[i]
		if err := world.Of(root).Check(&e); err != nil {
			return err
		}
		root.Apply(&e)
	}
	return world.Of(root).Err()
}

// replayed returns the root of all events, without content.
func (d *driver) replayed() *reactive.Root {
	root := decide.NewRoot(d.plan)
	require.NoError(d.t, d.apply(root, 0))
	return root
}

// restored returns the root of a snapshot and the events that follow.
func (d *driver) restored(snapshot *journal.Event) (*reactive.Root, error) {
	root := d.empty()
	first := d.events[0]
	root.Apply(&first)
	upto, err := world.Of(root).Restore(snapshot)
	if err != nil {
		return nil, err
	}
	return root, d.apply(root, upto)
}

// snapshot writes a snapshot of the world.
func (d *driver) snapshot() journal.Event { return d.land(d.world().Freeze()) }

// land writes a snapshot and appends its event.
func (d *driver) land(s *world.Snapshot) journal.Event {
	e, err := s.Write(d.put)
	require.NoError(d.t, err)
	at := len(d.events)
	d.turn(decide.Item{Event: e})
	return d.events[at]
}

func (d *driver) send(name string, payload any, id string) error {
	return d.take(journal.Event{Type: journal.MessageReceived, Value: payload, Detail: &journal.Detail{Name: name, ID: id}})
}

// answer ends a call.
func (d *driver) answer(req reactive.Request, r call.Result) {
	e := decide.Ending(req, r)
	e.Node = d.root.Key(req.Node)
	d.turn(decide.Item{Event: e})
}

// ended returns the item of the end of an attempt of a call, which may already have ended.
func (d *driver) ended(key string, attempt int32, result call.Result) decide.Item {
	v, ok := d.root.Node(key)
	var e journal.Event
	if ok {
		e = decide.Ending(d.root.Request(v, attempt), result)
	} else {
		e = journal.Event{Type: journal.CallResponded, Attempt: attempt, Value: result.Output}
		if result.Failure != nil {
			e.Type, e.Value, e.Detail = journal.CallError, nil, &journal.Detail{Failure: result.Failure}
		}
	}
	e.Node, e.Hint = key, 0
	return decide.Item{Event: e}
}

// command returns an item that stores the refusal of the command, if any.
func command(e journal.Event, refused *error) decide.Item {
	if e.Detail == nil {
		e.Detail = &journal.Detail{}
	}
	return decide.Item{Event: e, Reply: func(err error) { *refused = err }}
}

func message(name, id string, payload any, refused *error) decide.Item {
	return command(journal.Event{Type: journal.MessageReceived, Value: payload, Detail: &journal.Detail{Name: name, ID: id}}, refused)
}

// digest returns all state that determines the future of a run.
func (d *driver) digest(root *reactive.Root) string {
	var b strings.Builder
	root.Digest(&b, d.now)
	require.NoError(d.t, world.Of(root).Err())
	calls := root.OpenCalls()
	names := make([]string, len(calls))
	for i, c := range calls {
		names[i] = reactive.CallName(root.Key(c.Node), c.Attempt, c.Participant, c.Decision)
	}
	var cells strings.Builder
	for c := range world.Of(root).Cells() {
		fmt.Fprintf(&cells, "%s %s last=%d active=%d", c.Address, c.Status, c.Last, c.Active.UnixNano())
		for _, x := range c.Intents {
			fmt.Fprintf(&cells, " %s %s %s %d", x.Key, x.ID, x.Call, x.Attempts)
		}
		cells.WriteString(";")
	}
	return fmt.Sprintf("%s\n%s\ncalls %v due %d at %d tail %d %+v %s", b.String(), cells.String(), names, root.NextDue(), root.At(), root.Tail(), world.Of(root).Tally(), root.RunStatus())
}

// activations returns the activated cells, in order. It distinguishes failed activations from other failures by the newest
// activation of their cell.
func (d *driver) activations() (list []string) {
	root := decide.NewRoot(d.plan)
	for _, e := range d.events {
		root.Apply(&e)
		c, _ := world.Of(root).Cell(e.Node)
		if e.Type == journal.CellStepped || e.Type == journal.CellFailed && c.Last == e.Seq {
			list = append(list, e.Node)
		}
	}
	return list
}
