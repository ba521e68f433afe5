package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator/scenario/schedule"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/value"
)

// The keys of the entries that do not hold exactly one command.
const (
	expectKey    = "expect"
	crashKey     = "crash"
	directoryKey = "directory"
	snapshotKey  = "snapshot"
	messagesKey  = "messages"
)

// timeline reads commands and expectations. They must be in the order of their times.
func (r *reader) timeline(n *document.Node) []entry {
	if n.Kind != document.Sequence {
		r.WrongKind(n, "a list")
		return nil
	}
	list := make([]entry, 0, n.Len())
	last := time.Duration(0) // an entry out of order is refused: it is most likely a mistake
	for _, item := range n.Items() {
		e := r.entry(item)
		if e.at < last {
			r.Refuse(item, "the timeline goes back: "+duration.Format(e.at)+" after "+duration.Format(last))
		}
		last = e.at
		list = append(list, e)
	}
	return list
}

// entry reads one command or expectation. It refuses several in one entry, because they would have no order.
func (r *reader) entry(n *document.Node) entry {
	e := entry{pos: n.Pos}
	kinds := fields{
		expectKey:    func(v *document.Node) { e.expect = r.expectation(v) },
		crashKey:     func(v *document.Node) { e.down = r.crash(v) },
		directoryKey: func(v *document.Node) { e.directory = r.directory(v) },
		snapshotKey:  func(v *document.Node) { r.Object(v, fields{}) },
		messagesKey:  func(v *document.Node) { e.commands = r.messages(v) },
		"apply": func(v *document.Node) {
			r.Refuse(v, "a world keeps the version it was started with: apply is not possible yet")
		},
		"decide":  func(v *document.Node) { e.command(r.decision(v)) },
		"message": func(v *document.Node) { e.command(r.message(v)) },
		"patch":   func(v *document.Node) { e.command(r.patch(v)) },
		"abort":   func(v *document.Node) { e.command(r.command(v, journal.NodeAborted, "step", "reason")) },
		"retry":   func(v *document.Node) { e.command(r.command(v, journal.NodeRetried, "step", "work")) },
		"cancel":  func(v *document.Node) { e.command(r.cancel(v)) },
		"pause":   func(v *document.Node) { e.command(r.pause(v, journal.RunPaused, journal.CellPaused)) },
		"resume":  func(v *document.Node) { e.command(r.pause(v, journal.RunResumed, journal.CellResumed)) },
	}
	var names []string
	known := fields{
		"at":      func(v *document.Node) { e.at = r.Duration(v) },
		"refused": func(v *document.Node) { e.refused = r.Texts(v) },
	}
	for name, read := range kinds {
		if name != "apply" { // this known key is always refused
			names = append(names, name)
		}
		known[name] = func(v *document.Node) {
			if e.kind != "" {
				r.Refuse(n, name+" cannot be combined with "+e.kind)
			}
			e.kind = name
			read(v)
		}
	}
	r.Object(n, known)
	if n.Kind != document.Mapping {
		return e
	}
	if n.Get("at") == nil {
		r.Refuse(n, "at is missing")
	}
	if e.kind == "" {
		slices.Sort(names)
		r.Refuse(n, "an entry has one of "+strings.Join(names, ", "))
	}
	if refused := n.Get("refused"); refused != nil && len(e.commands) == 0 && e.kind != "" {
		r.Refuse(refused, e.kind+" cannot be refused: it is no command")
	}
	return e
}

// command makes c the only command of the entry.
func (e *entry) command(c journal.Event) { e.commands = []journal.Event{c} }

// optional holds the optional keys of commands.
var optional = []string{"reason", "work", "id"}

// command reads a command: a mapping with the given keys and actor.
func (r *reader) command(n *document.Node, t journal.Type, keys ...string) journal.Event {
	d := &journal.Detail{}
	e := journal.Event{Type: t, Detail: d}
	read := fields{
		"step":   func(v *document.Node) { e.Node = r.Text(v) },
		"status": func(v *document.Node) { d.State = r.Text(v) },
		"name":   func(v *document.Node) { d.Name = r.Text(v) },
		"reason": func(v *document.Node) { d.Reason = r.Text(v) },
		"actor":  func(v *document.Node) { d.Actor = r.Text(v) },
		"work":   func(v *document.Node) { d.Work = r.Boolean(v) },
		"id":     func(v *document.Node) { d.ID = r.Text(v) },
	}
	known := fields{"actor": read["actor"]}
	for _, key := range keys {
		known[key] = read[key]
	}
	if slices.Contains(keys, "name") {
		known["payload"] = func(v *document.Node) { e.Value = v.Value() }
	}
	r.Object(n, known)
	for _, key := range keys {
		if !slices.Contains(optional, key) && n.Kind == document.Mapping && n.Get(key) == nil {
			r.Refuse(n, key+" is missing")
		}
	}
	return e
}

// message reads a message to the run. A wait for its name takes it, or the cells of a world.
func (r *reader) message(n *document.Node) journal.Event {
	return r.command(n, journal.MessageReceived, "name", "id")
}

// messages reads messages that arrive together, in the given order.
func (r *reader) messages(n *document.Node) (list []journal.Event) {
	if n.Kind != document.Sequence {
		r.WrongKind(n, "a list")
		return nil
	}
	for _, item := range n.Items() {
		list = append(list, r.message(item))
	}
	if len(list) == 0 || len(list) > schedule.TakenMax {
		r.Refuse(n, fmt.Sprintf("from 1 to %d messages can arrive together, not %d", schedule.TakenMax, len(list)))
	}
	return list
}

// pause reads a pause or the end of one: of the named cell, or of the run.
func (r *reader) pause(n *document.Node, ofRun, ofCell journal.Type) journal.Event {
	if n.Get("step") != nil {
		return r.command(n, ofCell, "step", "reason")
	}
	return r.command(n, ofRun, "reason")
}

// cancel reads the command of coordinator.Run.Cancel, with the same failure.
func (r *reader) cancel(n *document.Node) journal.Event {
	e := r.command(n, journal.RunCancelled, "reason")
	e.Detail.Failure = &journal.Failure{Code: reactive.CodeCancelled, Message: e.Detail.Reason}
	return e
}

// decision reads a person's decision about a step.
func (r *reader) decision(n *document.Node) journal.Event {
	e := r.command(n, journal.DecisionReceived, "step", "status", "reason")
	if s := call.Fulfillment(e.Detail.State); s != call.Fulfilled && s != call.NotFulfilled {
		r.Refuse(n, "status must be "+string(call.Fulfilled)+" or "+string(call.NotFulfilled))
	}
	return e
}

// patch reads a change to the context of a playbook.
func (r *reader) patch(n *document.Node) journal.Event {
	e := journal.Event{Type: journal.ContextPatched, Detail: &journal.Detail{}}
	r.Object(n, fields{
		"ctx": func(v *document.Node) {
			e.Value = v.Value()
			for x := range v.Entries() {
				if _, ok := value.ParsePath(x.Key); !ok {
					r.Refuse(v, fmt.Sprintf("%q is not a path: write key or key.inner", x.Key))
				}
			}
		},
		"actor": func(v *document.Node) { e.Detail.Actor = r.Text(v) },
	})
	return e
}

// crash reads the time until the engine is back.
func (r *reader) crash(n *document.Node) (down time.Duration) {
	if n.Kind == document.Bool {
		if !r.Boolean(n) {
			r.Refuse(n, "crash must be true or say for how long")
		}
		return 0
	}
	r.Object(n, fields{"down": func(v *document.Node) { down = r.Duration(v) }})
	return down
}
