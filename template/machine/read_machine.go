package machine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/fields"
	"github.com/sluiceflow/sluice/template/schema"
)

// machine reads a machine: first its types and effects, then its rules, which need them.
func (r *reader) machine(entry document.Entry) {
	n := entry.Value
	m := &Machine{Name: entry.Key, Process: true, Pos: n.Pos, emits: map[string]*Effect{}, written: map[string]any{}}
	later := func(*document.Node) {}
	r.Object(n, template.Fields{
		"key": later, "key_schema": later, "event": later, "emits": later, "effects_emitted": later, "rules": later, "migrate": later,
		"indexes": later,
		"state":   func(v *document.Node) { m.State = r.inline(v) },
		"lifecycle": func(v *document.Node) {
			m.Process = r.choice(v, "process", "entity") != "entity"
		},
		"ttl":         func(v *document.Node) { m.TTL = r.Duration(v) },
		"annotations": func(v *document.Node) { m.Annotations = r.inline(v) },
		"context":     func(v *document.Node) { m.Context = r.context(v) },
		"go":          func(v *document.Node) { m.Go = r.implementation(v) },
		"wasm":        r.wasm,
		"impl":        r.wasm,
	})
	r.Required(n, "state", "event")
	if v := r.either(n, "key", "key_schema"); v != nil {
		m.Key = r.inline(v)
	}
	emits := r.emitted(m, n)
	if v := n.Get("event"); v != nil {
		r.arms(m, v, emits != "")
		r.receipts(m, v, emits)
	}
	r.indexes(m, n.Get("indexes"))
	r.migration(m, n.Get("migrate"))
	r.program(m, n)
	r.world.Machines = append(r.world.Machines, m)
	r.world.machines[m.Name] = m
}

// program reads the rules of a machine, unless it is written elsewhere.
func (r *reader) program(m *Machine, n *document.Node) {
	var written []string
	for _, key := range []string{"rules", "go", "wasm", "impl"} {
		if n.Get(key) != nil {
			written = append(written, key)
		}
	}
	if len(written) > 1 {
		r.Refuse(n.Get(written[1]), fmt.Sprintf("%s cannot be combined with %s", written[1], written[0]))
	}
	rules := n.Get("rules")
	if rules == nil {
		return
	}
	if rules.Kind != document.Sequence {
		r.WrongKind(rules, "a list")
		return
	}
	for _, item := range rules.Items() {
		m.Rules = append(m.Rules, r.rule(m, item))
	}
}

// choice reads a text that must be one of those allowed.
func (r *reader) choice(n *document.Node, allowed ...string) string {
	text := r.Text(n)
	if r.IsRefused(n) || slices.Contains(allowed, text) {
		return text
	}
	r.Fault(&document.Error{Pos: n.Pos, Text: text, Suggestion: r.Nearest(text, slices.Values(allowed)),
		Msg: fmt.Sprintf("%s must be one of %s, not %s", lastKey(n), strings.Join(allowed, ", "), document.Quote(text))})
	return ""
}

// context reads whether the step takes the context: a boolean, or the name of its type.
func (r *reader) context(n *document.Node) bool {
	if text, ok := n.Text(); ok && text == "sys/WorkflowContext@1" {
		return true
	}
	return r.Boolean(n)
}

// implementation reads the name of a machine that the program registers.
func (r *reader) implementation(n *document.Node) *Implementation {
	m := &Implementation{}
	r.Object(n, template.Fields{
		"name":    func(v *document.Node) { m.Name = r.Text(v) },
		"version": func(v *document.Node) { m.Version = r.Text(v) },
	})
	r.Required(n, "name", "version")
	return m
}

// wasm reads the place of a WebAssembly module, and refuses it: such machines are not supported yet.
func (r *reader) wasm(n *document.Node) {
	text := func(v *document.Node) { r.Text(v) }
	r.Object(n, template.Fields{"path": text, "module": text, "entrypoint": text})
	r.Refuse(n, "machines in WebAssembly are not supported yet: write rules, or go")
}

// emitted reads the effects that a machine may emit. It returns the least valid name; if none is valid, the first in the
// list; "": none.
func (r *reader) emitted(m *Machine, n *document.Node) (first string) {
	v := r.either(n, "emits", "effects_emitted")
	if v == nil {
		if n.Kind == document.Mapping && !r.misspelt(n, "emits", "effects_emitted") {
			r.Fault(&document.Error{Pos: n.Pos.Key("emits"), Text: m.Name, Msg: fmt.Sprintf("machine %q: emits is missing", m.Name)})
		}
		m.emits = nil
		return ""
	}
	if v.Kind != document.Sequence {
		r.WrongKind(v, "a list")
		m.emits = nil
		return ""
	}
	for _, item := range v.Items() {
		name := r.Text(item)
		first = cmp.Or(first, name)
		e := r.world.effects[name]
		_, twice := m.emits[name]
		switch {
		case r.IsRefused(item):
		case twice:
			r.Fault(&document.Error{Pos: item.Pos, Text: name, Msg: fmt.Sprintf("machine %q: emits names an effect twice", m.Name)})
		case e == nil && name != TimerEffect:
			r.unknownEffect(item, name)
		default:
			m.emits[name] = e
		}
	}
	m.Emits = slices.Sorted(maps.Keys(m.emits))
	if len(m.Emits) > 0 {
		return m.Emits[0]
	}
	return first
}

func (r *reader) unknownEffect(n *document.Node, name string) {
	known := append(slices.Sorted(maps.Keys(r.world.effects)), TimerEffect)
	r.Fault(&document.Error{Pos: n.Pos, Text: name, Msg: fmt.Sprintf("unknown effect %q", name),
		Suggestion: r.Nearest(name, slices.Values(known))})
}

// arms reads the events that the cells of a machine take: a list of types, one type, or a variant. A list has receipts if the machine
// emits effects.
func (r *reader) arms(m *Machine, n *document.Node, emits bool) {
	if n.Kind == document.Sequence {
		for _, item := range n.Items() {
			r.arm(m, item)
		}
		m.Event.Receipt = m.Event.Receipt || emits
		slices.Sort(m.Event.Messages)
		return
	}
	if n.Get("variant") != nil {
		if t := r.inline(n); t != nil {
			r.variant(m, n, t)
		}
		return
	}
	switch t := r.arm(m, n); {
	case t == nil || t.Kind == schema.Record || t.Kind == schema.Invalid:
	case t.Kind != schema.Variant:
		r.Refuse(n, fmt.Sprintf("the event of machine %q must be a record, a variant or a list of types, not %s", m.Name, t.Kind))
	default:
		m.Event.Messages = nil
		r.variant(m, n, t)
	}
}

// arm adds the type that a node names. It returns nil for an event of the engine, and if the type is unknown.
func (r *reader) arm(m *Machine, n *document.Node) *schema.Type {
	if text, _ := named(n).Text(); m.Event.addSystemArm(text) {
		return nil
	}
	t, name := r.typeNamed(n)
	switch {
	case t == nil:
	case slices.Contains(m.Event.Messages, name):
		r.Fault(&document.Error{Pos: n.Pos, Text: name, Msg: fmt.Sprintf("machine %q: two arms of its event have the same type", m.Name)})
	default:
		m.Event.Messages = append(m.Event.Messages, name)
	}
	return t
}

// addSystemArm adds the arm of an event of the engine. It reports false for any other name.
func (a *Arms) addSystemArm(name string) bool {
	kind, ok := system[name]
	a.Receipt = a.Receipt || ok && kind == Receipt
	a.Rejected = a.Rejected || ok && kind == Rejected
	a.Frame = a.Frame || ok && kind == Frame
	return ok
}

// variant reads the arms of a machine whose event is a variant: each must differ from the others by its type.
func (r *reader) variant(m *Machine, n *document.Node, t *schema.Type) {
	m.Event.Variant, m.Event.Tags = t, map[string]string{}
	given := map[EventKind]bool{}
	twice := false
	for _, arm := range t.Fields {
		name := arm.Type.Name
		if kind, ok := system[name]; ok {
			twice = twice || given[kind]
			given[kind] = true
			m.Event.addSystemArm(name)
			continue
		}
		if arm.Type.Kind == schema.Invalid {
			continue
		}
		if name == "" {
			r.Fault(&document.Error{Pos: n.Pos, Text: arm.Name, Msg: fmt.Sprintf("machine %q: arm %q of its event must name a type", m.Name, arm.Name)})
			continue
		}
		if _, ok := m.Event.Tags[name]; ok {
			twice = true
			continue
		}
		m.Event.Tags[name] = arm.Name
	}
	if twice {
		r.Fault(&document.Error{Pos: n.Pos, Msg: fmt.Sprintf("machine %q: two arms of its event have the same type", m.Name)})
	}
	m.Event.Messages = slices.Sorted(maps.Keys(m.Event.Tags))
}

// receipts refuses a machine that emits effects and has no arm for receipts, even if it has other faults. An event of an unknown type may
// have any arms.
func (r *reader) receipts(m *Machine, n *document.Node, emits string) {
	known := m.Event.Variant != nil || len(m.Event.Messages) > 0 || m.Event.Rejected || m.Event.Frame
	if emits != "" && known && !m.Event.Receipt {
		r.Fault(&document.Error{Pos: n.Pos, Msg: fmt.Sprintf("machine %q emits %q, and its event has no arm for receipts", m.Name, emits)})
	}
}

// indexes reads the values by which cells can be found.
func (r *reader) indexes(m *Machine, n *document.Node) {
	doc := map[string]any{}
	for _, e := range r.entries(n) {
		m.Indexes = append(m.Indexes, Index{Name: e.Key, Value: r.expression(e.Value, seenByIndex)})
		doc[e.Key] = e.Value.Value()
	}
	setMapping(m.written, "indexes", doc)
}

// migration reads the conversion of a state of the previous version.
func (r *reader) migration(m *Machine, n *document.Node) {
	if n == nil {
		return
	}
	if m.State != nil && m.State.Kind != schema.Record && m.State.Kind != schema.Invalid {
		r.Refuse(n, fmt.Sprintf("migrate sets and removes fields, and the state of machine %q is %s", m.Name, m.State.Kind))
		return
	}
	m.Migrate = &Migration{}
	r.Object(n, template.Fields{
		"set":    func(v *document.Node) { m.Migrate.Set = r.fieldsOf(m, v, seenByMigrate) },
		"remove": func(v *document.Node) { m.Migrate.Remove = r.removed(m, v) },
	})
	doc := fields.Object{}
	for _, f := range m.Migrate.Set {
		r.constantFits(m, n.Get("set").Get(f.Name), f)
		doc["set"] = n.Get("set").Value()
	}
	doc.Texts("remove", m.Migrate.Remove)
	m.written["migrate"] = map[string]any(doc)
}

// removed reads the fields that the state no longer has.
func (r *reader) removed(m *Machine, n *document.Node) []string {
	names := r.Texts(n)
	for i, name := range names {
		if m.State != nil && m.State.Kind == schema.Record && m.State.Field(name) != nil {
			at := item(n, i)
			r.Fault(&document.Error{Pos: at.Pos, Text: name, Msg: fmt.Sprintf("migrate removes %q, which is a field of the state of %q", name, m.Name)})
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// constantFits refuses a constant that its field cannot have.
func (r *reader) constantFits(m *Machine, n *document.Node, f Field) {
	if f.Value == nil || m.State == nil || m.State.Kind != schema.Record {
		return
	}
	v, isConstant := f.Value.Constant()
	t := m.State.Field(f.Name)
	if !isConstant || t == nil {
		return
	}
	if _, err := t.Normalize(v); err != nil {
		r.Refuse(n, fmt.Sprintf("%s does not fit the state of %q: %v", f.Name, m.Name, err))
	}
}
