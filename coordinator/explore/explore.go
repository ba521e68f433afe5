package explore

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// begun is the instant at which an explored run starts. It is arbitrary.
var begun = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// explorer visits the states of a run, nearest first.
type explorer struct {
	plan     *plan.Plan
	kind     kind
	options  Options
	guesses  guesses
	reduced  bool // of independent calls, only one ends first
	states   []state
	known    map[[32]byte]int // by digest
	never    []*condition
	ran      map[string]bool
	ends     map[string]bool
	findings []Finding
	twice    bool
	bounded  bool
	moves    int
	events   int // of all states
	alive    int // bytes of states
	work     int // of all states
	bytes    int // of all states
}

// state is a journal: the journal of the state before it, and the events of one move.
type state struct {
	from  int // -1: the start
	label string
	batch []journal.Event
	depth int
	next  []int
	ended bool
	cut   bool   // not followed further
	idle  bool   // no call is under way
	waits string // a step whose end it waits for
	why   string // the reason, if no end can be reached from here
	live  *play  // as it was entered; nil: it must be revived
	size  int    // of its digest's input, in bytes
}

// liveMax bounds the sizes of the states whose roots are kept until they are expanded. The others are revived, which costs as much as all
// moves that lead to them; in a long run without branches, no state is revived.
const liveMax = 4 << 20

// nodeWork is the work counted for visiting a node, which is written as a text.
const nodeWork = 100

// play is a state with its root, from which moves can be made.
type play struct {
	e     *explorer
	root  *reactive.Root
	step  *decide.Stepper
	batch []journal.Event // of the move that is made
	made  int             // bytes of batch in memory
	spent int             // work of the root that explorer.work includes
}

var (
	_ decide.Host     = (*play)(nil)
	_ decide.Resolver = (*play)(nil)
	_ decide.Limiter  = (*play)(nil)
)

// Function implements decide.Host.
func (p *play) Function(name string, args []any) (value.Value, *journal.Failure) {
	for _, f := range p.e.plan.Workflow.Functions() {
		if f.Name == name {
			return operation.CallFunction(usercode.Call, name, f, args)
		}
	}
	return operation.CallFunction(usercode.Call, name, nil, args)
}

// Pure implements decide.Host. It carries out no calls, whose outputs are guessed.
func (p *play) Pure(int32, any) (call.Result, bool) { return call.Result{}, false }

// Limits implements decide.Limiter.
func (p *play) Limits() decide.Limits { return p.e.ofRun() }

// ofRun returns the limits of the run.
func (e *explorer) ofRun() decide.Limits {
	return e.options.Limits.OfRun().Within(e.options.WorkMax, e.options.BytesMax)
}

// Reserve implements decide.Host. There is room for any number of calls.
func (p *play) Reserve(reactive.Room) bool { return true }

// Resolve implements decide.Resolver with the document's directory. If it has no participants with a capability, the program supplies the
// directory, which is assumed to have one participant more than needed.
func (p *play) Resolve(v int32, at int64) ([]string, *journal.Failure) {
	step := p.root.Place(v).Step
	found := directory.Resolve(directory.Of(p.e.plan.Workflow.Directory), step.Target, time.Unix(0, at))
	if len(found) > 0 || step.Target.Resolve != template.ResolveCapability {
		return found, nil
	}
	need := 1
	if step.FanIn != nil {
		need = max(1, step.FanIn.MinResponses)
	}
	if step.Target.Limit == 0 || need < step.Target.Limit {
		need++
	}
	for i := range need {
		found = append(found, fmt.Sprint("holder-", i+1))
	}
	return found, nil
}

// revive returns the play of a state, by applying its journal to a new root.
func (e *explorer) revive(i int) *play {
	var path []int
	for ; i >= 0; i = e.states[i].from {
		path = append(path, i)
	}
	p := e.newPlay()
	for k := len(path) - 1; k >= 0; k-- {
		batch := e.states[path[k]].batch
		for j := range batch {
			event := batch[j]
			p.root.Apply(&event)
		}
		if e.work += len(batch) * nodeWork; e.count(p) {
			break // no more moves are made
		}
	}
	e.work += int(p.root.Len()) * nodeWork
	p.root.TakeCalls()
	p.root.TakeCancels()
	p.step = decide.NewStepper(p.root, p)
	return p
}

// newPlay returns a play without events. Its evaluations end when the remaining work is spent: then the exploration is incomplete.
func (e *explorer) newPlay() *play {
	p := &play{e: e, root: decide.NewRoot(e.plan)}
	e.cap(p)
	return p
}

// cap ends the evaluations of a play that exceed the remaining work.
func (e *explorer) cap(p *play) { p.root.Meter().Cap(e.options.WorkMax - e.work + 1) }

// drive delivers items and takes turns until nothing follows.
func (p *play) drive(now int64, items ...decide.Item) error {
	var refused error
	p.made = 0
	p.e.cap(p)
	for i := range items {
		items[i].Received = now
		items[i].Reply = func(err error) { refused = err }
	}
	for turn := 0; ; turn++ {
		out := p.step.Step(now, items)
		for _, r := range out.Replies {
			r.To(r.Err)
		}
		p.batch = append(p.batch, out.Batch...)
		p.made += out.Bytes
		items = nil
		spent := p.e.count(p)
		if !out.More || refused != nil {
			return refused
		}
		if p.made > p.e.options.BytesMax {
			return errFull
		}
		if turn > turnsMax || len(p.batch) > p.e.options.batchMax || spent {
			return fmt.Errorf("%w: %d events follow in %d turns from one from outside, at most %d in %d are explored",
				errEndless, len(p.batch), turn+1, p.e.options.batchMax, turnsMax)
		}
	}
}

// Bounds of the consequences of one move, and of the events of all states, which stay in memory. A playbook whose tools make no calls may
// go on for long; if every step leads to all steps, each turn multiplies the tokens.
const (
	turnsMax  = 100
	batchMax  = 100_000
	eventsMax = 1_000_000
)

// errEndless means that a move was not followed to its end.
var errEndless = errors.New("the run goes on for ever, or for too long to be checked")

// errFull means that a move was not followed to its end, because its events take too much memory.
var errFull = errors.New("the values of the run take too much memory")

// count adds the work of a play to that of all, and reports whether a bound is reached.
func (e *explorer) count(p *play) bool {
	e.work += p.root.Meter().Spent() - p.spent
	p.spent = p.root.Meter().Spent()
	return e.spent()
}

// spent reports whether a bound is reached.
func (e *explorer) spent() bool {
	return len(e.states) >= e.options.StatesMax || e.events >= e.options.eventsMax || e.work >= e.options.WorkMax || e.bytes >= e.options.BytesMax
}

// explore visits states in the order of their distance from the start.
func (e *explorer) explore() error {
	inputs, err := e.startsWith()
	if err != nil {
		return err
	}
	for _, in := range inputs {
		label := ""
		if e.options.Input == nil && in != nil {
			label = with("the run starts with", in)
		}
		if err := e.begin(in, label); err != nil {
			return err
		}
	}
	for i := 0; i < len(e.states); i++ {
		if e.options.Progress != nil {
			e.options.Progress(len(e.states))
		}
		s := &e.states[i]
		if s.ended || s.cut {
			continue
		}
		if s.depth >= e.options.DepthMax || e.spent() {
			s.cut, e.bounded = true, true
			continue
		}
		e.expand(i)
	}
	return nil
}

// begin enters the state of a run that starts with an input.
func (e *explorer) begin(input value.Value, label string) error {
	p := e.newPlay()
	p.step = decide.NewStepper(p.root, p)
	err := p.drive(begun, decide.Item{Event: decide.Started("run", e.plan, input, e.ofRun())})
	full := errors.Is(err, errFull)
	if err != nil && !full {
		return err
	}
	if i := e.enter(p, -1, label, begun); full {
		e.states[i].cut, e.bounded = true, true
	}
	return nil
}

// expand makes every move from a state.
func (e *explorer) expand(i int) {
	p := e.states[i].live
	if p == nil {
		p = e.revive(i)
	} else {
		e.states[i].live, p.batch = nil, nil
		e.alive -= e.states[i].size
	}
	moves := p.possible()
	e.states[i].idle = len(p.root.OpenCalls()) == 0
	e.states[i].waits, e.states[i].why = e.kind.describe(p)
	for k, m := range moves {
		if k > 0 {
			if e.spent() {
				e.states[i].cut, e.bounded = true, true
				return
			}
			p = e.revive(i)
		}
		now := max(p.root.At(), m.at)
		switch err := p.drive(now, m.items...); {
		case errors.Is(err, errEndless), errors.Is(err, errFull):
			e.states[i].cut, e.bounded = true, true
			continue
		case err != nil:
			continue // it was refused, so it is no move
		}
		e.moves++
		if len(p.batch) > 0 {
			to := e.enter(p, i, m.label, now)
			e.states[i].next = append(e.states[i].next, to)
		}
	}
}

// enter returns the index of the state of a play, which it adds if it is new.
func (e *explorer) enter(p *play, from int, label string, now int64) int {
	ended := p.root.Finished() != nil
	h := &sized{Hash: sha256.New()}
	if ended {
		fmt.Fprintf(h, "ended %s;", p.root.RunStatus())
	}
	before := p.root.Meter().Spent()
	p.root.Digest(h, now)
	size := h.bytes + p.root.Meter().Spent() - before + int(p.root.Len())*nodeWork
	e.work += h.bytes + int(p.root.Len())*nodeWork
	e.count(p)
	digest := [32]byte(h.Sum(nil))
	if i, ok := e.known[digest]; ok {
		return i
	}
	depth := 0
	if from >= 0 {
		depth = e.states[from].depth + 1
	}
	i := len(e.states)
	e.known[digest] = i
	e.states = append(e.states, state{from: from, label: label, batch: p.batch, depth: depth, ended: ended, size: size})
	e.events += len(p.batch)
	for k := range p.batch {
		size, _ := value.Size(p.batch[k].Value, e.options.BytesMax)
		e.bytes += size
	}
	if ended {
		e.ends[string(p.root.RunStatus())] = true
	} else if e.alive == 0 || e.alive+size <= liveMax {
		e.states[i].live = p
		e.alive += size
	}
	e.look(p, i)
	return i
}

// sized is a hash that counts the bytes written to it.
type sized struct {
	hash.Hash
	bytes int
}

func (h *sized) Write(data []byte) (int, error) {
	h.bytes += len(data)
	return h.Hash.Write(data)
}

// look looks for findings in a new state.
func (e *explorer) look(p *play, i int) {
	if steps := p.root.Steps(); steps != nil {
		once := e.kind.once()
		for _, name := range steps.Names() {
			s, _ := steps.StepNow(name)
			e.ran[name] = e.ran[name] || s.Runs > 0
			if name == once && s.Runs > 1 && !e.twice {
				e.twice = true
				e.findings = append(e.findings, Finding{
					Kind: FinalTwice, Step: name, Text: fmt.Sprintf("final step %s runs %d times", name, s.Runs), Trace: e.trace(i),
				})
			}
		}
	} else {
		for v := range p.root.Len() {
			if running(p.root.Status(v)) {
				key, _, _ := strings.Cut(p.root.Key(v), "[")
				e.ran[key] = true
			}
		}
	}
	for _, c := range e.never {
		if !c.broken && c.holds(p.root) {
			c.broken = true
			e.findings = append(e.findings, Finding{Kind: NeverHolds, Text: "this must never hold, and does: " + c.text, Trace: e.trace(i)})
		}
	}
}

// trace returns the labels of the moves that lead to a state, after the label of the input if that was guessed.
func (e *explorer) trace(i int) []string {
	list := make([]string, 0, e.states[i].depth+1)
	for ; i >= 0; i = e.states[i].from {
		if e.states[i].label != "" {
			list = append(list, e.states[i].label)
		}
	}
	slices.Reverse(list)
	return list
}
