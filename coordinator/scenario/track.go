package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/scenario/activation"
	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/coordinator/scenario/schedule"
	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/value"
)

// track is one run: the scenario's own, or a child run of a step. It holds the engine, which a crash discards, and the journal,
// which survives.
//
//	schedule ──items──▶ stepper ──batch──▶ encoded and decoded ──▶ journal ──▶ root of an observer ──▶ expectations
//	                     ▲       │                                  │
//	                     │       └──────────▶ content               │
//	                     └─────────────┴──── after a crash ─────────┘
type track struct {
	activation.Twice
	execution *execution
	id        string
	path      string // prefix of the names of its steps: "", or `quote/`
	parent    *track // nil: the scenario's own run
	call      reactive.Request
	turns     int      // in this instant
	children  []*track // in the order of their starts; a finished child is removed once its call has ended
	program   *program.Program

	root     *reactive.Root // of the engine
	step     *decide.Stepper
	journal  []journal.Event // as read from a store
	schedule schedule.Schedule
	spent    int // work of expressions that the budget includes

	seen     *reactive.Root // of an observer, which applies the journal event by event
	causes   map[int32]int  // by node: index of the event that changed its status last
	status   reactive.RunStatus
	statusBy int // index of the event that changed status last
	outcomes map[reactive.Effect]int

	observed   int         // index of the event that the observer applies
	netChanges []netChange // of a playbook's run

	places map[int]routed.Place // of a playbook's run: task of each call, by the index of the requesting event

	// Of a world's run.
	given       []givenCell
	content     map[journal.Hash][]byte // of its snapshots
	snapshotDue func(error)             // receives the reply to the due snapshot; nil: none is due
	taken       map[uint64]bool         // sequences of the messages that were replied to
	repeated    int                     // number of duplicate messages
	activations []int                   // indexes of the events of activations
	effects     map[int]*template.Step  // of calls, by the index of the requesting event
}

var (
	_ decide.Host     = (*track)(nil)
	_ decide.Resolver = (*track)(nil)
	_ decide.Limiter  = (*track)(nil)
)

func newTrack(g *execution, id, path string, p *program.Program) *track {
	t := &track{execution: g, id: id, path: path, program: p, seen: decide.NewRoot(p.Plan), statusBy: -1,
		causes: map[int32]int{}, outcomes: map[reactive.Effect]int{}, places: map[int]routed.Place{}, taken: map[uint64]bool{}, content: map[journal.Hash][]byte{}, effects: map[int]*template.Step{}}
	t.seen.Watch()
	t.observeNet()
	_ = t.rebuild() // there is no snapshot yet
	return t
}

// Function finds a Go function of the workflow.
func (t *track) Function(name string, args []any) (value.Value, *journal.Failure) {
	return operation.CallFunction(usercode.Call, name, t.program.Functions[name], args)
}

// Pure implements decide.Host. It calls no function: the script answers the calls.
func (t *track) Pure(int32, any) (call.Result, bool) { return call.Result{}, false }

// Limits implements decide.Limiter.
func (t *track) Limits() decide.Limits { return t.execution.ofRun() }

// Reserve implements decide.Host. It allows any number of calls.
func (t *track) Reserve(reactive.Room) bool { return true }

// Resolve returns the participants of a target, from the directory of the document, which the scenario or its timeline may replace.
func (t *track) Resolve(v int32, at int64) ([]string, *journal.Failure) {
	return directory.Resolve(directory.Of(t.execution.directory), t.root.Place(v).Step.Target, time.Unix(0, at)), nil
}

// rebuild discards the engine and makes a new one from the newest snapshot of the run, if any, and its journal. It returns an error
// if the snapshot cannot be restored.
func (t *track) rebuild() error {
	crashed := t.root != nil
	if crashed {
		t.spent -= t.root.Meter().Spent() // a new meter starts at 0
		t.execution.budget.work += nodeWork * int(t.root.Len())
	}
	t.root = decide.NewRoot(t.program.Plan)
	t.execution.capMeters(t)
	applied, err := t.restore()
	if crashed {
		t.execution.budget.work += eventWork * applied
	}
	// Drop past cancels and calls: unanswered returns the open calls.
	t.root.TakeCancels()
	t.root.TakeCalls()
	t.step = decide.NewStepper(t.root, t)
	return err
}

// append journals the batch of a step and passes it to the observer. It encodes and decodes the events, to find events that cannot
// be stored, or that encoding changes. A run without crashes finds them, too.
func (t *track) append(out *decide.StepResult) error {
	var codec journal.Codec
	first, encoded := len(t.journal), 0
	for i := range out.Batch {
		e := &out.Batch[i]
		if want := uint64(len(t.journal) + 1); e.Seq != want {
			return fmt.Errorf("event %d of the batch has sequence %d, not %d", i, e.Seq, want)
		}
		data, err := codec.Append(t.execution.encoded[:0], e)
		if err != nil {
			return err
		}
		t.execution.encoded = data
		encoded += len(data)
		if t.journal, err = codec.DecodeAll(t.journal, data); err != nil {
			return err
		}
	}
	t.execution.budget.bytes += max(encoded, out.Bytes)
	for i := first; i < len(t.journal); i++ {
		t.observe(i)
	}
	return nil
}

// observe applies one event to the root of the observer, and records the changes. It applies a copy, because a root sets the index
// of the node in the event, and the index does not belong to the journal.
func (t *track) observe(i int) {
	e := t.journal[i]
	t.observed = i
	t.outcomes[t.seen.Apply(&e)]++
	t.recordCall(i)
	t.recordActivation(i)
	for _, c := range t.seen.Changes() {
		t.causes[c.Node] = i
	}
	if s := t.seen.RunStatus(); s != t.status {
		t.status, t.statusBy = s, i
	}
}

// finished returns the last event of the run, or nil if the run has not ended.
func (t *track) finished() *journal.Event { return t.seen.Finished() }

// event describes the event of the journal with index i for a difference.
func (t *track) event(i int) *Event {
	if i < 0 || i >= len(t.journal) {
		return nil
	}
	e := &t.journal[i]
	return &Event{Run: strings.TrimSuffix(t.path, "/"), Seq: e.Seq, Type: e.Type.String(), Node: e.Node,
		At: duration.Format(time.Duration(e.At - t.execution.s.start.UnixNano()))}
}

// last returns the index of the latest event for which yes returns true, or -1.
func (t *track) last(yes func(e *journal.Event) bool) int {
	for i := len(t.journal) - 1; i >= 0; i-- {
		if yes(&t.journal[i]) {
			return i
		}
	}
	return -1
}

// by returns the index of the event that last changed the status of a node, or -1.
func (t *track) by(node int32) int {
	if i, ok := t.causes[node]; ok {
		return i
	}
	return -1
}

// itemKey returns the key of a row's instance in item i of the map with the given key.
func itemKey(id, mapKey string, i int) string {
	return id + mapKey[len(script.Stem(mapKey)):] + "[" + strconv.Itoa(i) + "]"
}
