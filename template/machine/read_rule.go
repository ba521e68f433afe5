package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/schema"
)

// rule reads one line of a machine.
func (r *reader) rule(m *Machine, n *document.Node) *Rule {
	rule := &Rule{Pos: n.Pos, doc: map[string]any{}}
	kept := func(key string, read func(*document.Node)) func(*document.Node) {
		return func(v *document.Node) {
			read(v)
			rule.doc[key] = v.Value()
		}
	}
	flag := func(key string, into *bool) func(*document.Node) {
		return func(v *document.Node) {
			if *into = r.Boolean(v); *into {
				rule.doc[key] = true
			}
		}
	}
	r.Object(n, template.Fields{
		"event":    func(v *document.Node) { rule.On = r.on(m, v); rule.doc["event"] = rule.On.String() },
		"when":     kept("when", func(v *document.Node) { rule.When = r.condition(v, seenByRule) }),
		"set":      kept("set", func(v *document.Node) { r.set(m, rule, v) }),
		"raise":    func(v *document.Node) { r.raises(rule, v) },
		"emit":     func(v *document.Node) { r.emissions(m, rule, v) },
		"drop":     kept("drop", func(v *document.Node) { r.drops(m, rule, v) }),
		"complete": flag("complete", &rule.Complete),
		"delete":   flag("delete", &rule.Delete),
		"fail":     kept("fail", func(v *document.Node) { rule.Fail = r.fail(v) }),
		"note":     kept("note", func(v *document.Node) { r.note(m, rule, v) }),
	})
	r.Required(n, "event")
	if rule.Fail != nil {
		r.exclusive(n, "fail", "set", "raise", "emit", "drop", "complete", "delete", "note")
	}
	if rule.Delete {
		r.exclusive(n, "delete", "set")
	}
	return rule
}

// exclusive refuses keys that cannot be combined with another.
func (r *reader) exclusive(n *document.Node, key string, others ...string) {
	for _, other := range others {
		if v := n.Get(other); v != nil {
			r.Fault(&document.Error{Pos: v.Pos, Msg: fmt.Sprintf("%s cannot be combined with %s", other, key)})
		}
	}
}

// String returns the selection as it is written.
func (o On) String() string {
	switch {
	case o.Kind == Message:
		return o.Name
	case o.Kind == Timer:
		return Drop{Effect: TimerEffect, Issuer: o.Issuer}.String()
	case o.Name == "":
		return systemNames[o.Kind]
	}
	return Drop{Effect: o.Name, Issuer: o.Issuer}.String()
}

// on reads the event of a rule, which its machine must take.
func (r *reader) on(m *Machine, n *document.Node) On {
	name := r.Text(n)
	if r.IsRefused(n) {
		return On{}
	}
	if kind, ok := system[name]; ok {
		if !m.Takes(kind) && m.emits != nil {
			r.noArm(m, n, name)
		}
		return On{Kind: kind}
	}
	if m.takesMessage(name) {
		return On{Kind: Message, Name: name, Whole: m.Event.Variant != nil && m.Event.Variant.Name == name}
	}
	effect, issuer, ok := splitEffect(name, r.isEffect)
	switch {
	case r.world.Types.Lookup(name) != nil || ok && m.emits != nil && !m.MayEmit(effect):
		r.noArm(m, n, name)
	case !ok:
		r.unknownEvent(n, name)
	case effect == TimerEffect:
		return On{Kind: Timer, Issuer: issuer}
	}
	return On{Kind: Receipt, Name: effect, Issuer: issuer}
}

// isEffect reports whether there is an effect of that name.
func (r *reader) isEffect(name string) bool {
	return name == TimerEffect || r.world.effects[name] != nil
}

func (r *reader) noArm(m *Machine, n *document.Node, name string) {
	r.Fault(&document.Error{Pos: n.Pos, Text: name, Msg: fmt.Sprintf("event %q is no arm of machine %q", name, m.Name)})
}

// unknownEvent reports a name that is neither a type nor an effect.
func (r *reader) unknownEvent(n *document.Node, name string) {
	known := slices.Concat(r.world.Types.Names(), slices.Sorted(maps.Keys(r.world.effects)),
		[]string{TimerEffect, "Receipt", "Rejected", "Frame"})
	r.Fault(&document.Error{Pos: n.Pos, Text: name, Msg: fmt.Sprintf("unknown type %q", name),
		Suggestion: r.Nearest(name, slices.Values(known))})
}

// set reads the fields that are laid over the state, or the expression for them.
func (r *reader) set(m *Machine, rule *Rule, n *document.Node) {
	if n.Kind == document.Mapping && m.State != nil && laidOver(m.State) {
		rule.Set = r.fieldsOf(m, n, seenByRule)
		return
	}
	rule.SetAll = r.expression(n, seenByRule)
}

// laidOver reports whether a state has fields that can be set one by one.
func laidOver(t *schema.Type) bool { return t.Kind == schema.Record || t.Kind == schema.Map }

// fieldsOf reads fields of the state of a machine, sorted by name.
func (r *reader) fieldsOf(m *Machine, n *document.Node, names []string) []Field {
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return nil
	}
	list := []Field{}
	for e := range n.Entries() {
		if m.State != nil && m.State.Kind == schema.Record && m.State.Field(e.Key) == nil {
			r.Fault(&document.Error{Pos: e.Pos, Text: e.Key, Msg: fmt.Sprintf("the state of machine %q has no field %q", m.Name, e.Key),
				Suggestion: r.Nearest(e.Key, slices.Values(fieldNames(m.State)))})
		}
		list = append(list, Field{Name: e.Key, Value: r.expression(e.Value, names)})
	}
	slices.SortFunc(list, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func fieldNames(t *schema.Type) []string {
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		names[i] = f.Name
	}
	return names
}

// each calls read for each item of a list.
func (r *reader) each(n *document.Node, read func(*document.Node)) {
	if n.Kind != document.Sequence {
		r.WrongKind(n, "a list")
		return
	}
	for _, v := range n.Items() {
		read(v)
	}
}

// raises reads the messages of a rule.
func (r *reader) raises(rule *Rule, n *document.Node) {
	list := []any{}
	r.each(n, func(v *document.Node) {
		raise, doc := RaiseRule{}, map[string]any{}
		r.Object(v, template.Fields{
			"event": func(v *document.Node) {
				var t *schema.Type
				if t, raise.Event = r.typeNamed(v); t != nil && t.Kind == schema.System {
					r.Refuse(v, fmt.Sprintf("%q is an event of the engine and cannot be raised", raise.Event))
				}
				doc["event"] = raise.Event
			},
			"value": func(v *document.Node) {
				raise.Value = r.expression(v, seenByOutput)
				doc["value"] = v.Value()
			},
		})
		r.Required(v, "event")
		rule.Raise = append(rule.Raise, raise)
		list = append(list, doc)
	})
	rule.doc["raise"] = list
}

// emissions reads the effects and timers of a rule.
func (r *reader) emissions(m *Machine, rule *Rule, n *document.Node) {
	list := []any{}
	r.each(n, func(v *document.Node) {
		emit, doc := EmitRule{}, map[string]any{}
		if v.Get("timer") != nil {
			r.arming(m, &emit, doc, v)
		} else {
			r.emission(m, &emit, doc, v)
		}
		rule.Emit = append(rule.Emit, emit)
		list = append(list, doc)
	})
	rule.doc["emit"] = list
}

func (r *reader) emission(m *Machine, emit *EmitRule, doc map[string]any, n *document.Node) {
	part := func(key string, into **expr.Template, read func(*document.Node, []string) *expr.Template) func(*document.Node) {
		return func(v *document.Node) {
			*into = read(v, seenByOutput)
			doc[key] = v.Value()
		}
	}
	r.Object(n, template.Fields{
		"effect": func(v *document.Node) {
			emit.Effect = r.Text(v)
			doc["effect"] = emit.Effect
			r.mayEmit(m, v, emit.Effect)
		},
		"params": part("params", &emit.Params, r.expression),
		"issuer": part("issuer", &emit.Issuer, r.text),
		"key":    part("key", &emit.Key, r.text),
		"timer":  nil,
	})
	r.Required(n, "effect")
}

// arming reads a timer: its name, and when it is due.
func (r *reader) arming(m *Machine, emit *EmitRule, doc map[string]any, n *document.Node) {
	r.Object(n, template.Fields{
		"timer": func(v *document.Node) {
			if emit.Timer = r.Text(v); emit.Timer == "" && !r.IsRefused(v) {
				r.Refuse(v, "a timer must have a name")
			}
			if err := document.Visible(emit.Timer); err != nil {
				r.Refuse(v, "invalid name "+err.Error())
			}
			doc["timer"] = emit.Timer
			r.mayEmit(m, v, TimerEffect)
		},
		"for": func(v *document.Node) {
			emit.For = r.text(v, seenByOutput)
			doc["for"] = r.length(v, emit.For)
		},
		"until": func(v *document.Node) {
			emit.Until = r.text(v, seenByOutput)
			doc["until"] = r.instant(v, emit.Until)
		},
	})
	switch forNode, until := n.Get("for"), n.Get("until"); {
	case forNode != nil && until != nil:
		r.exclusive(n, "for", "until")
	case forNode == nil && until == nil && !r.misspelt(n, "for", "until"):
		r.Fault(&document.Error{Pos: n.Pos.Key("for"), Msg: "a timer needs for or until"})
	}
}

// length returns a constant duration in its canonical spelling, after checking it; other values as written.
func (r *reader) length(n *document.Node, t *expr.Template) any {
	text, isConstant := constantText(t)
	if !isConstant {
		return n.Value()
	}
	d, err := duration.Parse(text)
	if err != nil {
		r.Refuse(n, err.Error())
		return text
	}
	return duration.Format(d)
}

// instant is length for an instant.
func (r *reader) instant(n *document.Node, t *expr.Template) any {
	text, isConstant := constantText(t)
	if !isConstant {
		return n.Value()
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		r.Refuse(n, "until must be a time such as 2027-01-31T12:00:00Z")
		return text
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// constantText returns the value of an expression that reads nothing and returns a text.
func constantText(t *expr.Template) (string, bool) {
	if t == nil {
		return "", false
	}
	v, isConstant := t.Constant()
	text, isText := v.(string)
	return text, isConstant && isText
}

// mayEmit refuses an effect that is unknown, or that the machine does not declare.
func (r *reader) mayEmit(m *Machine, n *document.Node, effect string) {
	switch {
	case r.IsRefused(n):
	case n.Get("timer") == nil && effect == TimerEffect && lastKey(n) == "effect":
		r.Refuse(n, "a timer is armed with {timer: NAME, for: PT30M}")
	case !r.isEffect(effect):
		r.unknownEffect(n, effect)
	case m.emits != nil && !m.MayEmit(effect):
		r.Fault(&document.Error{Pos: n.Pos, Text: effect, Msg: fmt.Sprintf(
			"machine %q emits %q, which is not in its emits", m.Name, effect)})
	}
}

// drops reads the open intents that a cell no longer waits for.
func (r *reader) drops(m *Machine, rule *Rule, n *document.Node) {
	r.each(n, func(v *document.Node) {
		text := r.Text(v)
		effect, issuer, ok := splitEffect(text, r.isEffect)
		switch {
		case r.IsRefused(v):
		case !ok:
			r.unknownEffect(v, text)
		case m.emits != nil && !m.MayEmit(effect):
			r.Fault(&document.Error{Pos: v.Pos, Text: text, Msg: fmt.Sprintf(
				"machine %q drops %q, which is not in its emits", m.Name, effect)})
		default:
			rule.Drop = append(rule.Drop, Drop{Effect: effect, Issuer: issuer})
		}
	})
}

// fail reads the failure of a cell.
func (r *reader) fail(n *document.Node) *FailRule {
	f := &FailRule{}
	r.Object(n, template.Fields{
		"code":    func(v *document.Node) { f.Code = r.text(v, seenByRule) },
		"message": func(v *document.Node) { f.Message = r.text(v, seenByRule) },
	})
	r.Required(n, "code")
	return f
}

// note reads the annotation of a step.
func (r *reader) note(m *Machine, rule *Rule, n *document.Node) {
	if m.Annotations == nil {
		r.Refuse(n, fmt.Sprintf("machine %q has no annotations: declare the type of its notes", m.Name))
	}
	rule.Note = r.expression(n, seenByOutput)
}
