package machine

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/schema/gotypes"
	"github.com/sluiceflow/sluice/template/value"
)

// migration converts a state of another version. Its function takes and returns pointers.
type migration struct {
	from, to reflect.Type
	run      func(reflect.Value) (reflect.Value, error)
}

// Migrate converts a state that another version of the machine has left: from is called with a copy of it, and
// returns the state of this version, nil to delete it. A cell keeps the version that it was started with, so only Migrated
// calls from yet. Like a step, it must return the same for the same state.
func Migrate[From, State any](version string, from func(*From) (*State, error)) Option {
	return func(d *Definition) {
		_, twice := d.migrations[version]
		switch {
		case version == "":
			d.refuse("Migrate: the version must not be empty")
		case version == d.code.Version:
			d.refuse("Migrate names version %q, which is its own: it migrates from others", version)
		case twice:
			d.refuse("Migrate names version %q twice", version)
		case from == nil:
			d.refuse("Migrate from version %q has no function", version)
		default:
			d.migrations[version] = migration{reflect.TypeFor[From](), reflect.TypeFor[State](), func(old reflect.Value) (reflect.Value, error) {
				s, err := from(old.Interface().(*From))
				return reflect.ValueOf(s), err
			}}
		}
	}
}

// checkMigrations returns the first fault of the migrations. Each must return the definition's state.
func (d *Definition) checkMigrations() error {
	for _, version := range slices.Sorted(maps.Keys(d.migrations)) {
		m := d.migrations[version]
		if m.to != d.state {
			return fmt.Errorf("Migrate from version %q returns *%s, and the state is *%s", version, m.to, d.state)
		}
		if _, err := (gotypes.Declarations{}).Derive(m.from, ""); err != nil {
			return fmt.Errorf("Migrate from version %q: %w", version, err)
		}
	}
	return nil
}

// bindMigrations refuses a machine if both its document and the definition have migrations.
func (d *Definition) bindMigrations(m *machine.Machine) error {
	if len(d.migrations) > 0 && m.Migrate != nil {
		return errors.New("both have migrate: leave it out of the document, or leave Migrate out of the definition")
	}
	return nil
}

// Migrated converts a state of another version of the definition's machine; nil: the state is deleted. The function runs twice, and must
// return the same.
func Migrated(d *Definition, version string, state value.Value) (value.Value, error) {
	m, ok := d.migrations[version]
	if !ok {
		known := "it has none"
		if len(d.migrations) > 0 {
			known = "it has those from " + strings.Join(slices.Sorted(maps.Keys(d.migrations)), ", ")
		}
		return nil, fmt.Errorf("machine %q, version %q, has no migration from version %q: %s", d.code.Name, d.code.Version, version, known)
	}
	first, err := m.apply(state)
	if err != nil {
		return nil, fmt.Errorf("machine %q: the migration from version %q: %w", d.code.Name, version, err)
	}
	if second, err := m.apply(state); err != nil || !value.Equal(first, second) {
		return nil, fmt.Errorf("machine %q: the migration from version %q gave something else the second time", d.code.Name, version)
	}
	return first, nil
}

// apply migrates a copy of a state.
func (m *migration) apply(state value.Value) (value.Value, error) {
	old, err := codecOf(m.from)
	if err != nil {
		return nil, err
	}
	before := reflect.New(m.from)
	if state, err = old.Type().Normalize(state); err == nil {
		err = old.Decode(state, before.Elem())
	}
	if err != nil {
		return nil, fmt.Errorf("the state before: %w", err)
	}
	after, err := m.run(before)
	if err != nil || after.IsNil() {
		return nil, err
	}
	made, err := codecOf(m.to)
	if err != nil {
		return nil, err
	}
	return made.Encode(after.Elem())
}

// codecOf returns the codec of a Go type for the type that follows from it.
func codecOf(t reflect.Type) (*gotypes.Codec, error) {
	types := gotypes.Declarations{}
	doc, err := types.Derive(t, "")
	if err != nil {
		return nil, err
	}
	declared, err := types.Types()
	if err != nil {
		return nil, err
	}
	of, err := gotypes.Read(declared, doc)
	if err != nil {
		return nil, err
	}
	return gotypes.Compile(t, of)
}
