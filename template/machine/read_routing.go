package machine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/schema"
)

// subscriptions reads the subscriptions.
func (r *reader) subscriptions(n *document.Node) {
	seen := map[string]bool{}
	r.each(n, func(v *document.Node) {
		if s := r.subscription(v); s != nil {
			id := s.Event + "\x00" + s.Machine.Name + "\x00" + strings.Join(s.Field, ".")
			if seen[id] {
				r.Fault(&document.Error{Pos: v.Pos, Msg: fmt.Sprintf("duplicate subscription of %q to %q", s.Machine.Name, s.Event)})
				return
			}
			seen[id] = true
			r.world.Subscriptions = append(r.world.Subscriptions, *s)
			r.world.addRoutes(s)
		}
	})
}

// subscription reads one subscription. It returns nil for one without a valid machine and event, or with an invalid key
// field.
func (r *reader) subscription(n *document.Node) *Subscription {
	later := func(*document.Node) {}
	r.Object(n, template.Fields{"event": later, "machine": later, "workflow": later, "op": later, "key_field": later})
	r.Required(n, "event")
	r.required(n, "machine", "workflow", "op")
	s := &Subscription{Pos: n.Pos}
	if v := r.either(n, "machine", "workflow", "op"); v != nil {
		s.Machine = r.machineNamed(v)
	}
	var t *schema.Type
	if v := n.Get("event"); v != nil {
		t, s.Event = r.typeNamed(v)
	}
	if s.Machine == nil || t == nil {
		return nil
	}
	if !s.Machine.takesMessage(s.Event) {
		r.noArm(s.Machine, n.Get("event"), s.Event)
		return nil
	}
	if !r.keyed(s, t, n) {
		return nil
	}
	return s
}

func (r *reader) machineNamed(n *document.Node) *Machine {
	name := r.Text(n)
	m := r.world.Machine(name)
	if m == nil && !r.IsRefused(n) {
		r.Fault(&document.Error{Pos: n.Pos, Text: name, Msg: fmt.Sprintf("unknown machine %q", name),
			Suggestion: r.Nearest(name, slices.Values(r.world.MachineNames()))})
	}
	return m
}

// keyed reads the field that holds the key of the cell, and checks it against the event and the machine.
func (r *reader) keyed(s *Subscription, t *schema.Type, n *document.Node) bool {
	v, m := n.Get("key_field"), s.Machine
	switch {
	case v == nil && m.Key != nil:
		r.Fault(&document.Error{Pos: n.Pos.Key("key_field"), Msg: fmt.Sprintf(
			"machine %q is keyed: its subscription to %q needs key_field", m.Name, s.Event)})
		return false
	case v == nil:
		return true
	case m.Key == nil:
		r.Refuse(v, fmt.Sprintf("machine %q has no key: its subscription to %q cannot have key_field", m.Name, s.Event))
		return false
	}
	text := r.Text(v)
	if r.IsRefused(v) {
		return false
	}
	s.Field = strings.Split(text, ".")
	return r.keyField(v, s, t)
}

// keyField checks that the event of a subscription has its field, of the type of the machine's key.
func (r *reader) keyField(n *document.Node, s *Subscription, t *schema.Type) bool {
	text, key := strings.Join(s.Field, "."), s.Machine.Key
	if t.Kind == schema.Invalid || key.Kind == schema.Invalid {
		return false
	}
	found, err := t.At(s.Field)
	if missing, ok := errors.AsType[*schema.PathError](err); ok {
		r.Fault(&document.Error{Pos: n.Pos, Text: text, Msg: fmt.Sprintf("key_field %q: %q %s", text, s.Event, missing.Text), Suggestion: missing.Suggestion})
		return false
	}
	if found.Kind != schema.Invalid && !found.Equal(key) {
		r.Refuse(n, fmt.Sprintf("key_field %q is %s, and the key of %q is %s", text, describe(found), s.Machine.Name, describe(key)))
		return false
	}
	return true
}

// describe names a type in a message.
func describe(t *schema.Type) string {
	if t.Name != "" {
		return t.Name
	}
	return t.Kind.String()
}
