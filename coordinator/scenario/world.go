package scenario

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/scenario/expected"
	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// The parts of a scenario that only worlds have: cells with a first state, and messages, activations and calls by cell.

// givenCell is a cell with a state before the run starts.
type givenCell struct {
	pos     document.Pos
	address string
	state   value.Value
}

// given reads the first states of cells.
func (r *reader) given(n *document.Node) (list []givenCell) {
	r.Each(n, func(address string, v *document.Node) {
		list = append(list, givenCell{v.Pos, address, v.Value()})
	})
	return list
}

// setFirstStates sets the first states of cells in this engine, and records them for engines after a crash. It reports all faults together.
func (t *track) setFirstStates(cells []givenCell) error {
	var errs document.Errors
	for _, c := range cells {
		err := fmt.Errorf("only worlds have cells")
		if w := t.world(); w != nil {
			err = w.Given(c.address, c.state)
		}
		if err != nil {
			errs.Add(&document.Error{Pos: c.pos, Msg: err.Error(), Err: err})
		}
	}
	t.given = cells
	_ = t.rebuild() // there is no snapshot yet
	return errs.Err()
}

// restoreFirstStates sets the first states of cells in a new engine. They were accepted before. An engine restored from a snapshot has them
// already.
func (t *track) restoreFirstStates() {
	if w := world.Of(t.root); w != nil {
		for _, c := range t.given {
			_ = w.Given(c.address, c.state)
		}
	}
}

// world returns the world of the run as an observer sees it, or nil for a run of any other workflow.
func (t *track) world() *world.World { return world.Of(t.seen) }

// seed returns the seed of the activations of a world. It depends only on Options.Seed.
func (g *execution) seed() []byte {
	hash := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(g.options.Seed)))
	return hash[:]
}

// messages makes the reply to a message count duplicates.
func (t *track) messages(it *decide.Item) {
	var taken journal.Event
	it.Taken = &taken
	reply := it.Reply
	it.Reply = func(err error) {
		if err == nil && t.taken[taken.Seq] {
			t.repeated++
		}
		t.taken[taken.Seq] = true
		reply(err)
	}
}

// callKey returns the key of the oldest open call that name means: by cell, such as `order[a].pay`, or in a playbook by step, such
// as fetch.ask. It returns any other name unchanged.
func (t *track) callKey(name string) string {
	w := t.world()
	if w == nil {
		key, _ := t.task(name)
		return key
	}
	for i := strings.IndexByte(name, '.'); i >= 0; {
		c, _ := w.Cell(name[:i])
		for _, intent := range c.Intents {
			if program.EffectName(intent.Key) == name {
				return intent.Key
			}
		}
		next := strings.IndexByte(name[i+1:], '.')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return name
}

// recordActivation records an activation of a cell, including a failed one. A cell that fails for another reason, such as a result or
// a command, was not activated.
func (t *track) recordActivation(i int) {
	e := &t.journal[i]
	w := t.world()
	if w == nil || e.Type != journal.CellStepped && e.Type != journal.CellFailed {
		return
	}
	if e.Type == journal.CellFailed {
		if c, ok := w.Cell(e.Node); !ok || c.Last != e.Seq {
			return
		}
	}
	t.activations = append(t.activations, i)
}

// onlyInWorld returns a test that fails for runs of other workflows.
func onlyInWorld(key string, look func(t *track, w *world.World) (string, *Event, bool)) test {
	return func(g *execution) (string, *Event, bool) {
		w := g.main().world()
		if w == nil {
			return "only worlds have " + key, nil, false
		}
		return look(g.main(), w)
	}
}

// inWorld returns a test that calls ofBody for a world's run, and other for any other run.
func inWorld(ofBody func(t *track, w *world.World) (string, *Event, bool), other test) test {
	return func(g *execution) (string, *Event, bool) {
		if w := g.main().world(); w != nil {
			return ofBody(g.main(), w)
		}
		return other(g)
	}
}

// inOrder compares the order of events by their names. events holds their indexes in the journal.
func (t *track) inOrder(want expected.Order, names []string, events []int) (string, *Event, bool) {
	got, by, ok := want.Compare(names, events)
	return got, t.event(by), ok
}

// wantActivations compares the order of activations, including failed ones.
func wantActivations(want expected.Order) func(t *track, w *world.World) (string, *Event, bool) {
	return func(t *track, _ *world.World) (string, *Event, bool) {
		names := make([]string, len(t.activations))
		for k, i := range t.activations {
			names[k] = t.journal[i].Node
		}
		return t.inOrder(want, names, t.activations)
	}
}

// wantRequests compares the order of the first requests of all calls.
func wantRequests(want expected.Order) func(t *track, w *world.World) (string, *Event, bool) {
	return func(t *track, _ *world.World) (string, *Event, bool) {
		names, events := expected.Requests(t.journal)
		return t.inOrder(want, names, events)
	}
}

// wantRaised compares the order of the events that cells raised, by name.
func wantRaised(want expected.Order) test {
	return onlyInWorld("raised", func(t *track, _ *world.World) (string, *Event, bool) {
		names, events := expected.Raised(t.journal)
		return t.inOrder(want, names, events)
	})
}

// wantCallAttempts compares the number of attempts of all calls with that name.
func wantCallAttempts(name string, want int) func(t *track, w *world.World) (string, *Event, bool) {
	return func(t *track, w *world.World) (string, *Event, bool) {
		if unknown := expected.UnknownCall(w, name); unknown != "" {
			return unknown, nil, false
		}
		got, last := 0, -1
		for i := range t.journal {
			if e := &t.journal[i]; e.Type == journal.CallRequested && slices.Contains(t.callNames(i), name) {
				got, last = got+1, i
			}
		}
		return strconv.Itoa(got), t.event(last), got == want
	}
}

// wantWorldCount compares a count of a world, or a count that every run has.
func wantWorldCount(name string, want int) func(t *track, w *world.World) (string, *Event, bool) {
	return func(t *track, w *world.World) (string, *Event, bool) {
		n := w.Tally()
		totals := map[string]int{
			"messages": n.Messages, "stepped": n.Stepped, "ignored": n.Ignored, "failed": n.Failed, "faults": n.Faults,
			"dropped": n.Dropped, "duplicates": t.repeated,
			"late": t.outcomes[reactive.Late] + t.outcomes[reactive.Duplicate],
		}
		if got, ok := totals[name]; ok {
			return strconv.Itoa(got), nil, got == want
		}
		return wantCount(name, want)(t.execution)
	}
}

// cells reads the expected states of several cells.
func (r *reader) cells(x *expectation, n *document.Node) {
	r.Each(n, func(address string, v *document.Node) {
		c := expected.ReadCell(&r.Reader, v)
		x.add("cells."+address, c.String(), wantCell(address, c))
	})
}

// lastOf returns the latest event about a cell.
func (t *track) lastOf(address string) *Event {
	return t.event(t.last(func(e *journal.Event) bool { return e.Node == address || slices.Contains(cellsOf(e), address) }))
}

// cellsOf returns the cells that a message went to.
func cellsOf(e *journal.Event) []string {
	if e.Type != journal.MessageReceived || e.Detail == nil {
		return nil
	}
	return e.Detail.Cells
}

func wantCell(address string, want *expected.Cell) test {
	return onlyInWorld("cells", func(t *track, w *world.World) (string, *Event, bool) {
		got, known, ok := want.Compare(w, address)
		if !known {
			return got, nil, false
		}
		if err := t.Missing(w.Definition(), address); err != nil && !ok {
			got += ": " + err.Error()
		}
		return got, t.lastOf(address), ok
	})
}
