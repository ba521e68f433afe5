package net

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net/variables"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// runContext is the context of a run: the variables that gates, patches and all steps share.
type runContext struct {
	variables.Vars
	net *Net
}

// Context returns the run's context. The map does not change and must not be changed.
func (n *Net) Context() map[string]value.Value { return n.ctx.All() }

// patch applies a change of the context from outside: an object whose keys are paths such as `a.b`.
func (c *runContext) patch(e *journal.Event) {
	changes, _ := e.Value.(map[string]any)
	for _, k := range slices.Sorted(maps.Keys(changes)) {
		path, ok := value.ParsePath(k)
		v, err := value.Of(changes[k])
		if err == nil {
			err = variables.Fits(path, v)
		}
		if ok {
			c.net.root.Meter().Add(c.Work(path))
		}
		if ok && err == nil && c.WriteWithin(c.room(), path, v) == nil {
			c.written(path)
		}
	}
	c.net.emit(routed.View{Name: routed.ContextPatched})
}

// RefusePatch returns an error if a change of the context is not possible.
func (n *Net) RefusePatch(changes map[string]any) error {
	trial := n.ctx.Copied()
	changed := false
	quota, err := expr.Begin(n.root.Env(-1))
	if err != nil {
		return err
	}
	work := 0
	for _, k := range slices.Sorted(maps.Keys(changes)) {
		path, ok := value.ParsePath(k)
		if !ok {
			return fmt.Errorf("%q is no path: write key or key.inner", k)
		}
		if err := variables.Fits(path, changes[k]); err != nil {
			return err
		}
		if work += trial.Work(path); work > int(quota) {
			return fmt.Errorf("it writes to many places of large objects: write such an object as a whole: %w", expr.ErrLimit)
		}
		if err := trial.WriteWithin(n.ctx.room(), path, changes[k]); err != nil {
			return err
		}
		was, ok := n.ctx.Get(path[0])
		changed = changed || !ok || !value.Equal(was, trial.At(path[:1]))
	}
	if !changed {
		return errNothingNew
	}
	return nil
}

// errNothingNew means that a patch would change nothing.
var errNothingNew = errors.New("the context holds that already")

// set applies a list of sets. It evaluates all values before it writes the first.
func (c *runContext) set(list []playbook.Set, s *scope) error {
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
		path := list[i].Path
		err := variables.Fits(path, values[i])
		if err == nil {
			err = s.countWrite(list[i].Scope, path)
		}
		if err == nil {
			switch list[i].Scope {
			case playbook.Ctx:
				err = c.writeContext(s, path, values[i])
				patched = true
			case playbook.Iter:
				err = s.it.vars.WriteWithin(c.room(), path, values[i])
			case playbook.StepScope:
				err = s.run.vars.WriteWithin(c.room(), path, values[i])
			}
		}
		if err != nil {
			if room, ok := errors.AsType[variables.RoomError](err); ok { // the remaining writes would also fail
				c.net.halt(at(s.run.key, failure(ReasonLimit, "%v", room)))
			}
			return err
		}
	}
	if patched {
		c.net.emit(c.net.about(s, routed.View{Name: routed.ContextPatched}))
	}
	return nil
}

// writeContext writes to the context, and makes the gates that read the variable judge again.
func (c *runContext) writeContext(s *scope, path []string, v value.Value) error {
	write := c.WriteWithin
	if s.it != nil && s.it.apart() {
		out, known, err := c.writeOwn(s.it, path, v)
		if err != nil || known {
			return err
		}
		if s.it.run.step.Loop.Conflict == playbook.ConflictAppends { // only the appended value is new; the size of the list is known
			size, _ := value.Size(v, math.MaxInt)
			write = func(most int, path []string, x value.Value) error { return c.WriteGrown(most, path, x, size) }
		}
		v = out
	}
	if err := write(c.room(), path, v); err != nil {
		return err
	}
	c.written(path)
	return nil
}

// written makes the gates that read a written variable judge again.
func (c *runContext) written(path []string) {
	c.net.gates.Touch(path[0])
	c.net.marks.Written(c.net.event.Seq)
}

// room returns the bound of the bytes of the context, which also bounds the variables of an iteration or a step; 0: no limit.
func (c *runContext) room() int { return int(c.net.root.Start().ContextBytesMax) }

// writeOwn writes to an iteration's view of the context in a parallel loop: the context at the begin of the iteration, with its
// own writes. It returns only the value at the path for the shared context. It reports known if another iteration has written
// the same value, which must not be written again, so that a later change, such as a patch, stays.
func (c *runContext) writeOwn(it *iteration, path []string, v value.Value) (out value.Value, known bool, err error) {
	out = v
	switch it.run.step.Loop.Conflict {
	case playbook.ConflictAppends:
		if err = variables.Fits(append(slices.Clip(path), "0"), v); err == nil {
			out, err = it.run.writes.Appended(it.index, path, v, &c.Vars)
		}
	case playbook.ConflictRejected:
		known, err = it.run.writes.Conflict(it.index, path, v)
	}
	if err == nil && !known {
		err = c.Takes(path)
	}
	if err == nil {
		err = it.ctx.Write(path, out)
	}
	if err == nil && it.run.step.Loop.Conflict == playbook.ConflictRejected {
		it.run.writes.Note(it.index, path, v)
	}
	return out, known, err
}
