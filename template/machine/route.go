package machine

import (
	"fmt"

	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// route leads the messages of a name to a machine.
type route struct {
	to  *Subscription
	arm string // the arm of the subscription's variant that wraps a message of the arm's type; "": no wrapping
}

// addRoutes adds the routes of a subscription: for messages of its own name, and for the types of a variant's arms.
func (w *World) addRoutes(s *Subscription) {
	w.routes[s.Event] = append(w.routes[s.Event], route{to: s})
	t := w.Types.Lookup(s.Event)
	if t.Kind != schema.Variant {
		return
	}
	for _, arm := range t.Fields {
		if _, given := system[arm.Type.Name]; !given && arm.Type.Name != "" && exclusive(t, arm) {
			w.routes[arm.Type.Name] = append(w.routes[arm.Type.Name], route{to: s, arm: arm.Name})
		}
	}
}

// exclusive reports whether no other arm of a variant has the type of this one.
func exclusive(variant *schema.Type, arm schema.Field) bool {
	for _, other := range variant.Fields {
		if other.Name != arm.Name && other.Type.Name == arm.Type.Name {
			return false
		}
	}
	return true
}

// Route normalises a message from any sender, and returns its deliveries in the order of the subscriptions, one for each
// cell. A message that does not fit, also one without the key that some machine needs, is refused whole: the error names the
// place as a JSON pointer.
func (w *World) Route(name string, payload value.Value) (*Routed, error) {
	t := w.Types.Lookup(name)
	if t == nil || t.Kind == schema.System {
		return nil, unknown("type", name, w.Types.Names())
	}
	v, err := t.Normalize(payload)
	if err != nil {
		return nil, err
	}
	routed := &Routed{Name: name, Payload: v}
	for _, way := range w.routes[name] {
		d := Delivery{Machine: way.to.Machine, Event: way.event(name, v)}
		if d.Key, err = way.key(v); err != nil {
			return nil, err
		}
		if !routed.reaches(d) {
			routed.To = append(routed.To, d)
		}
	}
	return routed, nil
}

// reaches reports whether the message already has a delivery to the cell.
func (r *Routed) reaches(d Delivery) bool {
	for _, other := range r.To {
		if other.Machine == d.Machine && value.Equal(other.Key, d.Key) {
			return true
		}
	}
	return false
}

// event returns the event of a message for the machine of a route.
func (way route) event(name string, v value.Value) Event {
	m := way.to.Machine
	if way.arm != "" && m.Event.Variant == nil {
		return Event{Kind: Message, Name: way.to.Event, Value: wrap(way.arm, v)}
	}
	return m.eventOf(name, v)
}

// eventOf returns the event of a message for a machine that takes it. If the message is the machine's variant, that is the
// event of the arm.
func (m *Machine) eventOf(name string, v value.Value) Event {
	if m.Event.Variant != nil && m.Event.Variant.Name == name {
		wrapped := v.(map[string]any)
		tag, _ := wrapped["$tag"].(string)
		return Event{Kind: Message, Name: m.Event.Variant.Field(tag).Name, Value: wrapped["$value"]}
	}
	return Event{Kind: Message, Name: name, Value: v}
}

// wrap returns the normal form of an arm of a variant.
func wrap(arm string, v value.Value) value.Value { return map[string]any{"$tag": arm, "$value": v} }

// key returns the key of the cell to which a message in normal form goes. It has the type of the machine's key, so it is in normal form
// too.
func (way route) key(v value.Value) (value.Value, error) {
	path := way.to.Field
	if way.to.Machine.Key == nil {
		return nil, nil
	}
	if way.arm != "" {
		path = path[1:] // the message is the $value
	}
	for _, part := range path {
		object, _ := v.(map[string]any)
		v = object[part]
	}
	if v == nil {
		return nil, &schema.Fault{Pointer: value.Pointer(path), Text: fmt.Sprintf("is the key of machine %q and must not be null", way.to.Machine.Name)}
	}
	if size, err := value.Size(v, KeyBytesMax); err != nil || size > KeyBytesMax {
		return nil, &schema.Fault{Pointer: value.Pointer(path), Text: fmt.Sprintf("is the key of machine %q and must have at most %d bytes", way.to.Machine.Name, KeyBytesMax)}
	}
	return v, nil
}

// Arrival returns the event of a cell for a message that Route has delivered to it. The payload is in normal form.
func (w *World) Arrival(m *Machine, key value.Value, name string, payload value.Value) Event {
	for _, way := range w.routes[name] {
		if way.to.Machine != m {
			continue
		}
		if k, err := way.key(payload); err == nil && value.Equal(k, key) {
			return way.event(name, payload)
		}
	}
	return Event{Kind: Message, Name: name, Value: payload}
}
