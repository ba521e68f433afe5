package variables

import (
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/sluiceflow/sluice/template/value"
)

// Vars are the variables of one scope, by name: the context, an iteration's or a step's own, results by task. They are
// handed out as they are, and do not change afterwards: a write copies the objects on its path, and the map
// of the variables too when it was handed out. The rest is shared, so a snapshot costs nothing.
type Vars struct {
	values map[string]value.Value
	held   bool // values were handed out
	bytes  int  // what was written takes when encoded, counted write by write
}

// All hands the variables out. The map is never nil, and never changes.
func (v *Vars) All() map[string]value.Value {
	if v.values == nil {
		return map[string]value.Value{}
	}
	v.held = true
	return v.values
}

// Of returns variables that have these values. The map belongs to them from then on.
func Of(values map[string]value.Value) Vars { return Vars{values: values} }

// Get returns a variable. It reports false when there is none of that name.
func (v *Vars) Get(name string) (value.Value, bool) {
	x, ok := v.values[name]
	return x, ok
}

// Peek returns the variables for a look that ends before the next write. The map may be nil.
func (v *Vars) Peek() map[string]value.Value { return v.values }

// Copied returns the same variables, whose writes are their own.
func (v *Vars) Copied() Vars {
	v.held = true
	return *v
}

// Put writes a variable.
func (v *Vars) Put(name string, x value.Value) {
	switch {
	case v.values == nil:
		v.values = map[string]value.Value{}
	case v.held:
		v.values, v.held = maps.Clone(v.values), false
	}
	v.values[name] = x
}

// Write writes what a path leads to: a variable, or a place inside one.
func (v *Vars) Write(path []string, x value.Value) error {
	if err := v.Takes(path); err != nil {
		return err
	}
	v.Put(path[0], within(v.values[path[0]], path[1:], x))
	return nil
}

// WriteWithin is Write, unless there would be more than most bytes after it; below 1 there may be any number. Only what the
// path leads to is measured.
func (v *Vars) WriteWithin(most int, path []string, x value.Value) error {
	if most < 1 {
		return v.Write(path, x)
	}
	size, err := value.Size(x, most)
	if err != nil {
		return err
	}
	was, err := value.Size(v.At(path), math.MaxInt)
	if err != nil {
		return err
	}
	return v.WriteGrown(most, path, x, size-was)
}

// WriteGrown is WriteWithin for a value that takes so many bytes more than the one it replaces.
func (v *Vars) WriteGrown(most int, path []string, x value.Value, grown int) error {
	if most > 0 && v.At(path) == nil { // keys that are new, too
		for _, key := range path {
			grown += len(key) + 1
		}
	}
	bytes := max(0, v.bytes+grown)
	if most > 0 && grown > 0 && bytes > most {
		return RoomError{fmt.Sprintf("%s cannot be written: with %d bytes more, what is written here would take %d, and at most %d are allowed",
			clipped(path), grown, bytes, most)}
	}
	if err := v.Write(path, x); err != nil {
		return err
	}
	v.bytes = bytes
	return nil
}

// RoomError is a write that there is no room for.
type RoomError struct{ text string }

func (e RoomError) Error() string { return e.text }

// Takes reports why nothing can be written where a path leads: something on the way is no object.
func (v *Vars) Takes(path []string) error {
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

// At returns the value at a path; null where there is none.
func (v *Vars) At(path []string) value.Value {
	at := v.values[path[0]]
	for _, key := range path[1:] {
		object, _ := at.(map[string]any)
		at = object[key]
	}
	return at
}

// within returns a copy of old with the value at the path replaced.
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

// Fits reports why a value cannot be written where a path leads: there is a limit to how deep variables nest.
func Fits(path []string, v value.Value) error {
	if err := value.Fits(v, len(path)); err != nil {
		return fmt.Errorf("%s cannot be written: the %w", clipped(path), err)
	}
	return nil
}

// clipped returns a path for a message.
func clipped(path []string) string {
	const most = 8
	if len(path) > most {
		return strings.Join(path[:most], ".") + ".…"
	}
	return strings.Join(path, ".")
}
