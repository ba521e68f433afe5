package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api/awaits"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/find"
	"github.com/sluiceflow/sluice/coordinator/repeated"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// Paused is a value of Request.Status for paused cells of any status.
const Paused = "paused"

// CellStatuses are the values of Request.Status.
var CellStatuses = []string{string(world.Failed), string(world.Waiting), string(world.Running), string(world.Completed), Paused}

// World counts the cells of a world, and its events.
type World struct {
	Cells     int         `json:"cells"`            // number of cells
	Failed    int         `json:"failed"`           // of these
	Waiting   int         `json:"waiting"`          // of these; they wait for effects or timers
	Running   int         `json:"running"`          // of these
	Completed int         `json:"completed"`        // of these
	Paused    int         `json:"paused,omitempty"` // of these, whatever their status
	Tally     world.Tally `json:"tally"`            // since the start of the run
}

// Cell is a cell of a world.
type Cell struct {
	Cell    string          `json:"cell"`                    // address, such as `order[a]`
	Machine string          `json:"machine"`                 // name
	Key     json.RawMessage `json:"key,omitempty"`           // in normal form; not of a machine without keys
	Status  string          `json:"status"`                  // a world.Status
	Paused  bool            `json:"paused,omitempty"`        // a person holds it
	State   json.RawMessage `json:"state,omitempty"`         // in Show of a run, only if its JSON has at most previewMax bytes
	Preview string          `json:"state_preview,omitempty"` // else the beginning of its JSON
	Failure *Failure        `json:"failure,omitempty"`       // of one that has failed
	Intents []Intent        `json:"intents,omitempty"`       // open, in the order of emission
	Mail    int             `json:"mail,omitempty"`          // items in its queue
	Held    int             `json:"held,omitempty"`          // the same, of a held cell: they wait until it continues
	Last    uint64          `json:"last_seq,omitempty"`      // sequence of its newest activation
	Active  time.Time       `json:"active"`                  // time of the newest event about it
	Awaits  []Awaited       `json:"awaits,omitempty"`        // its waits; only in Show of the cell
}

// Intent is an effect or timer that a cell waits for.
type Intent struct {
	Key      string          `json:"key"`                // of the call or the timer, such as `order[a].pay@43.0`
	Effect   string          `json:"effect"`             // name; "timer": a timer
	Issuer   string          `json:"issuer,omitempty"`   // selects one of several; the name of a timer
	ID       string          `json:"intent,omitempty"`   // identity, `sha256:…`; not of a timer
	Params   json.RawMessage `json:"params,omitempty"`   // if their JSON has at most previewMax bytes
	Due      time.Time       `json:"due,omitzero"`       // of a timer
	Status   string          `json:"status,omitempty"`   // of the call: a reactive.Status
	Pending  bool            `json:"pending,omitempty"`  // the call has failed and will be retried
	Attempts int32           `json:"attempts,omitempty"` // of the call, so far
	Failure  *Failure        `json:"failure,omitempty"`  // of the call's newest attempt
}

// Moved is a change of the status of a cell.
type Moved struct {
	Cell    string   `json:"cell"`              // address
	From    string   `json:"from,omitempty"`    // a world.Status; empty: the cell is new
	To      string   `json:"to,omitempty"`      // a world.Status; empty: the cell no longer exists
	Paused  bool     `json:"paused,omitempty"`  // a person holds it
	Failure *Failure `json:"failure,omitempty"` // of one that has failed
}

// movedOf describes the cells with a changed status.
func movedOf(list []inspect.CellChange) (out []Moved) {
	for i := range list {
		if c := &list[i]; c.From != c.Cell.Status {
			out = append(out, Moved{c.Cell.Address, string(c.From), string(c.Cell.Status), c.Cell.Paused, FailureOf(c.Cell.Failure)})
		}
	}
	return out
}

// worldOf describes a world without its cells.
func worldOf(w *inspect.World) *World {
	return &World{
		Cells: w.Count, Failed: w.By[world.Failed], Waiting: w.By[world.Waiting], Running: w.By[world.Running],
		Completed: w.By[world.Completed], Paused: w.Held, Tally: w.Tally,
	}
}

// cellOf describes a cell; whole includes a state of any size.
func cellOf(c *cells.State, whole bool) *Cell {
	out := &Cell{
		Cell: c.Address, Machine: c.Machine, Status: string(c.Status), Paused: c.Paused, Failure: FailureOf(c.Failure),
		Mail: c.Mail, Held: c.Held, Last: c.Last, Active: c.Active,
	}
	if c.Key != nil {
		out.Key = encoded(c.Key)
	}
	switch state := previewOf(c.State); {
	case whole && c.State != nil:
		out.State = encoded(c.State)
	default:
		out.State, out.Preview = state.Output, state.Preview
	}
	for i := range c.Intents {
		x := &c.Intents[i]
		one := Intent{
			Key: x.Key, Effect: x.Effect, Issuer: x.Issuer, ID: x.ID, Params: previewOf(x.Params).Output, Pending: x.Pending,
			Attempts: x.Attempts, Failure: FailureOf(x.Failure),
		}
		if x.ID == "" {
			one.Due = x.Due
		} else {
			one.Status = x.Call.String()
		}
		out.Intents = append(out.Intents, one)
	}
	return out
}

// showCell emits one cell.
func showCell(ctx context.Context, run *coordinator.Run, req *Request, emit func(*Reply) error) error {
	c, err := req.reading(run).Cell(ctx, req.Step)
	if err != nil {
		return err
	}
	out := cellOf(&c, true)
	waits, err := req.reading(run).CellWaits(ctx, req.Step)
	if err != nil {
		return err
	}
	out.Awaits = awaits.OfCell(run, req.At != nil, waits)
	return emit(&Reply{Cell: out})
}

// listCells emits the requested cells. The warning reports the number of cells for which the condition could not be evaluated.
func listCells(ctx context.Context, run *coordinator.Run, req *Request, emit func(*Reply) error) (warning string, err error) {
	condition, err := req.condition()
	if err != nil {
		return "", err
	}
	bad := 0
	var first error
	keep := func(c *cells.State) bool {
		switch {
		case req.Machine != "" && c.Machine != req.Machine, req.Status == Paused && !c.Paused,
			req.Status != "" && req.Status != Paused && string(c.Status) != req.Status:
			return false
		case condition == nil:
			return true
		}
		yes, err := condition.Holds(c)
		if err != nil {
			if bad++; first == nil {
				first = err
			}
		}
		return yes
	}
	var list []cells.State
	if req.Step == "" {
		list, err = selectCells(ctx, run, req, keep)
	} else {
		var c cells.State
		if c, err = run.Cell(ctx, req.Step); err == nil && keep(&c) {
			list = []cells.State{c}
		}
	}
	if err == nil && len(list) == 0 && req.Machine != "" {
		err = knownMachine(ctx, run, req.Machine)
	}
	if err != nil {
		return "", err
	}
	for i := range list {
		if err := emit(&Reply{Cell: cellOf(&list[i], true)}); err != nil {
			return "", err
		}
	}
	if bad > 0 {
		warning = fmt.Sprintf("%v (it cannot be evaluated for %d of the cells, which are left out)", first, bad)
	}
	return warning, nil
}

// selectCells returns the requested cells that keep accepts. It uses an index if the request names one.
func selectCells(ctx context.Context, run *coordinator.Run, req *Request, keep func(*cells.State) bool) ([]cells.State, error) {
	if req.Index == "" {
		return run.Cells(ctx, keep, req.Limit)
	}
	name, text, ok := strings.Cut(req.Index, "=")
	if !ok {
		return nil, fmt.Errorf("%w: index %q: it needs a value, as in %s=VALUE", ErrBadRequest, req.Index, req.Index)
	}
	by := cells.Index{Machine: req.Machine, Name: name, Values: []any{text}}
	if v, err := value.ParseJSON([]byte(text)); err == nil {
		by.Values = append(by.Values, v)
	}
	list, err := run.CellsBy(ctx, by, keep, req.Limit)
	if unknown, ok := errors.AsType[*cells.UnknownIndexError](err); ok {
		if req.Machine != "" {
			if err := knownMachine(ctx, run, req.Machine); err != nil {
				return nil, err
			}
		}
		return nil, fmt.Errorf("%w: %w", ErrBadRequest, unknown)
	}
	return list, err
}

// condition returns the condition of a request, or nil.
func (r *Request) condition() (*cells.Condition, error) {
	if r.If == "" {
		return nil, nil
	}
	c, err := cells.ParseCondition(r.If)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	return c, nil
}

// awaitCell emits a cell once the condition is true for it.
func awaitCell(ctx context.Context, run *coordinator.Run, req *Request, emit func(*Reply) error) error {
	condition, err := req.condition()
	if err != nil {
		return err
	}
	var broken error
	c, err := run.Await(ctx, req.Step, func(c *cells.State) bool {
		yes, err := condition.Holds(c)
		broken = err
		return yes || err != nil
	})
	if err = errors.Join(err, broken); err != nil {
		return err
	}
	return emit(&Reply{Cell: cellOf(&c, true)})
}

// message sends a message, and adds the outcome to done.
func message(ctx context.Context, run *coordinator.Run, req *Request, done *Done) error {
	payload, err := parsePayload(req.Payload)
	if err != nil {
		return err
	}
	if !isWorld(ctx, run) {
		err = repeated.Send(ctx, run, req.ID, req.Message, payload, func() error {
			return run.Send(ctx, req.Message, payload, coordinator.WithKey(req.ID))
		})
		if err == nil {
			done.Warning = unawaitedWarning(ctx, run, req.Message)
		}
		return err
	}
	send := run.SendMessage
	if req.Same {
		send = func(ctx context.Context, m cells.Message) (cells.Sent, error) {
			return repeated.SendToWorld(ctx, run, m)
		}
	}
	sent, err := send(ctx, cells.Message{Name: req.Message, Payload: payload, ID: req.ID})
	if err != nil {
		return err
	}
	if done.Seq, done.Cells = sent.Seq, sent.Cells; len(sent.Cells) == 0 {
		done.Warning = unawaitedWarning(ctx, run, req.Message)
	}
	return nil
}

// unawaitedWarning returns a warning if no cell or step awaits a message, else "".
func unawaitedWarning(ctx context.Context, run *coordinator.Run, message string) string {
	if e, ok := errors.AsType[*coordinator.UnawaitedError](run.Awaits(ctx, message)); ok {
		return e.Error()
	}
	return ""
}

// pause pauses or resumes a run or a cell.
func pause(ctx context.Context, run *coordinator.Run, req *Request) error {
	switch {
	case req.Step == "" && req.Verb == Pause:
		return run.Pause(ctx, req.Reason)
	case req.Step == "":
		return run.Resume(ctx)
	case req.Verb == Pause:
		return run.PauseCell(ctx, req.Step, req.Reason)
	}
	return run.ResumeCell(ctx, req.Step)
}

// suggestCell adds to the error about an unknown cell the most similar address.
func suggestCell(ctx context.Context, run *coordinator.Run, address string, err error) error {
	e := ErrorOf(err)
	list, err := run.Cells(ctx, nil, find.CompareMax)
	if err != nil {
		return e
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Address
	}
	if e.Suggestion, _ = expr.Nearest(address, names); e.Suggestion != "" {
		e.Message, _, _ = strings.Cut(e.Message, " (did you mean") // its suggestion is only a part of the address
	}
	return e
}

// isWorld reports whether a run is the run of a world. It uses the error about the empty name, which no message has.
func isWorld(ctx context.Context, run *coordinator.Run) bool {
	e, ok := errors.AsType[*coordinator.UnawaitedError](run.Awaits(ctx, ""))
	return ok && e.World
}

// knownMachine returns an error if the world does not have the machine.
func knownMachine(ctx context.Context, run *coordinator.Run, machine string) error {
	names, err := run.Machines(ctx)
	if err != nil || slices.Contains(names, machine) {
		return err
	}
	e := ErrorOf(fmt.Errorf("%w: there is no machine %q", ErrBadRequest, machine))
	e.Suggestion, _ = expr.Nearest(machine, names)
	return e
}
