package machine

import (
	"fmt"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/schema/gotypes"
	"github.com/sluiceflow/sluice/template/value"
)

// Part is a part of a world: a Definition, a subscription, the operation of an effect, or keys of its document.
type Part interface{ add(b *builder) error }

// World returns a world of machines: the same workflow as a document with the same machines and types, with the same hash. It
// panics if the document would be refused: see NewWorld.
func World(name string, parts ...Part) *template.Workflow {
	w, err := NewWorld(name, parts...)
	if err != nil {
		panic(fmt.Sprintf("world %q: %v", name, err))
	}
	return w
}

// NewWorld is World for parts that may have faults, such as keys that the program makes: it returns an error.
func NewWorld(name string, parts ...Part) (*template.Workflow, error) {
	b := &builder{types: gotypes.Declarations{}, effects: map[string]any{}, machines: map[string]any{},
		doc: map[string]any{"kind": machine.Kind, "name": name}}
	for _, p := range parts {
		if err := p.add(b); err != nil {
			return nil, err
		}
	}
	data, err := value.JSON(b.document())
	if err != nil {
		return nil, err
	}
	nodes, err := document.Parse("", data, document.Limits{})
	if err != nil {
		return nil, err
	}
	w, err := machine.ParseNode(nodes[0])
	if err != nil {
		return nil, err
	}
	return w, b.provide(w)
}

// builder collects the parts of a world.
type builder struct {
	types         gotypes.Declarations
	effects       map[string]any
	machines      map[string]any
	subscriptions []any
	doc           map[string]any // keys that were passed
	definitions   []*Definition
	operations    []operation
}

// document returns the document of the world: the keys that follow from the definitions, overlaid by those passed.
func (b *builder) document() map[string]any {
	derived := map[string]any{"machines": b.machines}
	if len(b.types) > 0 {
		derived["types"] = map[string]any(b.types)
	}
	if len(b.effects) > 0 {
		derived["effects"] = b.effects
	}
	if len(b.subscriptions) > 0 {
		derived["routing"] = map[string]any{"subscriptions": b.subscriptions}
	}
	return overlay(derived, b.doc)
}

// overlay returns an object with another laid over it: objects of both are laid over each other, and lists follow each other.
func overlay(under, over map[string]any) map[string]any {
	for key, v := range over {
		switch u := under[key].(type) {
		case map[string]any:
			if o, ok := v.(map[string]any); ok {
				under[key] = overlay(u, o)
				continue
			}
		case []any:
			if o, ok := v.([]any); ok {
				under[key] = append(u, o...)
				continue
			}
		}
		under[key] = v
	}
	return under
}

// provide adds the code of the machines and the operations to a world.
func (b *builder) provide(w *template.Workflow) error {
	world, _ := machine.Of(w)
	for _, d := range b.definitions {
		if !world.Provide(d.code) {
			return fmt.Errorf("two machines in Go are named %q, version %q: define a machine once, at package level", d.code.Name, d.code.Version)
		}
		for _, m := range world.Machines {
			if m.Go == nil || *m.Go != d.code.Implementation {
				continue
			}
			if _, err := d.code.Bind(world, m); err != nil {
				return err
			}
		}
	}
	for _, op := range b.operations {
		if !w.Provide(op.name, op.implementation) {
			return fmt.Errorf("operation %q has two implementations: define an operation once, and use its handle", op.name)
		}
	}
	return nil
}

// add adds a machine of the definition's name, with its types and effects.
func (d *Definition) add(b *builder) error {
	doc, err := d.declare(b.types)
	if err != nil {
		return fmt.Errorf("machine %q: %w", d.code.Name, err)
	}
	if _, twice := b.machines[d.code.Name]; twice {
		return fmt.Errorf("two machines are named %q", d.code.Name)
	}
	b.machines[d.code.Name] = doc
	b.definitions = append(b.definitions, d)
	return d.effects(b.types, b.effects)
}

// Subscribe delivers the messages of a name to cells of a machine. field is the path of the key in the message, "" if the machine has no
// key.
func Subscribe(message string, to *Definition, field string) Part {
	doc := map[string]any{"event": message, "machine": to.code.Name}
	if field != "" {
		doc["key_field"] = field
	}
	return subscription(doc)
}

type subscription map[string]any

func (s subscription) add(b *builder) error {
	b.subscriptions = append(b.subscriptions, map[string]any(s))
	return nil
}

// Operation is the handle of an operation, as operation.Define returns it.
type Operation interface {
	// Name returns the name of the operation.
	Name() string

	// Implementation returns the Go code that carries out the operation.
	Implementation() any
}

// operation is an operation that carries out an effect.
type operation struct {
	effect         string
	name           string
	implementation any
}

// Call makes an operation carry out an effect: it takes the params, and its output is the payload of the receipt.
func Call[Params, Receipt any](effect EffectOf[Params, Receipt], by Operation) Part {
	return operation{effect.name, by.Name(), by.Implementation()}
}

func (op operation) add(b *builder) error {
	b.operations = append(b.operations, op)
	if op.name != op.effect {
		b.doc = overlay(b.doc, map[string]any{"effects": map[string]any{op.effect: map[string]any{"operation": op.name}}})
	}
	return nil
}

// Keys are keys of the world's document, laid over those that follow from the definitions: bindings and timing of effects, machines
// with rules, lifecycles, a directory. Lists are appended to.
type Keys map[string]any

func (k Keys) add(b *builder) error {
	v, err := value.Own(map[string]any(k))
	if err != nil {
		return err
	}
	b.doc = overlay(b.doc, v.(map[string]any))
	return nil
}
