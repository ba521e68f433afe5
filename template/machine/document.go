package machine

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/fields"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// identify makes the canonical document of a world that has been read without faults, and names its parts by their hashes.
func (world *World) identify(w *template.Workflow) error {
	doc := canonicalTree(w)
	calls := callDocuments(w)
	operations, _ := doc["operations"].(map[string]any)
	effects := map[string]any{}
	for _, e := range world.Effects {
		effect := e.document()
		maps.Copy(effect, calls[e.Call.ID])
		if e.Call.Operation != e.Name {
			effect["operation"] = e.Call.Operation
		} else if e.own {
			maps.Copy(effect, operations[e.Name].(map[string]any))
			delete(operations, e.Name)
		}
		effects[e.Name] = effect
	}
	if len(operations) == 0 {
		delete(doc, "operations")
	}
	machines := map[string]any{}
	for _, m := range world.Machines {
		machines[m.Name] = m.document()
	}
	doc["machines"] = machines
	setMapping(doc, "types", world.Types.Document())
	setMapping(doc, "effects", effects)
	if len(world.Subscriptions) > 0 {
		doc["routing"] = map[string]any{"subscriptions": subscriptionDocuments(world.Subscriptions)}
	}
	world.Keychain.AddTo(doc)
	world.doc = doc
	hash, err := value.Hash(doc)
	if err != nil {
		return document.Errors{{Pos: world.Pos, Msg: err.Error(), Err: err}}
	}
	world.manifest = "sha256:" + hash
	return world.hash(machines)
}

// canonicalTree returns the parts that a world has in common with documents of other kinds.
func canonicalTree(w *template.Workflow) map[string]any {
	plain := *w
	plain.Routing, plain.Steps = nil, nil
	doc := plain.Document().(map[string]any)
	delete(doc, "steps")
	doc["kind"] = Kind
	return doc
}

// callDocuments returns the documents of the calls by the ids of their steps, without the keys operation and id.
func callDocuments(w *template.Workflow) map[string]map[string]any {
	calls := map[string]map[string]any{}
	for _, n := range w.Steps {
		for _, n := range n.(*template.Parallel).Steps {
			if group, ok := n.(*template.Parallel); ok {
				n = group.Steps[0]
			}
			one := template.Workflow{Steps: []template.Node{n}}
			call := one.Document().(map[string]any)["steps"].([]any)[0].(map[string]any)
			delete(call, "operation")
			delete(call, "id")
			calls[n.(*template.Step).ID] = call
		}
	}
	return calls
}

func setMapping(doc map[string]any, key string, v value.Value) {
	if m, ok := v.(map[string]any); ok && len(m) > 0 {
		doc[key] = m
	}
}

// document returns the keys of an effect except those of its call.
func (e *Effect) document() map[string]any {
	doc := fields.Object{"params": e.Params.Document(), "receipt": e.Receipt.Document()}
	if e.Payload != nil {
		doc["payload"] = e.payload // an explicit null is not the default
	}
	doc.Count("max_concurrency", e.Max)
	return doc
}

// document returns a machine in canonical form.
func (m *Machine) document() map[string]any {
	emits := make([]any, len(m.Emits))
	for i, name := range m.Emits {
		emits[i] = name
	}
	doc := fields.Object{"state": m.State.Document(), "event": m.Event.document(), "emits": emits}
	if m.Key != nil {
		doc["key"] = m.Key.Document()
	}
	if !m.Process {
		doc["lifecycle"] = "entity"
	}
	doc.Duration("ttl", m.TTL)
	if m.Annotations != nil {
		doc["annotations"] = m.Annotations.Document()
	}
	if m.Context {
		doc["context"] = true
	}
	if m.Go != nil {
		doc["go"] = map[string]any{"name": m.Go.Name, "version": m.Go.Version}
	}
	if len(m.Rules) > 0 {
		rules := make([]any, len(m.Rules))
		for i, rule := range m.Rules {
			rules[i] = rule.doc
		}
		doc["rules"] = rules
	}
	maps.Copy(doc, m.written)
	return doc
}

// document returns the event of a machine as a list of names, or as a variant.
func (a *Arms) document() value.Value {
	if a.Variant != nil {
		return a.Variant.Document()
	}
	names := slices.Clone(a.Messages)
	for _, arm := range []struct {
		given bool
		kind  EventKind
	}{{a.Receipt, Receipt}, {a.Rejected, Rejected}, {a.Frame, Frame}} {
		if arm.given {
			names = append(names, systemNames[arm.kind])
		}
	}
	slices.Sort(names)
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	return list
}

func subscriptionDocuments(list []Subscription) []any {
	docs := make([]any, len(list))
	for i, s := range list {
		doc := fields.Object{"event": s.Event, "machine": s.Machine.Name}
		doc.Text("key_field", strings.Join(s.Field, "."))
		docs[i] = map[string]any(doc)
	}
	return docs
}

// hash names the effects and machines. A hash binds the declared types that are used, too, not only their names.
func (world *World) hash(machines map[string]any) error {
	declared := world.Types.Document().(map[string]any)
	for _, e := range world.Effects {
		doc := map[string]any{"$kind": "effect", "name": e.Name, "params": e.Params.Document(), "receipt": e.Receipt.Document()}
		var err error
		if e.Hash, err = hashWith(declared, doc, nil, "params", "receipt"); err != nil {
			return document.Errors{{Pos: e.Pos, Msg: err.Error(), Err: err}}
		}
	}
	for _, m := range world.Machines {
		doc := map[string]any{"$kind": "machine", "name": m.Name}
		maps.Copy(doc, machines[m.Name].(map[string]any))
		var err error
		if m.Hash, err = hashWith(declared, doc, m.Event.Messages, "key", "state", "event", "annotations"); err != nil {
			return document.Errors{{Pos: m.Pos, Msg: err.Error(), Err: err}}
		}
	}
	return nil
}

// hashWith returns the hash of a document with the declarations of the named types, and of the types to which the values at
// keys refer.
func hashWith(declared, doc map[string]any, names []string, keys ...string) (string, error) {
	u := &usedTypes{declared: declared, used: map[string]any{}}
	for _, name := range names {
		u.add(name)
	}
	for _, key := range keys {
		u.visit(doc[key])
	}
	setMapping(doc, "types", u.used)
	return schema.HashTagged(doc)
}

// usedTypes collects the declarations of types, and of the types that they refer to.
type usedTypes struct{ declared, used map[string]any }

func (u *usedTypes) add(name string) {
	body, ok := u.declared[name]
	if _, seen := u.used[name]; ok && !seen {
		u.used[name] = body
		u.visit(body)
	}
}

// visit looks for references in the document of a type.
func (u *usedTypes) visit(v value.Value) {
	m, _ := v.(map[string]any)
	if name, ok := m["ref"].(string); ok {
		u.add(name)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		u.visit(m[key])
	}
}
