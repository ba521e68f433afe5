package variables

import (
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/sluiceflow/sluice/template/value"
)

// Vars are the variables of one scope, by name: the context, the variables of an iteration or a step, or results by task.
// Returned values do not change: a write copies the objects on its path, and the map of the variables if it was returned. The
// rest is shared, so a snapshot is free.
type Vars struct {
	values map[string]value.Value
	held   bool // values were returned
	bytes  int  // encoded size of the written values, minus the size of replaced values
}

// All returns the variables. The map is never nil and never changes.
func (v *Vars) All() map[string]value.Value {
	if v.values == nil {
		return map[string]value.Value{}
	}
	v.held = true
	return v.values
}

// Of returns variables with these values. It takes ownership of the map.
func Of(values map[string]value.Value) Vars { return Vars{values: values} }

// Get returns a variable. It reports false if there is none with the name.
func (v *Vars) Get(name string) (value.Value, bool) {
	x, ok := v.values[name]
	return x, ok
}

// Peek returns the variables for reading before the next write. The map may be nil.
func (v *Vars) Peek() map[string]value.Value { return v.values }

// Copied returns a copy of the variables. Writes to the copy and to v are independent.
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

// Write writes the value at a path: a variable, or a place inside one.
func (v *Vars) Write(path []string, x value.Value) error {
	if err := v.Takes(path); err != nil {
		return err
	}
	v.Put(path[0], within(v.values[path[0]], path[1:], x))
	return nil
}

// A write copies the objects on its path, because readers may have the old ones. The copies count as work, like expressions
// that make objects; copies of small objects are included in the work of an attempt.
const (
	copyFree = 32 // keys that one write copies without being counted
	copyWork = 4  // work of each further key: the bytes of a key and a value of an object
)

// Work returns the work of a write at a path: see expr.Meter.
func (v *Vars) Work(path []string) int {
	keys := 0
	if v.held {
		keys = len(v.values)
	}
	at := v.values[path[0]]
	for _, key := range path[1:] {
		object, _ := at.(map[string]any)
		keys += len(object)
		at = object[key]
	}
	return max(0, keys-copyFree) * copyWork
}

// WriteWithin is like Write, but fails if the variables would then take more than most bytes; below 1 there is no limit. It
// measures only the value at the path.
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

// WriteGrown is like WriteWithin for a value that is grown bytes larger than the value that it replaces.
func (v *Vars) WriteGrown(most int, path []string, x value.Value, grown int) error {
	if most > 0 && v.At(path) == nil { // new keys take room, too
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

// RoomError means that a write exceeds the bytes that variables may take.
type RoomError struct{ text string }

func (e RoomError) Error() string { return e.text }

// Takes returns an error if nothing can be written at a path, because a value on the path is not an object.
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

// At returns the value at a path, or null.
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

// Fits returns an error if a value at a path would nest deeper than variables may.
func Fits(path []string, v value.Value) error {
	if err := value.Fits(v, len(path)); err != nil {
		return fmt.Errorf("%s cannot be written: the %w", clipped(path), err)
	}
	return nil
}

// clipped returns a path for an error, shortened to 8 keys.
func clipped(path []string) string {
	const most = 8
	if len(path) > most {
		return strings.Join(path[:most], ".") + ".…"
	}
	return strings.Join(path, ".")
}
