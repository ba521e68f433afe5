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
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Registry holds all that a process can run: compiled workflows by hash, the operations of the program, and the Go functions of
// each definition. It is safe for concurrent use.
type Registry struct {
	store      journal.Store
	children   Starter
	passEnv    []string // variables for the programs of command bindings
	workers    bool     // workers carry out the operations without another implementation
	mu         sync.Mutex
	texts      documents         // read ahead for the current addition
	files      map[string]*Entry // child documents, by path
	workflows  map[*template.Workflow]*Entry
	named      map[string][]*Entry // registered and started workflows, by name; equal definitions once
	entries    map[string]*Entry   // by hash
	operations map[string]operation.Caller
	functions  map[string]Functions // by hash of their definition
	machines   *Machines
	started    []*Entry // entries of named that were started but not registered, oldest first
	undo       []func() // reverts the changes of the current addition
	additions  atomic.Uint64
	uses       uses
}

// Functions maps names to the Go functions of one definition. It is immutable once in use.
type Functions map[string]*template.Function

// Entry is one compiled workflow. It is immutable.
type Entry struct {
	Plan       *plan.Plan          // the compiled workflow
	Schema     *InputSchema        // nil accepts anything
	Performers []*Performer        // by the plan's operations; nil for those that the engine carries out itself
	Functions  Functions           // of its definition
	Machines   *Machines           // of the program
	Directory  directory.Directory // of its document
	home       string              // folder to which the paths of children are relative
	Missing    error               // the operations and functions that this program lacks; only of a restored entry
}

// Fits returns an error if the workflow has more than nodesMax nodes; 0 or less: no limit.
func (e *Entry) Fits(nodesMax int) error {
	if n := len(e.Plan.Checked.Items); nodesMax > 0 && n > nodesMax {
		return fmt.Errorf("%w: workflow %s has %d steps, conditionals and maps; NodesMax is %d", decide.ErrLimit, e.Plan.Workflow.Name, n, nodesMax)
	}
	return nil
}

// WorkflowsMax bounds the compiled workflows that an engine keeps, separately by tree, hash and file. Beyond it, all are
// dropped, and read and compiled again when needed. Of those that were started but not registered, the newest can be named as
// children.
const WorkflowsMax = 1024

// Config configures a registry.
type Config struct {
	Operations []Operation          // registered in Go, each with a different name
	Workflows  []*template.Workflow // that runs and children can name; they must not change afterwards
	PassEnv    []string             // variables that programs of command bindings receive besides the usual ones
	Children   Starter              // carries out calls of operations that are bound to workflows
	Machines   []*Machine           // in Go, besides those that worlds bring along
	Workers    bool                 // workers carry out the operations that are neither bound nor registered
	Loaded     *Registry            // from Load: New extends and returns it, so that its entries are not compiled again; nil: none
}

// Operation is a named implementation that steps call, as returned by operation.Define.
type Operation interface {
	// Name returns the name by which steps call it.
	Name() string

	// Implementation returns the implementation, an operation.Caller.
	Implementation() any
}

// New returns a registry of a program. It reads definitions it does not hold from the store.
func New(store journal.Store, config Config) (*Registry, error) {
	l := config.Loaded
	if l == nil {
		l = empty(config.PassEnv)
	}
	l.store, l.children, l.workers = store, config.Children, config.Workers
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
	for _, m := range config.Machines {
		if err := l.machines.add(m.Code()); err != nil {
			return nil, err
		}
	}
	for _, w := range config.Workflows {
		if _, err := l.Add(w); err != nil {
			return nil, fmt.Errorf("workflow %s: %w", w.Name, err)
		}
		l.started = nil // registered workflows do not count as started
	}
	return l, nil
}

func empty(passEnv []string) *Registry {
	return &Registry{
		passEnv: passEnv, files: map[string]*Entry{}, workflows: map[*template.Workflow]*Entry{}, named: map[string][]*Entry{},
		entries: map[string]*Entry{}, operations: map[string]operation.Caller{}, functions: map[string]Functions{},
		machines: &Machines{code: map[machine.Implementation]*machine.Code{}},
	}
}

// Load reads, checks and compiles a document and the documents that it names, each once, and returns their registry, for
// Config.Loaded, and the document's entry. Only operations that documents bind are available; their programs receive the
// variables of passEnv. Faults of documents are document.Errors.
func Load(file string, passEnv ...string) (*Registry, *Entry, error) {
	return load(file, empty(passEnv))
}

// LoadForHost is Load for documents that another process is to run: workers may carry out the operations that no document binds.
func LoadForHost(file string) (*Registry, *Entry, error) {
	l := empty(nil)
	l.workers = true
	return load(file, l)
}

// LoadToCheck is Load for documents that are only checked: the named operations count as those of a program or worker elsewhere.
func LoadToCheck(file string, elsewhere []string) (*Registry, *Entry, error) {
	l := empty(nil)
	for _, name := range elsewhere {
		l.operations[name] = uncalled{}
	}
	return load(file, l)
}

// uncalled stands for an operation that is elsewhere.
type uncalled struct{ operation.Caller }

func load(file string, l *Registry) (*Registry, *Entry, error) {
	data, err := readfile.Regular(file, document.BytesMax)
	if err != nil {
		return nil, nil, err
	}
	checked, err := kinds.Load(file, data, template.Known{Operation: l.has, Operations: l.names()})
	if err != nil {
		return nil, nil, err
	}
	e, err := l.addChecked(checked.Workflow, checked)
	return l, e, err
}

// Add compiles a workflow, once, and registers it by its name. A workflow that is refused changes nothing.
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

// add makes an entry under the lock, and reverts all changes if that fails. If documents are needed, it reads them, and those
// that they name, without the lock, and tries again.
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
	kept := false // also if the program's code panics
	defer func() { l.settle(kept); l.texts = nil }()
	e, err = make()
	kept = err == nil
	return e, err
}

// forgetStarted drops the name of the oldest started workflow if there are too many.
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

// put changes a map of the registry, and records how to revert that if the addition is refused.
func put[K comparable, V any](l *Registry, m map[K]V, key K, v V) {
	was, had := m[key]
	m[key] = v
	l.undo = append(l.undo, func() {
		if m[key] = was; !had {
			delete(m, key)
		}
	})
}

// settle ends an addition, and reverts it unless it is kept.
func (l *Registry) settle(kept bool) {
	if !kept {
		for _, undo := range slices.Backward(l.undo) {
			undo()
		}
	}
	l.undo = nil
}

// adopt compiles a workflow with its operations and functions; checked is nil if it has not been checked yet. The caller holds
// mu.
func (l *Registry) adopt(w *template.Workflow, checked *template.Checked) (e *Entry, err error) {
	if e := l.workflows[w]; e != nil {
		return e, nil
	}
	if err := l.learn(w); err != nil {
		return nil, err
	}
	if checked == nil {
		if checked, err = template.Check(w, template.Known{Operation: l.has, Operations: l.names()}); err != nil {
			return nil, err
		}
	}
	if e, err = l.compile(checked, false, nil); err != nil {
		return nil, err
	}
	if err := l.machines.addOf(w); err != nil {
		return nil, fmt.Errorf("workflow %s: %w", w.Name, err)
	}
	if len(l.workflows) >= WorkflowsMax {
		clear(l.workflows)
	}
	put(l, l.workflows, w, e)
	l.additions.Add(1)
	return e, nil
}

// Learned returns a number that changes whenever a workflow is added.
func (l *Registry) Learned() uint64 { return l.additions.Load() }

// learn registers the operations that a workflow includes, for runs of it that are recovered.
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

// functionsOf returns the Go functions of a definition: those of this tree and those of equal ones. It refuses a name that
// stands for two functions, because a recovered run could mean either.
func (l *Registry) functionsOf(hash string, w *template.Workflow) (Functions, error) {
	known, brought := l.functions[hash], w.Functions()
	if len(brought) == 0 {
		return known, nil
	}
	all := make(Functions, len(brought))
	maps.Copy(all, known)
	for _, f := range brought {
		if was := known[f.Name]; was != nil && was != f {
			return nil, fmt.Errorf("workflow %s: this definition is registered with another function %q, made at %s, not at %s: "+
				"make a function once, at package level (flow.NewFunc), and use its handle wherever the workflow is defined",
				w.Name, f.Name, was.Pos, f.Pos)
		}
		all[f.Name] = f
	}
	return all, nil
}

// compile makes an entry, or finds the entry of an equal workflow. If lenient, the entry may lack operations or functions. The
// caller holds mu.
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
	e := &Entry{Plan: p, Directory: directory.Of(w.Directory), Functions: own, Machines: l.machines}
	if len(children) == 0 {
		e.home = filepath.Dir(w.Pos.File)
	}
	if e.Schema, err = SchemaOf(w); err != nil {
		return nil, err
	}
	if e.Performers, e.Missing = l.performers(p, own, children); e.Missing != nil {
		if !lenient {
			return nil, e.Missing
		}
		return e, nil // not kept: the program may still register the missing part
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

// performers finds the performer of each operation of a plan, and checks that the plan's Go functions exist.
func (l *Registry) performers(p *plan.Plan, own Functions, children map[string]string) ([]*Performer, error) {
	list := make([]*Performer, len(p.Operations))
	var missing []error
	ofWorkers := 0
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
			caller, err := operation.Bind(op.Bound, l.passEnv...)
			if err != nil {
				return nil, fmt.Errorf("operation %q: %w", op.Name, err)
			}
			list[i] = &Performer{Caller: caller, Bound: true, Program: op.Bound.Binding.Command != nil, Secrets: op.Bound.Secrets}
			list[i].Waits.Store(true)
		case known:
			_, pure := caller.(operation.Pure)
			list[i] = &Performer{Caller: caller, Pure: pure}
		case l.workers && ofWorkers < WorkerOperationsMax:
			list[i] = &Performer{Worker: true}
			ofWorkers++
		case l.workers:
			missing = append(missing, fmt.Errorf("%w: operation %q: workers carry out at most %d operations of a workflow", decide.ErrMissing, op.Name, WorkerOperationsMax))
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

func (l *Registry) has(name string) bool {
	_, ok := l.operations[name]
	return ok || l.workers
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
	if err := l.StoreDefinition(ctx, e.Plan.Hash, e.Plan.Workflow.Document); err != nil {
		return fmt.Errorf("workflow %s: %w", e.Plan.Workflow.Name, err)
	}
	return nil
}

// Key identifies entries of one definition with different children.
func Key(hash string, children map[string]string) string {
	var b strings.Builder
	b.WriteString(hash)
	for _, name := range slices.Sorted(maps.Keys(children)) {
		b.WriteString(" " + name + "=" + children[name])
	}
	return b.String()
}

// Find returns the entry of a definition that is to be run, or an error if this program lacks an operation or a function that it needs.
func (l *Registry) Find(ctx context.Context, hash string, children map[string]string) (*Entry, error) {
	e, err := l.Read(ctx, hash, children)
	if err != nil {
		return nil, err
	}
	return e, e.Missing
}

// Read returns the entry of a definition, from memory or from the store, with the children that the run was started with.
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

// restore compiles a stored definition. Its entry may lack operations and functions: its runs can then be read, but do not go on.
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
	return e, nil
}

// Performer carries out an operation.
type Performer struct {
	Caller  operation.Caller // the implementation
	Bound   bool             // bound by a document
	Pure    bool             // without side effects
	Program bool             // starts a program
	Worker  bool             // a worker carries it out; there is no Caller
	Secrets []string         // marks of the secrets that its binding reads itself

	Waits      atomic.Bool  // each call runs on its own goroutine: always if Bound, otherwise as measured by the pool
	QuickCalls atomic.Int32 // calls in a row that did not wait, though Waits is set
}

// WorkerOperationsMax bounds the operations of a workflow that workers carry out.
const WorkerOperationsMax = 1000

// OfWorkers returns the names of the operations that workers carry out, in the order of the plan.
func (e *Entry) OfWorkers() (names []string) {
	for i, p := range e.Performers {
		if p != nil && p.Worker {
			names = append(names, e.Plan.Operations[i].Name)
		}
	}
	return names
}

// Roomless reports whether calls need no room: calls of child runs, which make calls that need it, and calls of pure operations.
func (p *Performer) Roomless() bool {
	_, child := p.Caller.(*Child)
	return child || p.Pure
}

// Sizes returns the number of workflows that the registry keeps in each of its maps.
func (l *Registry) Sizes() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return map[string]int{"trees": len(l.workflows), "hashes": len(l.entries), "names": len(l.named), "files": len(l.files)}
}
