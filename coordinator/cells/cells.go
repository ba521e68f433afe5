// Package cells sends messages and commands to the cells of a world's run, and reads their states.
//
//	sent, err := run.SendMessage(ctx, cells.Message{Name: "OrderPlaced", Payload: order, ID: "web-17"})
//	cell, err := run.Await(ctx, "order[o-1]", func(c *cells.State) bool { return c.Status == world.Completed })
//
// A Handle is a part of coordinator.Run, which implements its Run. A message is routed and brought into its normal form by the
// run itself: it is refused with the place of the fault, or journaled with the cells that it goes to.
package cells

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/value"
)

// State is the state of a cell.
type State = world.CellState

// Cache bounds the cells that stay in memory though they may leave it.
type Cache = world.Cache

// The defaults of a Cache.
const (
	CellsCached = world.CellsCached
	BytesCached = world.BytesCached
)

// Message is a message to a world.
type Message struct {
	Name    string // of its type
	Payload any    // of that type; owned by the sender
	ID      string // a second message of the same id is not taken; "": none. At most world.IDBytesMax bytes
}

// Sent is the receipt of a message.
type Sent struct {
	Seq   uint64   // sequence of its event, or of that of an earlier message of the same id
	Cells []string // addresses of the cells that it goes to, in order; none: no machine subscribes to it
}

// Run carries out the requests of a Handle.
type Run interface {
	// Take passes a command on and returns its event, or that of an earlier message of the same id, once it is durable. If
	// it is refused, Take returns the reason.
	Take(ctx context.Context, command journal.Event) (journal.Event, error)

	// Look calls look with the state of the run as of its newest durable event or a later one that becomes durable before
	// Look returns. look must not keep the root.
	Look(ctx context.Context, look func(*reactive.Root)) error

	// Storage returns the storage of the run.
	Storage() Storage

	// ID returns the run's id.
	ID() string

	// Last returns the sequence of the run's newest event.
	Last(ctx context.Context) (uint64, error)

	// Roots yields the state of the run after each of its durable events, from the first on, until the run or ctx ends.
	Roots(ctx context.Context) iter.Seq2[*reactive.Root, error]
}

// Storage is the storage of a run.
type Storage struct {
	Content    journal.ContentStore // nil: the run's store keeps no content
	Lock       *sync.RWMutex        // held for reading while a snapshot is written, for writing while content is deleted
	Dry        bool                 // nothing is written or deleted
	KeepEvents int                  // minimum number of the newest events that stay; 0: the default; negative: all
}

// Handle is the part of a run that has cells. Other runs refuse everything with decide.ErrNotWorld.
type Handle struct{ run Run }

// New returns the handle of a run.
func New(run Run) Handle { return Handle{run} }

// SendMessage sends a message and returns its receipt, once the message is durable. A message that the world does not take
// changes nothing: the error wraps decide.ErrInvalidMessage and names the place, or decide.ErrMailboxFull.
func (h Handle) SendMessage(ctx context.Context, m Message) (Sent, error) {
	payload, err := value.Own(m.Payload)
	if err != nil {
		return Sent{}, fmt.Errorf("payload of message %q: %w", m.Name, err)
	}
	e, err := h.run.Take(ctx, journal.Event{
		Type: journal.MessageReceived, Value: payload, Detail: &journal.Detail{Name: m.Name, ID: m.ID},
	})
	if err != nil {
		return Sent{}, err
	}
	return Sent{Seq: e.Seq, Cells: e.Detail.Cells}, nil
}

// PauseCell holds a cell: it queues its items until it is resumed. Its calls and timers go on.
func (h Handle) PauseCell(ctx context.Context, cell, reason string) error {
	return h.command(ctx, journal.Event{Type: journal.CellPaused, Node: cell, Detail: &journal.Detail{Reason: reason}})
}

// ResumeCell ends the pause of a cell.
func (h Handle) ResumeCell(ctx context.Context, cell string) error {
	return h.command(ctx, journal.Event{Type: journal.CellResumed, Node: cell})
}

func (h Handle) command(ctx context.Context, command journal.Event) error {
	_, err := h.run.Take(ctx, command)
	return err
}

// Cell returns the state of a cell. The error wraps decide.ErrCellNotFound if there is none.
func (h Handle) Cell(ctx context.Context, address string) (State, error) {
	var state State
	var err error
	if err := h.run.Look(ctx, func(root *reactive.Root) { state, err = find(root, address) }); err != nil {
		return State{}, err // the run may still call look
	}
	return state, err
}

// CellWaits returns the waits of a cell, after those that hold the world as a whole. A cell that does not exist waits for nothing.
func (h Handle) CellWaits(ctx context.Context, address string) ([]inspect.Wait, error) {
	var list []inspect.Wait
	if err := h.run.Look(ctx, func(root *reactive.Root) { list = inspect.CellWaits(root, address) }); err != nil {
		return nil, err // the run may still call look
	}
	return list, nil
}

// find returns the state of a cell.
func find(root *reactive.Root, address string) (State, error) {
	w := world.Of(root)
	if w == nil {
		return State{}, decide.ErrNotWorld
	}
	state, ok := w.Cell(address)
	if err := w.Err(); err != nil {
		return State{}, err
	}
	if !ok {
		return state, fmt.Errorf("%w %q", decide.ErrCellNotFound, address)
	}
	return state, nil
}

// impossible returns the reason that no cell can have an address; nil: one can.
func impossible(root *reactive.Root, address string) error {
	_, _, err := world.Of(root).Definition().ParseAddress(address)
	return err
}

// Index selects the cells that have one of some values in an index of their machine. Values are compared in
// their normal forms.
type Index struct {
	Machine string // name; "": all machines that have such an index
	Name    string // of the index
	Values  []any  // results of its expression
}

// UnknownIndexError is the error of an index that does not exist. It names those that do.
type UnknownIndexError = world.UnknownIndexError

// Cells returns the states of all cells that keep accepts, in the order of their addresses; nil keeps all. At most limit: 0
// means all.
func (h Handle) Cells(ctx context.Context, keep func(*State) bool, limit int) ([]State, error) {
	return h.list(ctx, keep, limit, func(w *world.World) (iter.Seq[State], error) { return w.Cells(), nil })
}

// CellsBy is Cells for the cells that an index finds. It reads these, and those that have changed since the newest snapshot. The
// error of an index that does not exist is an *UnknownIndexError.
func (h Handle) CellsBy(ctx context.Context, by Index, keep func(*State) bool, limit int) ([]State, error) {
	values := make([]value.Value, len(by.Values))
	for i, v := range by.Values {
		var err error
		if values[i], err = value.Own(v); err != nil {
			return nil, fmt.Errorf("value of index %q: %w", by.Name, err)
		}
	}
	return h.list(ctx, keep, limit, func(w *world.World) (iter.Seq[State], error) { return w.Find(by.Machine, by.Name, values) })
}

// list returns the states that keep accepts, of those that ask returns.
func (h Handle) list(ctx context.Context, keep func(*State) bool, limit int, ask func(*world.World) (iter.Seq[State], error)) ([]State, error) {
	var broken error
	list, err := look(ctx, h.run, func(w *world.World) (list []State) {
		var found iter.Seq[State]
		if found, broken = ask(w); broken == nil {
			list, broken = choose(found, keep, limit)
		}
		broken = cmp.Or(w.Err(), broken)
		return list
	})
	if err != nil { // the run may still call look
		return nil, err
	}
	if broken != nil {
		return nil, broken
	}
	return list, nil
}

// choose returns the states that keep accepts. It calls keep, which is code of the program, on the goroutine of the run: if keep panics,
// or ends its goroutine, choose returns an error, and the run is unaffected.
func choose(found iter.Seq[State], keep func(*State) bool, limit int) (list []State, err error) {
	asking := false
	err = usercode.Apart(func() error {
		for c := range found {
			if keep != nil {
				asking = true
				accepted := keep(&c)
				asking = false
				if !accepted {
					continue
				}
			}
			if list = append(list, c); len(list) == limit {
				break
			}
		}
		return nil
	})
	if err != nil && !asking {
		panic(err) // a fault of this module
	}
	return list, err
}

// Await waits until a condition holds for a cell, which need not exist yet, and returns its state at that event: the newest
// when Await was called, or a later one. The condition is not called while the cell does not exist. The error of an address that no
// cell can have wraps decide.ErrCellNotFound.
func (h Handle) Await(ctx context.Context, address string, condition func(*State) bool) (State, error) {
	last, err := h.run.Last(ctx)
	if err != nil {
		return State{}, err
	}
	for root, err := range h.run.Roots(ctx) {
		switch {
		case err != nil:
			return State{}, err
		case root.Seq() < last:
			continue
		}
		state, err := find(root, address)
		switch {
		case err == nil && condition(&state):
			return state, nil
		case errors.Is(err, decide.ErrNotWorld):
			return state, err
		case errors.Is(err, decide.ErrCellNotFound) && impossible(root, address) != nil:
			return state, fmt.Errorf("%w: %w", err, impossible(root, address))
		case root.Finished() != nil:
			return state, fmt.Errorf("%w: the condition about cell %q does not hold", decide.ErrFinished, address)
		}
	}
	return State{}, decide.ErrFinished
}
