package progress

import (
	"slices"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// failuresMax is how many failures a Tree remembers; the others are counted.
const failuresMax = 100

// Failure is a step that has failed for good, or a map or conditional that could not be decided.
type Failure struct {
	Step    string           // key of the step, of a step in an item, or of a step-run, as runs show prints it
	Attempt int32            // that failed last; 0: there was none
	Cause   *journal.Failure // of the journal, not to be changed; may be nil
}

// failures are the failed nodes, in the order of their failures.
type failures struct {
	list []Failure
	more int // that are not in list
}

func (f *failures) add(c *coordinator.StepChange) {
	if len(f.list) == failuresMax {
		f.more++
		return
	}
	f.list = append(f.list, Failure{c.Step, c.Attempt, c.Failure})
}

// remove forgets a failure of a step that is tried again after all.
func (f *failures) remove(key string) {
	n := len(f.list)
	f.list = slices.DeleteFunc(f.list, func(x Failure) bool { return x.Step == key })
	if len(f.list) == n && f.more > 0 {
		f.more--
	}
}

// fails reports whether a node of that kind fails by itself with that cause. A map whose items have failed, say, has their
// failure and none of its own.
func (k kind) fails(cause *journal.Failure) bool {
	return k == step || cause != nil && (cause.Code == reactive.CodeOver || cause.Code == reactive.CodeTest)
}

// Failures returns what has failed for good, in the order in which it did: the first 100, and how many more there are. The slice
// is the tree's, and valid until the next Apply.
func (t *Tree) Failures() (list []Failure, more int) { return t.failures.list, t.failures.more }
