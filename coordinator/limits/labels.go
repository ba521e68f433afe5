package limits

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/reactive/decide"
)

// Data about a run besides its input. Lists of runs hold all of it.
const (
	ActorMax     = 256  // bytes of an actor's name
	labelsMax    = 64   // labels of a run
	labelNameMax = 128  // bytes of the name of a label
	labelTextMax = 1024 // bytes of its text
)

// CheckLabels refuses labels that are too many, too long, or not UTF-8.
func CheckLabels(labels map[string]string) error {
	if len(labels) > labelsMax {
		return fmt.Errorf("%w: %d labels; a run has at most %d", decide.ErrLimit, len(labels), labelsMax)
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		switch text := labels[name]; {
		case len(name) > labelNameMax:
			return fmt.Errorf("%w: label %.40q…: its name has %d bytes, at most %d are allowed", decide.ErrLimit, name, len(name), labelNameMax)
		case name == "" || !utf8.ValidString(name):
			return fmt.Errorf("label %q: its name is empty or not UTF-8", name)
		case len(text) > labelTextMax:
			return fmt.Errorf("%w: label %q has %d bytes, at most %d are allowed", decide.ErrLimit, name, len(text), labelTextMax)
		case !utf8.ValidString(text):
			return fmt.Errorf("label %q: %q is not UTF-8", name, text)
		}
	}
	return nil
}

// CheckActor refuses a name that is too long or not UTF-8. The empty name is allowed.
func CheckActor(actor string) error {
	switch {
	case len(actor) > ActorMax:
		return fmt.Errorf("%w: actor %.40q… has %d bytes, at most %d are allowed", decide.ErrLimit, actor, len(actor), ActorMax)
	case !utf8.ValidString(actor):
		return fmt.Errorf("actor %q is not UTF-8", actor)
	}
	return nil
}
