package pool

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// Host serves one run in this process for as long as its root is the same: it implements decide.Host for the run's stepper,
// and admits its calls. It belongs to the goroutine that drives the run.
type Host struct {
	Apart bool // call the program's code on a separate goroutine, because it has ended the run's goroutine before

	run     *Run
	entry   *registry.Entry
	root    *reactive.Root
	limits  decide.Limits
	bounded bool                                  // some of its calls need bounded room
	held    []reactive.Request                    // requested calls that wait for room, oldest first
	steps   map[*machine.Machine]machine.Activate // of machines in Go
	lacks   bool                                  // a cell has been passed over, because the program lacks its machine
	away    workerCalls
}

var (
	_ decide.Host     = (*Host)(nil)
	_ decide.Resolver = (*Host)(nil)
	_ decide.Limiter  = (*Host)(nil)
	_ world.Activator = (*Host)(nil)
)

// NewHost returns the host of a run with that root. It sets in the root the room that calls need.
func NewHost(run *Run, entry *registry.Entry, root *reactive.Root, limits decide.Limits) *Host {
	h := &Host{run: run, entry: entry, root: root, limits: limits}
	if h.bounded = run.pool.bounds(entry); h.bounded {
		root.Rooms(rooms(entry))
		h.away = workerCallsOf(entry)
	}
	return h
}

// Limits implements decide.Limiter.
func (h *Host) Limits() decide.Limits { return h.limits }

// Guard calls code of the program on this goroutine.
func (h *Host) Guard(f func() error) error {
	if h.Apart {
		return usercode.Apart(f)
	}
	return usercode.Call(f)
}

// Function calls a Go function of the run's own definition.
func (h *Host) Function(name string, args []any) (value.Value, *journal.Failure) {
	return operation.CallFunction(h.Guard, name, h.entry.Functions[name], args)
}

// Pure makes a call of a pure operation on this goroutine; it returns false for any other operation.
func (h *Host) Pure(v int32, input any) (call.Result, bool) {
	p := h.entry.Performers[h.root.Row(v).Op]
	req := reactive.Request{Node: v, Attempt: h.root.Attempt(v)}
	if !p.Pure || h.run.Ring != nil || h.signed(req) != nil { // fetching a secret, and judging an answer, may take long
		return call.Result{}, false
	}
	c := (&Call{}).prepare(h, req)
	c.Input = input
	var l Ending
	if err := h.Guard(func() error { l = c.make(); return nil }); err != nil {
		l = h.run.failed(err)
	}
	return l.Result, true
}

// Children yields the calls among requests that start child runs.
func (h *Host) Children(open []reactive.Request) (calls []call.Request) {
	for _, req := range open {
		if op := h.entry.Performers[decide.Operation(h.root, req)]; op != nil {
			if _, ok := op.Caller.(*registry.Child); ok {
				var one call.Request
				decide.CallFor(h.root, req, &one)
				calls = append(calls, one)
			}
		}
	}
	return calls
}

// Resolve returns the participants of a step's target.
func (h *Host) Resolve(v int32, at int64) (ids []string, failure *journal.Failure) {
	err := h.Guard(func() error {
		ids = directory.Resolve(h.run.pool.directory(h.entry), h.root.Place(v).Step.Target, time.Unix(0, at))
		return nil
	})
	if err != nil {
		failure, _ = operation.FailureOf(fmt.Errorf("directory: %w", err))
		return nil, failure
	}
	if i := slices.IndexFunc(ids, func(id string) bool { return id == "" || !utf8.ValidString(id) }); i >= 0 {
		return nil, call.NewFailure(CodeDirectory, fmt.Sprintf("the directory has a participant whose id is %q", ids[i]))
	}
	return ids, nil
}

// CodeDirectory is the code of steps whose target resolves to a participant with an invalid id, and of calls for whose
// participant the directory returns data that is not a value.
const CodeDirectory = "invalid_directory"

// about returns the data about a participant that bindings read. If it is not a value, the call fails.
func about(d directory.Directory, participant string) (map[string]any, error) {
	known, ok := d.Participant(participant)
	if !ok {
		return nil, nil
	}
	owned, err := value.Own(known)
	if err != nil {
		return nil, &operation.Error{Code: CodeDirectory, Permanent: true, Err: fmt.Errorf("participant %q: %w", participant, err)}
	}
	about, _ := owned.(map[string]any)
	return about, nil
}
