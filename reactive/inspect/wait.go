package inspect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/plan"
)

// WaitKind is the kind of a Wait.
type WaitKind string

// The kinds of waits.
const (
	ForMessage WaitKind = "message"     // Name: the message
	ForPerson  WaitKind = "person"      // a person decides whether the task of Step is done
	ForSource  WaitKind = "decision"    // Name: the operation that decides about the task of Step
	ForTimer   WaitKind = "timer"       // Due, and Then: the effect
	ForRetry   WaitKind = "retry"       // the next attempt of Step
	ForAnswers WaitKind = "participant" // Who: the participants that have not answered yet
	ForChild   WaitKind = "child"       // Name: the id of the child run
	ForCall    WaitKind = "call"        // Name: the called operation or effect
	ForRoom    WaitKind = "room"        // the process has no room for one more call
	ForWorker  WaitKind = "worker"      // Name: the operation that needs a worker; Since
	ForSlot    WaitKind = "slot"        // Who: the holders of all slots of a limit
	ForGate    WaitKind = "gate"        // Reads: the paths that the denying rules read
	ForJoin    WaitKind = "join"        // more tokens at the join of Step
	ForTurn    WaitKind = "turn"        // a token may enter Step, and was not taken yet
	ForRepair  WaitKind = "failed"      // the cell Step has failed, and takes nothing until a retry
	ForResume  WaitKind = "paused"      // the run, the run above it or the cell Step is paused
	ForHold    WaitKind = "held"        // the run was imported, and continues when it is resumed
	ForImport  WaitKind = "import"      // the import of the run is in progress, or was interrupted
)

// Wait is one wait of a run. Only the fields that its kind uses are set.
type Wait struct {
	Kind    WaitKind // kind of the wait
	Step    string   // key of the step or call, or address of the cell; "": the run
	Name    string   // see the kind
	Who     []string // see the kind
	Reads   []string // see the kind, sorted
	Due     int64    // end of the wait, Unix nanoseconds; 0: none
	Since   int64    // instant from which no worker serves the operation, Unix nanoseconds; 0: one does, or not known
	Then    string   // the effect at Due, for people
	Command []string // arguments of the program `sluice` that end the wait, without those for the folder; nil: none
}

// Placeholders in the commands of waits, as in the usage of the verbs. A person must replace them; the verbs refuse them.
const (
	BlankPayload = "PAYLOAD" // of a message
	BlankValue   = "VALUE"   // of a patch
)

// What describes the awaited thing for people, as the object of the verb "await".
func (w *Wait) What() string {
	switch w.Kind {
	case ForMessage:
		return "message " + strconv.Quote(w.Name)
	case ForPerson:
		return "a decision by a person"
	case ForSource:
		return "the decision of operation " + w.Name
	case ForTimer:
		return w.Then
	case ForRetry:
		return "the next attempt"
	case ForAnswers:
		return "the answers of " + listed(w.Who)
	case ForChild:
		return "child run " + w.Name
	case ForCall:
		return "operation " + w.Name
	case ForRoom:
		return "room for one more call"
	case ForWorker:
		return "a worker that serves " + w.Name
	case ForSlot:
		return "a slot, held by " + listed(w.Who)
	case ForGate:
		if len(w.Reads) == 0 {
			return "the gate to open"
		}
		return "the gate to open, which reads " + listed(w.Reads)
	case ForJoin:
		return "more tokens at the join"
	case ForTurn:
		return "its turn"
	case ForRepair:
		return "a retry of the failed cell"
	case ForHold:
		return "a resume: it is held since its import"
	case ForImport:
		return "its import, which is in progress or must be repeated"
	}
	return "a resume"
}

// namedMax bounds the names in the text about a wait.
const namedMax = 5

func listed(names []string) string {
	if more := len(names) - namedMax; more > 0 {
		return strings.Join(names[:namedMax], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// WaitsMax bounds the waits of a run that Waits returns.
const WaitsMax = 10_000

// timersVisitedMax bounds the timers that are visited for a wait while a run proceeds.
const timersVisitedMax = 1000

// Waits returns the waits of a run, at most WaitsMax: first the waits of the whole run, then those of its steps, calls and cells, and
// last its deadline. A run that has ended, or that has nothing left to do, has no waits.
func Waits(root *reactive.Root) []Wait {
	if root.Start() == nil || root.Finished() != nil || root.Done() {
		return nil
	}
	w := newWaiting(root)
	list := w.pauses()
	if of := world.Of(root); of != nil {
		list = w.world(list, of)
	} else {
		list = append(w.nodes(list), w.routed()...)
	}
	if due, ok := w.due(runTimer); ok {
		list = append(list[:min(len(list), WaitsMax-1)], Wait{Kind: ForTimer, Due: due.At, Then: due.Means})
	}
	return list[:min(len(list), WaitsMax)]
}

// gatesVisitedMax bounds the tokens at gates that are visited for a wait while a run proceeds.
const gatesVisitedMax = 100

// waitsAfter returns the current waits of the nodes and cells that an event has changed.
func waitsAfter(root *reactive.Root, u *Update) (list []Wait) {
	if root.Done() || root.Finished() != nil {
		return nil
	}
	w := &waiting{
		root: root,
		due:  func(v int32) (ledger.Due, bool) { return root.SoonestOf(v, timersVisitedMax) },
		message: func(v int32) string {
			if d := u.Event.Detail; d != nil && u.Event.Type == journal.CallRequested && root.Key(v) == u.Event.Node {
				return d.Name
			}
			return ""
		},
	}
	if isPause(&u.Event) {
		list = w.pauses()
	}
	gates := false
	seen := map[int32]bool{}
	look := func(key string) {
		v, ok := root.Node(key)
		if !ok || seen[v] || root.Status(v) == reactive.Absent {
			return
		}
		seen[v] = true
		if one, ok := w.of(v); ok && one.Kind != ForCall && one.Kind != ForRoom { // its status implies these
			list = append(list, one)
		}
	}
	for i := range u.Changes {
		look(u.Changes[i].Step)
		gates = gates || u.Changes[i].To == reactive.Waiting
	}
	for i := range u.Tasks {
		look(u.Tasks[i].Step)
	}
	look(u.Event.Node) // its timer may have fired without a change of status
	for i := range u.Cells {
		list = append(list, w.cell(&u.Cells[i].Cell, false)...)
	}
	if steps := root.Steps(); gates && steps != nil && steps.Counts().Pending <= gatesVisitedMax {
		for _, x := range w.routed() {
			if x.Kind == ForGate {
				list = append(list, x)
			}
		}
	}
	return list
}

// isPause reports whether an event may pause a run, end a pause, or reopen a paused run.
func isPause(e *journal.Event) bool {
	switch e.Type {
	case journal.RunPaused, journal.RunResumed, journal.RunReopened, journal.NodeRetried:
		return true
	}
	return false
}

// Awaiting holds the current waits of a run, by the key of the step, call or cell; "" is the run. It applies the updates of the
// run.
type Awaiting map[string][]Wait

// Apply takes the next update. It must not be the zero Update of an event before the first sequence of Changes.
func (a Awaiting) Apply(u *Update) {
	if isPause(&u.Event) {
		delete(a, "")
	}
	if u.Event.Node != "" {
		delete(a, u.Event.Node)
	}
	for i := range u.Changes {
		delete(a, u.Changes[i].Step)
		step, _, _ := strings.Cut(u.Changes[i].Step, "@")
		delete(a, step) // a token has entered
	}
	for i := range u.Tasks {
		delete(a, u.Tasks[i].Step)
	}
	for i := range u.Cells {
		delete(a, u.Cells[i].Cell.Address)
	}
	fresh := map[string]bool{}
	for _, w := range u.Waits {
		if !fresh[w.Step] {
			fresh[w.Step], a[w.Step] = true, nil
		}
		a[w.Step] = append(a[w.Step], w)
	}
	if u.Event.Type == journal.RunFinished {
		clear(a)
	}
}

// runTimer is the node of the timers of the whole run.
const runTimer = -1

// waiting collects the waits of nodes.
type waiting struct {
	root    *reactive.Root
	due     func(v int32) (ledger.Due, bool) // the first timer of a node
	message func(v int32) string             // the message that a call waits for
}

// newWaiting returns a waiting with all timers and messages of a run.
func newWaiting(root *reactive.Root) *waiting {
	soonest, messages := root.Soonest(), root.Listening()
	return &waiting{
		root:    root,
		due:     func(v int32) (ledger.Due, bool) { d, ok := soonest[v]; return d, ok },
		message: func(v int32) string { return messages[v] },
	}
}

// pauses returns the waits that hold the whole run. If the outcome of a step holds it, that step has the wait instead.
func (w *waiting) pauses() (list []Wait) {
	run := w.root.Start().Run
	if w.root.Stopped() {
		list = append(list, Wait{Kind: ForResume, Command: []string{"resume", run}})
	}
	if w.root.PausedFromAbove() {
		above := journal.ParentRun(run)
		list = append(list, Wait{Kind: ForResume, Name: above, Command: []string{"resume", above}})
	}
	return list
}

// nodes adds the waits of steps and calls, in the order of the template.
func (w *waiting) nodes(list []Wait) []Wait {
	var nodes []int32
	for v := range w.root.Len() {
		if w.root.Status(v) != reactive.Absent && w.root.Key(v) != "" {
			nodes = append(nodes, v)
		}
	}
	slices.SortFunc(nodes, w.root.Compare)
	for _, v := range nodes {
		if one, ok := w.of(v); ok {
			list = append(list, one)
		}
		if len(list) == WaitsMax {
			break
		}
	}
	return list
}

// of returns the wait of a step or call. It reports false if it waits only for steps before it.
func (w *waiting) of(v int32) (Wait, bool) {
	root := w.root
	one := Wait{Step: root.Key(v)}
	if due, ok := w.due(v); ok {
		one.Due, one.Then = due.At, due.Means
	}
	switch {
	case root.Pending(v):
		w.retried(v, &one)
	case root.Undecided(v):
		w.decided(v, &one)
	case root.Row(v).Kind != plan.Step:
		return Wait{}, false
	case root.Status(v) == reactive.Running:
		w.called(v, &one)
	case root.Status(v) == reactive.Ready && (!root.Paused() || one.Due > 0): // the queue timeout of a call continues in a pause
		one.Kind = ForRoom
		if root.RoomOf(v) >= reactive.WorkerRoom {
			one.Kind, one.Name = ForWorker, root.Operation(v).Name
		}
	default:
		return one, w.slot(v, &one)
	}
	return one, true
}

// slot describes the limit that keeps a step from starting. It reports false if none does.
func (w *waiting) slot(v int32, one *Wait) bool {
	_, holders, ok := w.root.Full(v)
	for _, u := range holders {
		one.Who = append(one.Who, w.root.Key(u))
	}
	one.Kind = ForSlot
	return ok
}

// retried describes the wait for the next attempt: for its instant, or after that for a slot.
func (w *waiting) retried(v int32, one *Wait) {
	if w.slot(v, one) {
		return
	}
	one.Kind = ForRetry
	if w.root.Retryable(v) && !w.root.BlocksRetry(v) {
		one.Command = []string{"retry", w.root.Start().Run, one.Step}
	}
}

// decided describes the wait for the decision about a step's task. A person may decide whatever the source.
func (w *waiting) decided(v int32, one *Wait) {
	one.Kind = ForPerson
	if !w.root.Decidable(v) {
		one.Kind = ForSource
		if d := w.root.Place(v).Decision; d >= 0 {
			one.Name = w.root.Plan().Operations[d].Name
		}
	}
	one.Command = []string{"decide", w.root.Start().Run, one.Step, "fulfilled"}
}

// called describes the wait for the result of a call.
func (w *waiting) called(v int32, one *Wait) {
	op, run := w.root.Operation(v), w.root.Start().Run
	asked, who := w.root.WaitsFor(v)
	switch name := w.message(v); {
	case name != "":
		one.Kind, one.Name, one.Command = ForMessage, name, []string{"send", run, name, BlankPayload}
	case op.Kind == plan.Sleep:
		one.Kind = ForTimer
	case asked:
		one.Kind, one.Who = ForAnswers, who
	case op.Bound != nil && op.Bound.Binding.Workflow != nil:
		one.Kind, one.Name = ForChild, run+"/"+reactive.RequestName(one.Step, w.root.Attempt(v))
	default:
		one.Kind, one.Name = ForCall, op.Name
	}
}

// routed returns the waits of a playbook's tokens. Its calls are nodes.
func (w *waiting) routed() (list []Wait) {
	if w.root.Steps() == nil {
		return nil
	}
	for _, x := range w.root.Steps().Waits() {
		switch x.Kind {
		case routed.AtGate:
			list = append(list, gateWait(w.root.Start().Run, &x))
		case routed.AtJoin:
			list = append(list, Wait{Kind: ForJoin, Step: x.Step, Who: x.Arrived})
		case routed.ForTurn:
			list = append(list, Wait{Kind: ForTurn, Step: x.Step})
		case routed.ForDelay:
			list = append(list, Wait{Kind: ForRetry, Step: x.Run + "." + x.Task, Due: x.Due, Then: "the next attempt"})
		}
	}
	body := w.root.Body()
	if due, retry := body.NextDue(); due > 0 && !retry { // the first timeout of a step; the others are not known
		list = append(list, Wait{Kind: ForTimer, Step: body.Fire(due).Node, Due: due, Then: "the step's timeout"})
	}
	return list
}

// gateWait describes a token at a gate. The command writes the paths of the context that the rules of the gate read.
func gateWait(run string, x *routed.Wait) Wait {
	out := Wait{Kind: ForGate, Step: x.Step}
	for name := range x.Reads {
		out.Reads = append(out.Reads, name)
	}
	slices.Sort(out.Reads)
	command := []string{"patch", run}
	for _, name := range out.Reads {
		if strings.HasPrefix(name, "ctx.") {
			command = append(command, name+"="+BlankValue)
		}
	}
	if len(command) > 2 {
		out.Command = command
	}
	return out
}
