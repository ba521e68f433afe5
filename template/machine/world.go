package machine

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/secret"
	"github.com/sluiceflow/sluice/template/value"
)

// Kind is the kind of the documents of this package.
const Kind = "World"

// TimerEffect is the name of the built-in effect: an activation arms a timer, and the world itself fires it.
const TimerEffect = "timer"

// World is a checked document: types, effects, machines and subscriptions, in one form whatever spelling they were written
// in, with every expression compiled. It is immutable and safe for concurrent use.
//
// Invariants:
//  1. Effects and Machines are sorted by name, and names are unique.
//  2. Effects[i].Site is i: the effect is called by row i of the plan that the world's Workflow compiles to.
//  3. Every subscription fits its machine: the machine takes the event, and the key field has the type of the key.
type World struct {
	Name          string         // of the world
	Types         *schema.Types  // declared
	Effects       []*Effect      // that machines can ask for, without timers
	Machines      []*Machine     // kinds of cells
	Subscriptions []Subscription // in the order written
	Pos           document.Pos   // where it was written

	secret.Keychain

	doc      value.Value // the document in canonical form
	effects  map[string]*Effect
	machines map[string]*Machine
	routes   map[string][]route // by the name of a message
	code     map[Implementation]*Code
	manifest string // hash of doc, sha256:…
}

// Effect is a call that machines can ask for.
type Effect struct {
	Name     string         // by which machines emit it
	Hash     string         // of its name and types, sha256:…
	Site     int            // number of its step in the tree of the workflow
	Params   *schema.Type   // of its parameters
	Receipt  *schema.Type   // of the payload of a receipt that says ok
	Payload  *expr.Template // the payload, from the call's output; nil: all of the output
	Executor string         // the operation that is called; for a binding of its own, the effect
	Call     *template.Step // the step of the tree
	Max      int            // calls at once, over all cells; 0: no limit
	Pos      document.Pos   // where it was written

	own     bool        // it has a binding of its own
	waits   bool        // it is bound to a message
	payload value.Value // as written
}

// Machine is a state machine. Each of its cells has a state, and is found by its key.
type Machine struct {
	Name        string          // of the machine
	Hash        string          // of all that its cells do, sha256:…
	Key         *schema.Type    // nil: it has one cell, addressed by the machine's name
	State       *schema.Type    // of each cell
	Event       Arms            // that its cells take
	Emits       []string        // effects it may emit, timer among them; sorted
	Process     bool            // it ends by complete; else it is an entity, completed whenever nothing is open
	TTL         time.Duration   // a cell with nothing open is deleted so long after its last activity; 0: never
	Indexes     []Index         // sorted by name
	Annotations *schema.Type    // of notes; nil: none
	Context     bool            // the step takes the context too
	Migrate     *Migration      // from the version before; nil: none
	Rules       []*Rule         // in the order written
	Go          *Implementation // registered by the program, in place of rules; nil: rules
	Pos         document.Pos    // where it was written

	emits   map[string]*Effect // nil for timers
	written map[string]any     // indexes and migrate in canonical form
}

// Index is a value by which cells can be found.
type Index struct {
	Name  string         // unique in the machine
	Value *expr.Template // sees state and key
}

// Implementation identifies a machine that is written in Go.
type Implementation struct{ Name, Version string }

// Migration converts a state of the previous version.
type Migration struct {
	Set    []Field  // laid over the state, computed from the state before
	Remove []string // removed fields; sorted
}

// Field is a field of a record and its new value.
type Field struct {
	Name  string         // of the field
	Value *expr.Template // its new value
}

// Subscription delivers the messages of a name to cells of a machine.
type Subscription struct {
	Event   string       // a type
	Machine *Machine     // that takes the message
	Field   []string     // path of the key in the event; nil: the machine has no key
	Pos     document.Pos // where it was written
}

// Arms are the events that the cells of a machine take: the messages it subscribes to, by the names of their types, and the
// receipts, timers, rejections and frames of the engine.
type Arms struct {
	Variant  *schema.Type      // the machine's event, if that is a variant
	Messages []string          // types, sorted
	Tags     map[string]string // of a variant: the arm by the name of its type
	Receipt  bool              // receipts and timers
	Rejected bool              // answers that did not fit
	Frame    bool              // reports of calls under way
}

// Machine returns the machine of a name, or nil.
func (w *World) Machine(name string) *Machine { return w.machines[name] }

// Effect returns the effect of a name, or nil. Timers are no effects of the world.
func (w *World) Effect(name string) *Effect { return w.effects[name] }

// MachineNames returns the names of the machines, sorted.
func (w *World) MachineNames() []string {
	names := make([]string, len(w.Machines))
	for i, m := range w.Machines {
		names[i] = m.Name
	}
	return names
}

// Heard returns the names of the messages that some machine subscribes to, sorted.
func (w *World) Heard() []string { return slices.Sorted(maps.Keys(w.routes)) }

// MayEmit reports whether the machine declares an effect, which may be timer.
func (m *Machine) MayEmit(effect string) bool {
	_, ok := m.emits[effect]
	return ok
}

// Takes reports whether cells of the machine take events of a kind.
func (m *Machine) Takes(kind EventKind) bool {
	switch kind {
	case Receipt, Timer:
		return m.Event.Receipt
	case Rejected:
		return m.Event.Rejected
	case Frame:
		return m.Event.Frame
	}
	return len(m.Event.Messages) > 0
}

// takesMessage reports whether a message of a name is an arm of the machine's event.
func (m *Machine) takesMessage(name string) bool {
	if m.Event.Variant != nil && m.Event.Variant.Name == name && name != "" {
		return true
	}
	_, found := slices.BinarySearch(m.Event.Messages, name)
	return found
}

// Of returns the world that a workflow was read from. It reports false if there is none.
func Of(w *template.Workflow) (*World, bool) {
	world, ok := w.Routing.(*World)
	return world, ok
}

// Kind returns the kind of the routing.
func (w *World) Kind() string { return Kind }

// Document returns the document of the world in canonical form. It is shared and must not be changed.
func (w *World) Document() value.Value { return w.doc }

// Manifest returns the hash of the world's document, sha256:….
func (w *World) Manifest() string { return w.manifest }

// Tools returns the names of the bindings that an effect can have.
func (w *World) Tools() []string { return slices.Clone(bindings) }

// Requires returns nothing: the calls of machines are in the tree.
func (w *World) Requires() []template.Requirement { return nil }

// StepNames returns the names of the machines.
func (w *World) StepNames() []string { return w.MachineNames() }

// CallSite returns the call site of an effect, by its Site. Its kind is the operation that is called.
func (w *World) CallSite(number int) template.CallSite {
	e := w.Effects[number]
	return template.CallSite{Step: e.Name, Task: e.Name, Kind: e.Executor}
}

// OnBlocked returns BlockedWaits: a world is never blocked.
func (w *World) OnBlocked(template.OnBlocked) template.OnBlocked { return template.BlockedWaits }

// bindings are the keys of an effect that bind its call, except operation.
var bindings = []string{"command", "fail", "http", "sleep", "value", "wait"}

// system maps the names of the events that the engine makes to their kinds.
var system = map[string]EventKind{
	"Receipt": Receipt, "sys/EffectReceiptEnvelope@1": Receipt,
	"Rejected": Rejected, "sys/EffectReceiptRejected@1": Rejected,
	"Frame": Frame, "sys/EffectStreamFrame@1": Frame,
}

// systemNames are the short names of these events, by kind.
var systemNames = map[EventKind]string{Receipt: "Receipt", Rejected: "Rejected", Frame: "Frame"}

// splitEffect splits the name of a rule's event or of a drop into the longest declared effect at its beginning and the issuer
// after it.
func splitEffect(text string, declared func(string) bool) (effect, issuer string, ok bool) {
	for end := len(text); end > 0; end = strings.LastIndexByte(text[:end], '.') {
		if declared(text[:end]) {
			return text[:end], strings.TrimPrefix(text[end:], "."), true
		}
	}
	return "", "", false
}
