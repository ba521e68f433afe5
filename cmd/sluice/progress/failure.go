package progress

import (
	"slices"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// failuresMax bounds the failures that a Tree keeps; the others are counted.
const failuresMax = 100

// Failure is a step that has failed finally, or a map or conditional with a failed expression.
type Failure struct {
	Step    string           // key of the step, of a step in an item, or of a step-run, in the form that runs show prints
	Attempt int32            // the last one; 0: none
	Cause   *journal.Failure // shared: must not be changed; may be nil
}

// failures holds the failed nodes, in the order of their failures.
type failures struct {
	list []Failure
	more int // failures not in list
}

func (f *failures) add(c *coordinator.StepChange) {
	if len(f.list) == failuresMax {
		f.more++
		return
	}
	f.list = append(f.list, Failure{c.Step, c.Attempt, c.Failure})
}

// remove removes the failure of a step that is retried.
func (f *failures) remove(key string) {
	n := len(f.list)
	f.list = slices.DeleteFunc(f.list, func(x Failure) bool { return x.Step == key })
	if len(f.list) == n && f.more > 0 {
		f.more--
	}
}

// fails reports whether a node of that kind fails by itself with that cause. For example, a map with failed items does not.
func (k kind) fails(cause *journal.Failure) bool {
	return k == step || cause != nil && (cause.Code == reactive.CodeOver || cause.Code == reactive.CodeTest)
}

// Failures returns the first 100 final failures in order, and the number of the others. The slice belongs to the tree, and is valid
// until the next Apply.
func (t *Tree) Failures() (list []Failure, more int) { return t.failures.list, t.failures.more }
