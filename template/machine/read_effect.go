package machine

import (
	"fmt"
	"maps"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// effect reads an effect: its types, its call, and the receipt's part of the answer.
func (r *reader) effect(entry document.Entry) {
	n := entry.Value
	e := &Effect{Name: entry.Key, Site: len(r.world.Effects), Executor: entry.Key, Pos: n.Pos,
		Call: &template.Step{ID: Escape(entry.Key), Operation: entry.Key, Pos: n.Pos}}
	r.effectName(entry)
	binding := template.Binding{Pos: n.Pos}
	known := r.Step(e.Call)
	delete(known, "input") // it is params
	known["params"] = func(v *document.Node) { e.Params = r.inline(v) }
	known["receipt"] = func(v *document.Node) { e.Receipt = r.inline(v) }
	known["payload"] = func(v *document.Node) { e.Payload, e.payload = r.expression(v, seenByPayload), v.Value() }
	known["max_concurrency"] = func(v *document.Node) { e.Max = r.Count(v) }
	known["operation"] = func(v *document.Node) {
		if e.Executor = r.Text(v); e.Executor != "" {
			e.Call.Operation = e.Executor
		}
	}
	kinds := r.Binding(&binding)
	maps.Copy(known, kinds)
	for _, key := range []string{"workflow", "send"} {
		known[key] = func(v *document.Node) {
			r.Fault(&document.Error{Pos: v.Pos, Text: key, Msg: fmt.Sprintf("an effect cannot have the binding %s yet: bind it to an operation", key)})
		}
	}
	r.Object(n, known)
	r.Required(n, "params", "receipt")
	r.bind(e, n, binding)
	r.unskipped(e, n)
	r.world.Effects = append(r.world.Effects, e)
	r.world.effects[e.Name] = e
}

// effectName refuses names that mean something else.
func (r *reader) effectName(entry document.Entry) {
	fault := func(msg string) { r.Fault(&document.Error{Pos: entry.Pos, Text: entry.Key, Msg: msg}) }
	_, given := system[entry.Key]
	switch {
	case entry.Key == TimerEffect:
		fault("an effect cannot be called timer")
	case given:
		fault(fmt.Sprintf("%q is an event of the engine and cannot be an effect", entry.Key))
	case r.world.Types.Lookup(entry.Key) != nil:
		fault(fmt.Sprintf("%q is a type and an effect", entry.Key))
	}
}

// bind makes the binding of an effect that has one an operation of the effect's name.
func (r *reader) bind(e *Effect, n *document.Node, binding template.Binding) {
	w := r.Tree()
	key := ""
	for _, kind := range bindings {
		if n.Get(kind) != nil {
			key = kind
		}
	}
	if key == "" {
		if child := w.Operations[e.Executor].Workflow; child != nil {
			at := n.Pos
			if v := n.Get("operation"); v != nil {
				at = v.Pos
			}
			r.Fault(&document.Error{Pos: at, Text: e.Executor, Msg: fmt.Sprintf(
				"an effect cannot have the binding workflow yet: operation %q is bound to one", e.Executor)})
		}
		return
	}
	if operation := n.Get("operation"); operation != nil {
		r.Refuse(operation, "operation cannot be combined with "+key)
		return
	}
	if _, taken := w.Operations[e.Name]; taken {
		r.Fault(&document.Error{Pos: n.Get(key).Pos, Text: e.Name, Msg: fmt.Sprintf(
			"effect %q has a binding, and operations has one of that name too", e.Name)})
		return
	}
	if w.Operations == nil {
		w.Operations = map[string]template.Binding{}
	}
	w.Operations[e.Name] = binding
	e.own = true
	r.Moved(r.world.Pos.Key("operations").Key(e.Name).Path, n.Pos.Path)
}

// unskipped refuses keys that would end a call without a receipt, or before it was made.
func (r *reader) unskipped(e *Effect, n *document.Node) {
	refuse := func(v *document.Node, key string) {
		r.Refuse(v, key+" cannot be skip: the emitting cell waits for a receipt")
	}
	if t := e.Call.Timing; t != nil && t.OnTimeout == template.SkipOnTimeout {
		refuse(n.Get("timing").Get("on_timeout"), "on_timeout")
	}
	if t := e.Call.Timing; t != nil && t.QueueTimeout > 0 {
		r.Refuse(n.Get("timing").Get("queue_timeout"), "queue_timeout is for steps: an effect waits until a worker takes it")
	}
	if f := e.Call.Fulfillment; f != nil {
		if f.OnNotFulfilled == template.ThenSkip {
			refuse(n.Get("fulfillment").Get("on_not_fulfilled"), "on_not_fulfilled")
		}
		if f.OnError == template.ThenSkip {
			refuse(n.Get("fulfillment").Get("on_error"), "on_error")
		}
	}
}
