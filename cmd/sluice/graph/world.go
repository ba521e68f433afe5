package graph

import (
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/machine"
)

// worldPart is a node of the picture of a world: an event, a machine or an effect.
type worldPart struct {
	kind    string // event, machine or effect
	name    string
	machine *machine.Machine // of a machine
	effect  *machine.Effect  // of an effect
}

// key returns the key of the node. It includes the kind, since an event, a machine and an effect may have the same name.
func (p *worldPart) key() string { return p.kind + " " + p.name }

// drawWorld returns the picture of a world. Edges lead from events to the machines that subscribe to them, from machines to the events
// that they raise and the effects that they emit, and from effects back to the machines.
func drawWorld(r template.Routing) (*picture, error) {
	world := r.(*machine.World)
	parts := partsOf(world)
	b := dag.NewBuilder(dag.TemplateGraph)
	for i := range parts {
		b.AddNode(parts[i].key())
	}
	link := func(from, to string, attributes dag.Attributes) {
		a, _ := b.Node(from)
		z, _ := b.Node(to)
		b.AddEdge(a, z, attributes)
	}
	for _, s := range world.Subscriptions {
		link("event "+s.Event, "machine "+s.Machine.Name, dag.Attributes{Type: dag.Sequential})
	}
	for _, m := range world.Machines {
		for _, name := range raisedBy(m) {
			link("machine "+m.Name, "event "+name, dag.Attributes{Type: dag.Sequential})
		}
		for _, name := range m.Emits {
			if name == machine.TimerEffect {
				continue
			}
			link("machine "+m.Name, "effect "+name, dag.Attributes{Type: dag.Sequential})
			link("effect "+name, "machine "+m.Name, dag.Attributes{Type: dag.Data, DataFlow: true})
		}
	}
	g, err := b.Build()
	if err != nil {
		return nil, err
	}
	return &picture{worldDrawing(world, parts), g, func(id int32) any { return parts[id].attributes() }}, nil
}

// partsOf returns the events with a subscription, in the order of the subscriptions, then the other events that machines raise, the
// machines, and the effects.
func partsOf(world *machine.World) (parts []worldPart) {
	known := map[string]bool{}
	event := func(name string) {
		if !known[name] {
			known[name] = true
			parts = append(parts, worldPart{kind: "event", name: name})
		}
	}
	for _, s := range world.Subscriptions {
		event(s.Event)
	}
	for _, m := range world.Machines {
		for _, name := range raisedBy(m) {
			event(name)
		}
	}
	for _, m := range world.Machines {
		parts = append(parts, worldPart{kind: "machine", name: m.Name, machine: m})
	}
	for _, e := range world.Effects {
		parts = append(parts, worldPart{kind: "effect", name: e.Name, effect: e})
	}
	return parts
}

// raisedBy returns the events that the rules of a machine raise, each once, in the order written.
func raisedBy(m *machine.Machine) (names []string) {
	for _, rule := range m.Rules {
		for i := range rule.Raise {
			if name := rule.Raise[i].Event; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// timersOf returns the timers that the rules of a machine arm, each once, in the order written.
func timersOf(m *machine.Machine) (names []string) {
	for _, rule := range m.Rules {
		for i := range rule.Emit {
			if name := rule.Emit[i].Timer; name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// worldDrawing returns the look of each part of a world, including raised messages without a subscriber.
func worldDrawing(world *machine.World, parts []worldPart) dag.Drawing {
	return dag.Drawing{
		Title:   world.Name,
		Classes: map[string]dag.Style{"event": {Fill: "#fef9c3"}, "effect": {Dashed: true}},
		Node: func(id int32) dag.Look {
			p := &parts[id]
			look := dag.Look{Label: p.name}
			switch p.kind {
			case "machine":
				look.Label = machineLabel(p.machine)
				if p.machine.Key != nil {
					look.Shape = dag.Stack
				}
			default:
				look.Class = p.kind
			}
			return look
		},
	}
}

// machineLabel returns the name of a machine and, below it, its lifecycle and its timers.
func machineLabel(m *machine.Machine) string {
	lines := []string{m.Name, lifecycle(m)}
	if timers := timersOf(m); len(timers) > 0 {
		lines = append(lines, "timers: "+strings.Join(timers, ", "))
	}
	return strings.Join(lines, "\n")
}

func lifecycle(m *machine.Machine) string {
	if m.Process {
		return "process"
	}
	return "entity"
}

// attributes returns the JSON attributes of a part.
func (p *worldPart) attributes() any {
	a := struct {
		Kind      string   `json:"kind"`
		Name      string   `json:"name"`
		Keyed     bool     `json:"keyed,omitempty"`
		Lifecycle string   `json:"lifecycle,omitempty"`
		Timers    []string `json:"timers,omitempty"`
		Operation string   `json:"operation,omitempty"`
	}{Kind: p.kind, Name: p.name}
	if m := p.machine; m != nil {
		a.Keyed, a.Lifecycle, a.Timers = m.Key != nil, lifecycle(m), timersOf(m)
	}
	if e := p.effect; e != nil {
		a.Operation = e.Executor
	}
	return a
}
