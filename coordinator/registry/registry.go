package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Registry is what a process can run: compiled workflows by hash, the operations of the program, and the Go functions of each
// definition. It is safe for concurrent use.
type Registry struct {
	store      journal.Store
	children   Starter
	passed     []string // variables for the programs of command bindings
	mu         sync.Mutex
	texts      documents         // that are read, while something is added
	files      map[string]*Entry // child documents, by path
	workflows  map[*template.Workflow]*Entry
	named      map[string][]*Entry // what the program has registered or started, by name; equal definitions once
	entries    map[string]*Entry   // by hash
	operations map[string]operation.Caller
	functions  map[string]Functions // by hash of the definition that they came with
	started    []*Entry             // those of named that nobody has registered, oldest first
	undo       []func()             // takes back what the workflow that is being added has changed so far
	additions  atomic.Uint64
}

// Functions are the Go functions of one definition, by name. It is not changed once it is in use.
type Functions map[string]*template.Function

// Entry is one compiled workflow. It is not changed.
type Entry struct {
	Plan       *plan.Plan
	Schema     *InputSchema        // nil accepts anything
	Performers []*Performer        // by the plan's operations; nil for those the engine carries out itself
	Functions  Functions           // those of its definition
	Directory  directory.Directory // what its document says
	home       string              // folder that its children's paths are relative to
	Missing    error               // what this program lacks to run it; only of a restored one
	stored     bool                // its definition is in the store
}

// WorkflowsMax is how many compiled workflows an engine remembers: by their trees, their hashes and their files beyond it all
// are forgotten, and read and compiled again when they are needed. Of those that were started, and not registered, the newest
// are known by their names.
const WorkflowsMax = 1024

// Config is what a registry is made with.
type Config struct {
	Operations []Operation
	Workflows  []*template.Workflow
	PassEnv    []string // variables that programs of command bindings get besides the usual ones
	Children   Starter
	Loaded     *Registry // from Load, and for this one registry, which takes it over: what it holds is not compiled again; nil: none
}

// Operation is what steps call: a name with an implementation, as operation.Define returns.
type Operation interface {
	// Name returns the name by which steps call it.
	Name() string

	// Implementation returns what carries calls out, an operation.Caller.
	Implementation() any
}

// New returns a registry of a program. Definitions that it does not know are read from the store.
func New(store journal.Store, config Config) (*Registry, error) {
	l := config.Loaded
	if l == nil {
		l = empty(config.PassEnv)
	}
	l.store, l.children = store, config.Children
	for _, op := range config.Operations {
		caller, ok := op.Implementation().(operation.Caller)
		if !ok {
			return nil, fmt.Errorf("operation %q has no implementation", op.Name())
		}
		if _, ok := l.operations[op.Name()]; ok {
			return nil, fmt.Errorf("two operations are named %q", op.Name())
		}
		l.operations[op.Name()] = caller
	}
	for _, w := range config.Workflows {
		if _, err := l.Add(w); err != nil {
			return nil, fmt.Errorf("workflow %s: %w", w.Name, err)
		}
		l.started = nil // it is registered
	}
	return l, nil
}

func empty(passed []string) *Registry {
	return &Registry{
		passed: passed, files: map[string]*Entry{}, workflows: map[*template.Workflow]*Entry{}, named: map[string][]*Entry{},
		entries: map[string]*Entry{}, operations: map[string]operation.Caller{}, functions: map[string]Functions{},
	}
}

// Load reads a document, checks it and compiles it, with the documents that it names, all of them once, and returns a registry
// that knows it, for Config.Loaded, and its entry. There are no operations but those that documents bind; programs get the
// variables of passed. Faults of documents are document.Errors.
func Load(file string, passed ...string) (*Registry, *Entry, error) {
	data, err := readfile.Regular(file, document.BytesMax)
	if err != nil {
		return nil, nil, err
	}
	checked, err := kinds.Load(file, data, template.Known{})
	if err != nil {
		return nil, nil, err
	}
	l := empty(passed)
	e, err := l.addChecked(checked.Workflow, checked)
	return l, e, err
}

// Add compiles a workflow, once, and remembers it by its name. One that is refused leaves nothing behind.
func (l *Registry) Add(w *template.Workflow) (*Entry, error) { return l.addChecked(w, nil) }

func (l *Registry) addChecked(w *template.Workflow, checked *template.Checked) (*Entry, error) {
	return l.add(func() (*Entry, error) {
		e, err := l.adopt(w, checked)
		if err != nil {
			return nil, err
		}
		isKnown := func(known *Entry) bool { return known.Plan.Hash == e.Plan.Hash }
		if known := l.named[w.Name]; !slices.ContainsFunc(known, isKnown) {
			l.named[w.Name] = append(slices.Clip(known), e)
			l.started = append(l.started, e)
			l.forgetStarted()
		}
		return e, nil
	})
}

// add makes an entry under the lock, and takes back what that has changed when there is none. Where documents are needed, it reads
// them without the lock, with those that they name, and begins again.
func (l *Registry) add(make func() (*Entry, error)) (*Entry, error) {
	texts := documents{}
	for {
		e, err := l.addWith(texts, make)
		needed, ok := errors.AsType[*unread](err)
		if !ok {
			return e, err
		}
		readChildren(needed.by, texts)
	}
}

func (l *Registry) addWith(texts documents, make func() (*Entry, error)) (e *Entry, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.texts = texts
	kept := false // also when code of the program's panics
	defer func() { l.settle(kept); l.texts = nil }()
	e, err = make()
	kept = err == nil
	return e, err
}

// forgetStarted forgets the names of workflows that were started before many others.
func (l *Registry) forgetStarted() {
	if len(l.started) <= WorkflowsMax {
		return
	}
	name, first := l.started[0].Plan.Workflow.Name, l.started[0]
	l.started = slices.Delete(l.started, 0, 1)
	left := slices.DeleteFunc(slices.Clone(l.named[name]), func(e *Entry) bool { return e == first })
	if l.named[name] = left; len(left) == 0 {
		delete(l.named, name)
	}
}

// put changes one of the library's maps, for good unless what is being added is refused.
func put[K comparable, V any](l *Registry, m map[K]V, key K, v V) {
	was, had := m[key]
	m[key] = v
	l.undo = append(l.undo, func() {
		if m[key] = was; !had {
			delete(m, key)
		}
	})
}

// settle ends what was begun with an addition. One that is not kept is taken back.
func (l *Registry) settle(kept bool) {
	if !kept {
		for _, undo := range slices.Backward(l.undo) {
			undo()
		}
	}
	l.undo = nil
}

// adopt compiles a workflow with what it brings along; checked is nil where that has not been done. The caller holds mu.
func (l *Registry) adopt(w *template.Workflow, checked *template.Checked) (e *Entry, err error) {
	if e := l.workflows[w]; e != nil {
		return e, nil
	}
	if err := l.learn(w); err != nil {
		return nil, err
	}
	if checked == nil {
		if checked, err = template.Check(w, template.Known{Operation: l.knows, Operations: l.names()}); err != nil {
			return nil, err
		}
	}
	if e, err = l.compile(checked, false, nil); err != nil {
		return nil, err
	}
	if len(l.workflows) >= WorkflowsMax {
		clear(l.workflows)
	}
	put(l, l.workflows, w, e)
	l.additions.Add(1)
	return e, nil
}

// Learned tells apart what the registry knew at two moments: it is another number when a workflow was added in between.
func (l *Registry) Learned() uint64 { return l.additions.Load() }

// learn remembers the operations that a workflow brings along, for runs of it that are recovered.
func (l *Registry) learn(w *template.Workflow) error {
	for _, name := range w.Provided() {
		caller, ok := w.Implementation(name).(operation.Caller)
		if !ok {
			return fmt.Errorf("operation %q has no implementation", name)
		}
		known, ok := l.operations[name]
		if ok && !template.SameImplementation(known, caller) {
			return fmt.Errorf("operation %q has another implementation in this engine: "+
				"define an operation once, and use its handle in all workflows", name)
		}
		put(l, l.operations, name, caller)
	}
	return nil
}

// functionsOf are the Go functions of a definition: those that this tree of it has brought along, and those that an equal
// one had. That a name stands for two functions is refused: a run that is recovered could not tell which one it meant.
func (l *Registry) functionsOf(hash string, w *template.Workflow) (Functions, error) {
	known, brought := l.functions[hash], w.Functions()
	if len(brought) == 0 {
		return known, nil
	}
	all := make(Functions, len(brought))
	maps.Copy(all, known)
	for _, f := range brought {
		if was := known[f.Name]; was != nil && was != f {
			return nil, fmt.Errorf("workflow %s: the engine knows this definition with another function %q, made at %s, not at %s: "+
				"make a function once, at package level (flow.NewFunc), and use its handle wherever the workflow is defined",
				w.Name, f.Name, was.Pos, f.Pos)
		}
		all[f.Name] = f
	}
	return all, nil
}

// compile makes an entry, or finds that of an equal workflow. A lenient one may lack something. The caller holds mu.
func (l *Registry) compile(checked *template.Checked, lenient bool, children map[string]string) (*Entry, error) {
	w := checked.Workflow
	p, err := plan.Compile(checked)
	if err != nil {
		return nil, err
	}
	own, err := l.functionsOf(p.Hash, w)
	if err != nil {
		return nil, err
	}
	if e := l.entries[Key(p.Hash, children)]; e != nil && e.home == filepath.Dir(w.Pos.File) {
		if same, err := l.sameChildren(e, w); same || err != nil {
			return e, err
		}
	}
	e := &Entry{Plan: p, Directory: directory.Of(w.Directory), Functions: own}
	if len(children) == 0 {
		e.home = filepath.Dir(w.Pos.File)
	}
	if e.Schema, err = compileSchema(w); err != nil {
		return nil, err
	}
	if e.Performers, e.Missing = l.performers(p, own, children); e.Missing != nil {
		if !lenient {
			return nil, e.Missing
		}
		return e, nil // not remembered: the program may still learn what it lacks
	}
	if len(l.entries) >= WorkflowsMax {
		clear(l.entries)
	}
	put(l, l.entries, Key(p.Hash, children), e)
	if len(own) > 0 {
		put(l, l.functions, p.Hash, own)
	}
	return e, nil
}

// performers finds who carries out each operation of a plan, and that its Go functions are there.
func (l *Registry) performers(p *plan.Plan, own Functions, children map[string]string) ([]*Performer, error) {
	list := make([]*Performer, len(p.Operations))
	var missing []error
	for i := range p.Operations {
		op := &p.Operations[i]
		switch caller, known := l.operations[op.Name]; {
		case op.Kind != plan.Call:
		case op.Bound != nil && op.Bound.Binding.Workflow != nil:
			caller, err := l.bindChild(p, op, children)
			if err != nil {
				return nil, err
			}
			list[i] = &Performer{Caller: caller, Bound: true}
			list[i].Waits.Store(true)
		case op.Bound != nil:
			caller, err := operation.Bind(op.Bound, l.passed...)
			if err != nil {
				return nil, fmt.Errorf("operation %q: %w", op.Name, err)
			}
			list[i] = &Performer{Caller: caller, Bound: true, Program: op.Bound.Binding.Command != nil}
			list[i].Waits.Store(true)
		case known:
			_, pure := caller.(operation.Pure)
			list[i] = &Performer{Caller: caller, Pure: pure}
		default:
			missing = append(missing, fmt.Errorf("%w: operation %q", decide.ErrMissing, op.Name))
		}
	}
	for _, name := range p.Functions {
		if own[name] == nil {
			missing = append(missing, fmt.Errorf("%w: Go function %q", decide.ErrMissing, name))
		}
	}
	return list, errors.Join(missing...)
}

func (l *Registry) knows(name string) bool {
	_, ok := l.operations[name]
	return ok
}

func (l *Registry) names() []string {
	names := make([]string, 0, len(l.operations))
	for name := range l.operations {
		names = append(names, name)
	}
	return names
}

// keep makes the definition of an entry durable, once.
func (l *Registry) keep(ctx context.Context, e *Entry) error {
	l.mu.Lock()
	stored := e.stored
	l.mu.Unlock()
	if stored {
		return nil
	}
	content := []journal.Event{{Type: journal.ContentStored, Value: e.Plan.Workflow.Document()}}
	_, err := l.store.Append(ctx, journal.DefinitionStream(e.Plan.Hash), 0, content, journal.Head{})
	if err != nil && !errors.Is(err, journal.ErrConflict) {
		return fmt.Errorf("store the definition of %s: %w", e.Plan.Workflow.Name, err)
	}
	l.mu.Lock()
	e.stored = true
	l.mu.Unlock()
	return nil
}

// Key tells apart entries of one definition whose children differ.
func Key(hash string, children map[string]string) string {
	var b strings.Builder
	b.WriteString(hash)
	for _, name := range slices.Sorted(maps.Keys(children)) {
		b.WriteString(" " + name + "=" + children[name])
	}
	return b.String()
}

// Find returns the entry of a definition that is to be run: read, and an error when this program lacks what it needs.
func (l *Registry) Find(ctx context.Context, hash string, children map[string]string) (*Entry, error) {
	e, err := l.Read(ctx, hash, children)
	if err != nil {
		return nil, err
	}
	return e, e.Missing
}

// Read returns the entry of a definition, from memory or from the store, with the children that a run was started with.
func (l *Registry) Read(ctx context.Context, hash string, children map[string]string) (*Entry, error) {
	l.mu.Lock()
	e := l.entries[Key(hash, children)]
	l.mu.Unlock()
	if e != nil {
		return e, nil
	}
	for content, err := range l.store.Read(ctx, journal.DefinitionStream(hash), 1) {
		if err != nil {
			return nil, fmt.Errorf("read definition %s: %w", hash, err)
		}
		return l.restore(content.Value, hash, children)
	}
	return nil, fmt.Errorf("%w: definition %s", decide.ErrMissing, hash)
}

// restore compiles a stored definition. Operations and functions that this program does not have are noted in the entry:
// its runs can be read, and stay where they are.
func (l *Registry) restore(content any, hash string, children map[string]string) (*Entry, error) {
	data, err := value.JSON(content)
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", hash, err)
	}
	w, err := kinds.ParseStored(data)
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", hash, err)
	}
	checked, err := template.Check(w, template.Known{Lenient: true})
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", hash, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e, err := l.compile(checked, true, children)
	l.settle(err == nil)
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", hash, err)
	}
	e.stored = true
	return e, nil
}

// Performer is what carries out an operation.
type Performer struct {
	Caller  operation.Caller
	Bound   bool // by a document: its calls always wait
	Pure    bool // it leaves nothing behind
	Program bool // it starts a program

	// Whether its calls wait for something, as far as who makes them has seen: kept by the pool.
	Waits atomic.Bool  // every call gets a goroutine
	Swift atomic.Int32 // calls in a row that did not wait after all
}

// Roomless reports whether calls take no room: those of child runs, whose own calls do, and those that leave nothing behind.
func (p *Performer) Roomless() bool {
	_, child := p.Caller.(*Child)
	return child || p.Pure
}

// Remembered is how many workflows the registry remembers by each of its ways to find them.
func (l *Registry) Remembered() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return map[string]int{"trees": len(l.workflows), "hashes": len(l.entries), "names": len(l.named), "files": len(l.files)}
}
