package net

import (
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/sluiceflow/sluice/template/value"
)

// vars are the variables of one scope, by name: the context, an iteration's or a step's own, results by task. They are
// handed out as they are, and do not change for whoever holds them: a write makes the objects on its path anew, and the map
// of the variables too when somebody holds it. The rest is shared, so a snapshot costs nothing.
type vars struct {
	values map[string]value.Value
	held   bool // somebody holds values as they are
	bytes  int  // what was written takes when encoded, counted write by write
}

// all hands the variables out. The map is never nil, and never changes.
func (v *vars) all() map[string]value.Value {
	if v.values == nil {
		return map[string]value.Value{}
	}
	v.held = true
	return v.values
}

// copied are the same variables, whose writes are their own.
func (v *vars) copied() vars {
	v.held = true
	return *v
}

// put writes a variable.
func (v *vars) put(name string, x value.Value) {
	switch {
	case v.values == nil:
		v.values = map[string]value.Value{}
	case v.held:
		v.values, v.held = maps.Clone(v.values), false
	}
	v.values[name] = x
}

// write writes what a path leads to: a variable, or a place inside one.
func (v *vars) write(path []string, x value.Value) error {
	if err := v.takes(path); err != nil {
		return err
	}
	v.put(path[0], within(v.values[path[0]], path[1:], x))
	return nil
}

// writeWithin is write, unless there would be more than most bytes after it; below 1 there may be any number. Only what the
// path leads to is measured.
func (v *vars) writeWithin(most int, path []string, x value.Value) error {
	if most < 1 {
		return v.write(path, x)
	}
	size, err := value.Size(x, most)
	if err != nil {
		return err
	}
	was, err := value.Size(v.at(path), math.MaxInt)
	if err != nil {
		return err
	}
	return v.writeGrown(most, path, x, size-was)
}

// writeGrown is writeWithin of what takes so many bytes more than what it replaces.
func (v *vars) writeGrown(most int, path []string, x value.Value, grown int) error {
	if most > 0 && v.at(path) == nil { // keys that are new, too
		for _, key := range path {
			grown += len(key) + 1
		}
	}
	bytes := max(0, v.bytes+grown)
	if most > 0 && grown > 0 && bytes > most {
		return errRoom{fmt.Sprintf("%s cannot be written: with %d bytes more, what is written here would take %d, and at most %d are allowed",
			clipped(path), grown, bytes, most)}
	}
	if err := v.write(path, x); err != nil {
		return err
	}
	v.bytes = bytes
	return nil
}

// errRoom is a write that there is no room for.
type errRoom struct{ text string }

func (e errRoom) Error() string { return e.text }

// takes reports why nothing can be written where a path leads: something on the way is no object.
func (v *vars) takes(path []string) error {
	at := v.values[path[0]]
	for i, key := range path[1:] {
		object, ok := at.(map[string]any)
		if !ok && at != nil {
			return fmt.Errorf("%s is no object, so %s cannot be written", clipped(path[:i+1]), clipped(path))
		}
		at = object[key]
	}
	return nil
}

// at is what a path leads to; null where nothing is.
func (v *vars) at(path []string) value.Value {
	at := v.values[path[0]]
	for _, key := range path[1:] {
		object, _ := at.(map[string]any)
		at = object[key]
	}
	return at
}

// within is what old, which takes the path, becomes when what the path leads to in it is written.
func within(old value.Value, path []string, v value.Value) value.Value {
	if len(path) == 0 {
		return v
	}
	object, _ := old.(map[string]any)
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	out[path[0]] = within(object[path[0]], path[1:], v)
	return out
}

// fits reports why a value cannot be written where a path leads: there is a limit to how deep variables nest.
func fits(path []string, v value.Value) error {
	if err := value.Fits(v, len(path)); err != nil {
		return fmt.Errorf("%s cannot be written: the %w", clipped(path), err)
	}
	return nil
}

// clipped is a path for a message.
func clipped(path []string) string {
	const most = 8
	if len(path) > most {
		return strings.Join(path[:most], ".") + ".…"
	}
	return strings.Join(path, ".")
}
