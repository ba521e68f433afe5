package net

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// contexts is the run's context and who has a snapshot of it. Values never change in place: a write makes the maps on its
// path anew, so a snapshot costs nothing.
type contexts struct {
	values map[string]value.Value
	shared bool // somebody holds values as they are
}

// snapshot is the context as it is now. It belongs to nobody.
func (c *contexts) snapshot() map[string]value.Value {
	c.shared = true
	return c.values
}

func (c *contexts) write(path []string, v value.Value) error {
	v, err := within(c.values[path[0]], path, 1, v)
	if err != nil {
		return err
	}
	if c.shared {
		c.values, c.shared = maps.Clone(c.values), false
	}
	c.values[path[0]] = v
	return nil
}

// within is what old becomes when path[at:] in it is written.
func within(old value.Value, path []string, at int, v value.Value) (value.Value, error) {
	if at == len(path) {
		return v, nil
	}
	object, ok := old.(map[string]any)
	if !ok && old != nil {
		return nil, fmt.Errorf("%s is no object, so %s cannot be written", strings.Join(path[:at], "."), strings.Join(path, "."))
	}
	v, err := within(object[path[at]], path, at+1, v)
	if err != nil {
		return nil, err
	}
	copied := maps.Clone(object)
	if copied == nil {
		copied = map[string]any{}
	}
	copied[path[at]] = v
	return copied, nil
}

// Context is the run's context. The map belongs to the net and does not change.
func (n *Net) Context() map[string]value.Value { return n.ctx.snapshot() }

// patch takes a change of the context from outside: an object whose keys are paths such as `a.b`.
func (n *Net) patch(e *journal.Event) {
	changes, _ := e.Value.(map[string]any)
	for _, k := range slices.Sorted(maps.Keys(changes)) {
		path := strings.Split(k, ".")
		v, err := value.Of(changes[k])
		if err == nil {
			err = n.ctx.write(path, v)
		}
		if err == nil {
			n.gates.touch(path[0])
		}
	}
	n.tell(View{Name: ContextPatched})
}

// PatchError says why a change of the context cannot be made; nil when it can.
func (n *Net) PatchError(changes map[string]any) error {
	trial := contexts{values: n.ctx.values, shared: true}
	for _, k := range slices.Sorted(maps.Keys(changes)) {
		if err := trial.write(strings.Split(k, "."), changes[k]); err != nil {
			return err
		}
	}
	return nil
}

// written is a value that an iteration of a parallel loop has written under a key of the context.
type written struct {
	by int32
	v  value.Value
}

// errConflict is a write that another iteration's forbids.
type errConflict struct{ key string }

func (e errConflict) Error() string {
	return fmt.Sprintf("another iteration has written another value to ctx.%s", e.key)
}

// set does what a list of sets says. All values are made before the first is written.
func (n *Net) set(list []playbook.Set, s *scope) error {
	if len(list) == 0 {
		return nil
	}
	values := make([]value.Value, len(list))
	for i := range list {
		v, err := list[i].Value.Eval(s)
		if err != nil {
			return err
		}
		values[i] = v
	}
	patched := false
	for i := range list {
		var err error
		switch path := list[i].Path; list[i].Scope {
		case playbook.Ctx:
			err = n.writeContext(s, path, values[i])
			patched = true
		case playbook.Iter:
			s.it.vars, err = writeIn(s.it.vars, path, values[i])
		case playbook.StepScope:
			s.run.vars, err = writeIn(s.run.vars, path, values[i])
		}
		if err != nil {
			return err
		}
	}
	if patched {
		n.tell(n.about(s, View{Name: ContextPatched}))
	}
	return nil
}

func writeIn(vars map[string]value.Value, path []string, v value.Value) (map[string]value.Value, error) {
	out, err := within(vars, path, 0, v)
	if err != nil {
		return vars, err
	}
	return out.(map[string]any), nil
}

// writeContext writes to the context: at once for everybody, but for iterations of a parallel loop, which see what was
// there when they began, and their own writes.
func (n *Net) writeContext(s *scope, path []string, v value.Value) error {
	if s.it == nil || s.it.ctx == nil {
		n.gates.touch(path[0])
		return n.ctx.write(path, v)
	}
	own, err := within(s.it.ctx[path[0]], path, 1, v)
	if err != nil {
		return err
	}
	if !s.it.wrote {
		s.it.ctx, s.it.wrote = maps.Clone(s.it.ctx), true
	}
	was, ok := s.run.writes[path[0]]
	now := written{s.it.index, own}
	switch s.run.step.Loop.Conflict {
	case playbook.ConflictAppends:
		list, _ := was.v.([]any)
		list = append(list, own) // the spare room is nobody else's: what was given out before stays as it is
		now.v, own = list, slices.Clip(list)
	case playbook.ConflictRejected:
		if ok && was.by != s.it.index {
			if !value.Equal(was.v, own) {
				return errConflict{path[0]}
			}
			now.by = was.by // the key stays with the iteration that wrote it first
		}
	}
	s.it.ctx[path[0]] = own
	s.run.writes[path[0]] = now
	n.gates.touch(path[0])
	return n.ctx.write(path[:1], own)
}
