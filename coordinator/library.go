package coordinator

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
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// library holds what runs share: compiled workflows by hash, the operations of the program, and the Go functions of each
// definition.
type library struct {
	engine     *Engine
	mu         sync.Mutex
	files      map[string]*entry // child documents, by path
	workflows  map[*template.Workflow]*entry
	named      map[string][]*entry // what the program has registered or started, by name; equal definitions once
	entries    map[string]*entry   // by hash
	operations map[string]operation.Caller
	functions  map[string]functions // by hash of the definition that they came with
	undo       []func()             // takes back what the workflow that is being added has changed so far
	additions  atomic.Uint64
}

// functions are the Go functions of one definition, by name. It is not changed once it is in use.
type functions map[string]*template.Function

// entry is one compiled workflow.
type entry struct {
	plan       *plan.Plan
	schema     *inputSchema
	performers []*performer        // by the plan's operations; nil for those the engine carries out itself
	functions  functions           // those of its definition
	directory  directory.Directory // what its document says
	home       string              // folder that its children's paths are relative to
	missing    error               // what this program lacks to run it; only of a restored one
	stored     bool                // its definition is in the store
}

// workflowsMax bounds how many trees are remembered by address; beyond it they are compiled again.
const workflowsMax = 1024

func (l *library) init(e *Engine, config Config) error {
	l.engine = e
	l.files = map[string]*entry{}
	l.workflows = map[*template.Workflow]*entry{}
	l.named = map[string][]*entry{}
	l.entries = map[string]*entry{}
	l.operations = map[string]operation.Caller{}
	l.functions = map[string]functions{}
	for _, op := range config.Operations {
		caller, ok := op.Implementation().(operation.Caller)
		if !ok {
			return fmt.Errorf("operation %q has no implementation", op.Name())
		}
		if _, ok := l.operations[op.Name()]; ok {
			return fmt.Errorf("two operations are named %q", op.Name())
		}
		l.operations[op.Name()] = caller
	}
	for _, w := range config.Workflows {
		if _, err := l.add(w); err != nil {
			return fmt.Errorf("workflow %s: %w", w.Name, err)
		}
	}
	return nil
}

// add compiles a workflow, once, and remembers it by its name. One that is refused leaves nothing behind.
func (l *library) add(w *template.Workflow) (e *entry, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := false // also when code of the program's panics
	defer func() { l.settle(kept) }()
	if e, err = l.adopt(w); err != nil {
		return nil, err
	}
	isKnown := func(known *entry) bool { return known.plan.Hash == e.plan.Hash }
	if known := l.named[w.Name]; !slices.ContainsFunc(known, isKnown) {
		l.named[w.Name] = append(slices.Clip(known), e)
	}
	kept = true
	return e, nil
}

// put changes one of the library's maps, for good unless what is being added is refused.
func put[K comparable, V any](l *library, m map[K]V, key K, v V) {
	was, had := m[key]
	m[key] = v
	l.undo = append(l.undo, func() {
		if m[key] = was; !had {
			delete(m, key)
		}
	})
}

// settle ends what was begun with an addition. One that is not kept is taken back.
func (l *library) settle(kept bool) {
	if !kept {
		for _, undo := range slices.Backward(l.undo) {
			undo()
		}
	}
	l.undo = nil
}

// adopt compiles a workflow with what it brings along. The caller holds mu.
func (l *library) adopt(w *template.Workflow) (*entry, error) {
	if e := l.workflows[w]; e != nil {
		return e, nil
	}
	if err := l.learn(w); err != nil {
		return nil, err
	}
	e, err := l.compile(w, template.Known{Operation: l.knows, Operations: l.names()}, nil)
	if err != nil {
		return nil, err
	}
	if len(l.workflows) >= workflowsMax {
		clear(l.workflows)
	}
	put(l, l.workflows, w, e)
	l.additions.Add(1)
	return e, nil
}

// learned tells apart what the library knew at two moments: it is another number when a workflow was added in between.
func (l *library) learned() uint64 { return l.additions.Load() }

// learn remembers the operations that a workflow brings along, for runs of it that are recovered.
func (l *library) learn(w *template.Workflow) error {
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
func (l *library) functionsOf(hash string, w *template.Workflow) (functions, error) {
	known, brought := l.functions[hash], w.Functions()
	if len(brought) == 0 {
		return known, nil
	}
	all := make(functions, len(brought))
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

// compile makes an entry, or finds that of an equal workflow. The caller holds mu.
func (l *library) compile(w *template.Workflow, known template.Known, children map[string]string) (*entry, error) {
	checked, err := template.Check(w, known)
	if err != nil {
		return nil, err
	}
	p, err := plan.Compile(checked)
	if err != nil {
		return nil, err
	}
	own, err := l.functionsOf(p.Hash, w)
	if err != nil {
		return nil, err
	}
	if e := l.entries[entryKey(p.Hash, children)]; e != nil && e.home == filepath.Dir(w.Pos.File) {
		if same, err := l.sameChildren(e, w); same || err != nil {
			return e, err
		}
	}
	e := &entry{plan: p, directory: directory.Of(w.Directory), functions: own}
	if len(children) == 0 {
		e.home = filepath.Dir(w.Pos.File)
	}
	if e.schema, err = compileSchema(w); err != nil {
		return nil, err
	}
	if e.performers, e.missing = l.performers(p, own, children); e.missing != nil {
		if !known.Lenient {
			return nil, e.missing
		}
		return e, nil // not remembered: the program may still learn what it lacks
	}
	put(l, l.entries, entryKey(p.Hash, children), e)
	if len(own) > 0 {
		put(l, l.functions, p.Hash, own)
	}
	return e, nil
}

// performers finds who carries out each operation of a plan, and that its Go functions are there.
func (l *library) performers(p *plan.Plan, own functions, children map[string]string) ([]*performer, error) {
	list := make([]*performer, len(p.Operations))
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
			list[i] = &performer{caller: caller, bound: true}
			list[i].waits.Store(true)
		case op.Bound != nil:
			caller, err := operation.Bind(op.Bound, l.engine.config.PassEnv...)
			if err != nil {
				return nil, fmt.Errorf("operation %q: %w", op.Name, err)
			}
			list[i] = &performer{caller: caller, bound: true, program: op.Bound.Binding.Command != nil}
			list[i].waits.Store(true)
		case known:
			_, pure := caller.(operation.Pure)
			list[i] = &performer{caller: caller, pure: pure}
		default:
			missing = append(missing, fmt.Errorf("%w: operation %q", ErrMissing, op.Name))
		}
	}
	for _, name := range p.Functions {
		if own[name] == nil {
			missing = append(missing, fmt.Errorf("%w: Go function %q", ErrMissing, name))
		}
	}
	return list, errors.Join(missing...)
}

func (l *library) knows(name string) bool {
	_, ok := l.operations[name]
	return ok
}

func (l *library) names() []string {
	names := make([]string, 0, len(l.operations))
	for name := range l.operations {
		names = append(names, name)
	}
	return names
}

// prepare makes the definition of an entry durable, once.
func (l *library) prepare(ctx context.Context, store journal.Store, e *entry) error {
	l.mu.Lock()
	stored := e.stored
	l.mu.Unlock()
	if stored {
		return nil
	}
	content := []journal.Event{{Type: journal.ContentStored, Value: e.plan.Workflow.Document()}}
	_, err := store.Append(ctx, "def/"+e.plan.Hash, 0, content, journal.Head{})
	if err != nil && !errors.Is(err, journal.ErrConflict) {
		return fmt.Errorf("store the definition of %s: %w", e.plan.Workflow.Name, err)
	}
	l.mu.Lock()
	e.stored = true
	l.mu.Unlock()
	return nil
}

// entryKey tells apart entries of one definition whose children differ.
func entryKey(hash string, children map[string]string) string {
	var b strings.Builder
	b.WriteString(hash)
	for _, name := range slices.Sorted(maps.Keys(children)) {
		b.WriteString(" " + name + "=" + children[name])
	}
	return b.String()
}

// find gives the entry of a definition that is to be run: read, and an error when this program lacks what it needs.
func (l *library) find(ctx context.Context, store journal.Store, hash string, children map[string]string) (*entry, error) {
	e, err := l.read(ctx, store, hash, children)
	if err != nil {
		return nil, err
	}
	return e, e.missing
}

// read gives the entry of a definition, from memory or from the store, with the children that a run was started with.
func (l *library) read(ctx context.Context, store journal.Store, hash string, children map[string]string) (*entry, error) {
	l.mu.Lock()
	e := l.entries[entryKey(hash, children)]
	l.mu.Unlock()
	if e != nil {
		return e, nil
	}
	for content, err := range store.Read(ctx, "def/"+hash, 1) {
		if err != nil {
			return nil, fmt.Errorf("read definition %s: %w", hash, err)
		}
		return l.restore(content.Value, hash, children)
	}
	return nil, fmt.Errorf("%w: definition %s", ErrMissing, hash)
}

// restore compiles a stored definition. Operations and functions that this program does not have are noted in the entry:
// its runs can be read, and stay where they are.
func (l *library) restore(content any, hash string, children map[string]string) (*entry, error) {
	data, err := value.JSON(content)
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", hash, err)
	}
	w, err := kinds.ParseStored(data)
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", hash, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e, err := l.compile(w, template.Known{Lenient: true}, children)
	l.settle(err == nil)
	if err != nil {
		return nil, fmt.Errorf("definition %s: %w", hash, err)
	}
	e.stored = true
	return e, nil
}
