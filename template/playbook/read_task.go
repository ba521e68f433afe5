package playbook

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// tool is a task's tool under construction: its own keys, and those of its workbook entry.
type tool struct {
	*pipe
	r      *reader
	task   *Task
	kind   *document.Node            // the node of the kind
	specs  []*document.Node          // the entry's, then its own
	keys   map[string]*document.Node // keys of this kind of tool
	at     map[string]document.Pos   // places of keys, including those of input
	input  map[string]*document.Node // of input (or args), by key
	whole  *document.Node            // an input that is not a mapping
	result layer                     // settings of `output: {…}`
	sets   []*document.Node          // the entry's, then its own
	alone  bool                      // see named
	child  *document.Node            // that name
	book   bool                      // it runs an entry of the workbook

	expects []string // keys that the entry expects in the input
}

// task reads one task of a pipeline.
func (r *reader) task(p *pipe, index int, n labelledTool) *Task {
	t := &Task{
		Label: n.label, CallSite: -1, Step: p.step.Index, Index: index, Pos: n.tool.Pos,
		Call: template.Step{Pos: n.tool.Pos},
	}
	x := &tool{pipe: p, r: r, task: t, keys: map[string]*document.Node{}, at: map[string]document.Pos{}, input: map[string]*document.Node{}}
	r.Required(n.tool, "kind")
	x.kind = n.tool.Get("kind")
	if x.kind == nil {
		return t
	}
	t.Kind = r.Word(x.kind)
	x.alone = n.alone
	if x.book = t.Kind == kindWorkbook; x.book {
		x.expand(n)
	}
	x.read(n.tool)
	x.checkExpected(n)
	if t.Kind == "" || t.Kind == kindWorkbook {
		return t // refused
	}
	x.spec()
	x.set()
	x.call()
	return t
}

// read splits a tool's mapping. A key that is not common to all tools belongs to the operation and is not refused here. Keys of
// a workbook entry are read first, and the caller's keys override them.
func (x *tool) read(n *document.Node) {
	known := x.r.Step(&x.task.Call)
	delete(known, "input")
	given := n.Get("input")
	for e := range n.Entries() {
		switch read := known[e.Key]; {
		case e.Key == "kind" || strings.HasPrefix(e.Key, "x-"):
		case e.Key == "name":
			if takesName(n) && (x.alone || x.book) && !isText(n.Get("kind"), kindWorkbook) {
				x.child = e.Value
			}
		case isText(n.Get("kind"), kindWorkbook) && (e.Key == "task" || e.Key == "ref"):
		case e.Key == "desc":
			x.r.Text(e.Value)
		case e.Key == "spec":
			x.specs = append(x.specs, e.Value)
		case e.Key == "set":
			x.sets = append(x.sets, e.Value)
		case e.Key == "args" && given != nil:
			x.r.Refuse(e.Value, "args cannot be combined with input: they are two names of one key")
		case e.Key == "input" || e.Key == "args":
			x.inputs(e.Value)
		case e.Key == "output" && e.Value.Kind == document.Mapping:
			x.r.result(&x.result, e.Value)
		case read != nil:
			read(e.Value)
			if x.book { // template.Check reports it as a key of the task
				x.r.Moved(x.task.Pos.Key(e.Key).Path, e.Value.Pos.Path)
			}
		default:
			x.keys[e.Key], x.at[e.Key] = e.Value, e.Pos
		}
	}
}

// inputs merges an input over the previous one: a workbook entry has defaults, which its caller may override.
func (x *tool) inputs(n *document.Node) {
	if n.Kind != document.Mapping {
		x.whole = n
		return
	}
	x.whole = nil
	for e := range n.Entries() {
		x.input[e.Key], x.at[e.Key] = e.Value, e.Pos
	}
}

// spec reads the specs of a task: settings of its execution, which it inherits from the specs around it, and its policy, which
// it does not inherit.
func (x *tool) spec() {
	layers := []layer{x.inherited}
	var policy *document.Node
	for _, n := range x.specs {
		var l layer
		known := l.fields(x.r)
		known["policy"] = func(v *document.Node) { policy = v }
		x.r.mapping(n, known, nil)
		layers = append(layers, l)
	}
	all := merged(append(layers, x.result)...)
	x.task.Result = all.resultSettings()
	x.task.Unmatched = x.r.unmatched
	if policy != nil {
		x.r.rules(x.task, policy, x.labels, seenByRule)
	}
	if c := &x.task.Call; all.timeout > 0 && x.task.Kind != kindNoop {
		if c.Timing == nil {
			c.Timing = &template.Timing{Pos: x.task.Pos}
		}
		if c.Timing.Timeout == 0 {
			c.Timing.Timeout = all.timeout
		}
	}
}

// set reads the values that a task sets on success. If a workbook entry sets the same path, the caller's value takes
// precedence.
func (x *tool) set() {
	for _, n := range x.sets {
		for _, s := range x.r.sets(nil, n, setsOfTask, seenByRule) {
			x.task.Set = slices.DeleteFunc(x.task.Set, func(old Set) bool { return compareSets(old, s) == 0 })
			x.task.Set = append(x.task.Set, s)
		}
	}
	sortSets(x.task.Set)
}

// call makes the call site of a task, and compiles the input of the call. A built-in tool needs a binding of its own, because
// the headers of a request and the number of arguments of a command are fixed in a binding, and differ between sites. The name
// of the binding contains a #, which names of operations must not contain, so it hides no operation.
func (x *tool) call() {
	t := x.task
	if t.Kind == kindNoop {
		x.refuseCall()
		return
	}
	if strings.Contains(t.Kind, "#") {
		x.r.Refuse(x.kind, "kind must be the name of an operation, which has no #")
		return
	}
	bind := binders[t.Kind]
	t.Handed = x.r.book.Jinja && x.step.Input != nil && (bind == nil || startsChild(t.Kind))
	t.Call.ID = x.step.Name + "." + t.Label
	t.Call.Operation = t.Kind
	if bind != nil {
		t.Call.Operation = t.Kind + "#" + t.Call.ID
		if b := (&binder{tool: x, of: x.merged()}); !b.bind(bind) {
			return
		}
	} else {
		t.Input = x.rendered(x.merged())
	}
	x.secrets()
	x.r.Moved(t.Pos.Key("operation").Path, x.kind.Pos.Path)
	t.CallSite = len(x.r.book.CallSites)
	x.r.book.CallSites = append(x.r.book.CallSites, t)
}

// withoutSecrets are the tools that receive no secrets, because their input is journaled: the engine executes them itself, or their
// runs have a keychain of their own.
var withoutSecrets = map[string]bool{kindSleep: true, kindWait: true, kindWorkflow: true, kindPlaybook: true, kindResult: true, kindArtifact: true, kindResolve: true}

// secrets determines the secrets that the call receives.
func (x *tool) secrets() {
	t := x.task
	own := x.r.secretsOf(x.kind.Pos, t.Input)
	reads := t.Handed
	if t.Input != nil {
		keys, all := t.Input.Keys("input")
		reads = reads || all || len(keys) > 0
	}
	if withoutSecrets[t.Kind] {
		if len(own) > 0 || t.Handed && len(x.step.secrets) > 0 {
			x.r.Refuse(x.kind, "a tool of kind "+t.Kind+" is given no secrets")
		}
		return
	}
	if reads {
		own = append(own, x.step.secrets...)
	}
	slices.Sort(own)
	t.Secrets = slices.Compact(own)
}

// refuseCall refuses keys that have a meaning only for calls.
func (x *tool) refuseCall() {
	given := x.merged()
	for _, key := range slices.Sorted(maps.Keys(given)) {
		x.r.Fault(&document.Error{Pos: x.at[key], Text: key, Msg: fmt.Sprintf("a noop takes no %q: it makes no call", key)})
	}
	c := &x.task.Call
	if x.whole != nil || c.Target != nil || c.Timing != nil || c.FanIn != nil || c.Fulfillment != nil || c.NonIdempotent {
		x.r.Fault(&document.Error{Pos: x.task.Pos,
			Msg: "a noop takes no input, target, fan_in, timing, fulfillment or idempotent: it makes no call"})
	}
}

// merged returns the input of a call, by key: the tool's keys and the entries of its input.
func (x *tool) merged() map[string]*document.Node {
	all := maps.Clone(x.keys)
	for key, n := range x.input {
		if twice := x.keys[key]; twice != nil {
			x.r.Fault(&document.Error{Pos: n.Pos, Text: key, Msg: fmt.Sprintf("%q is given twice: here and at %s", key, twice.Pos.Path)})
			continue
		}
		all[key] = n
	}
	return all
}

// rendered compiles the input of a call. It returns nil, which means null, if there are no keys.
func (x *tool) rendered(of map[string]*document.Node) Expr {
	names := seenByTool
	if x.whole != nil {
		if len(of) > 0 {
			x.r.Refuse(x.whole, "input must be a mapping beside other keys of the tool")
			return nil
		}
		return x.r.expression(x.whole, names)
	}
	if len(of) == 0 {
		return nil
	}
	v := make(map[string]any, len(of))
	for key, n := range of {
		v[key] = n.Value()
	}
	return x.r.compiled(v, x.task.Pos, names, func(pointer value.Pointer) *document.Node {
		if len(pointer) == 0 {
			return x.kind
		}
		return follow(of[pointer[0]], pointer[1:])
	})
}
