package expr

import "fmt"

// Meter counts the work of evaluations, and bounds their total. Work is counted in steps, and one more for every 16 bytes
// that are made: at its limits, one evaluation is 4 million. The zero Meter only counts.
type Meter struct {
	spent   int
	last    int // the value of spent at which no further evaluation begins
	bounded bool
}

// Metered is an Env whose evaluations are counted.
type Metered interface {
	// Meter returns the meter, always the same, or nil if evaluations are not counted.
	Meter() *Meter
}

// Bound limits the total work of the evaluations from here on; the last of them may exceed the limit. Free ends that.
func (m *Meter) Bound(work int) { m.last, m.bounded = m.spent+work, true }

// Free lifts the bound.
func (m *Meter) Free() { m.bounded = false }

// Add counts work other than that of expressions.
func (m *Meter) Add(work int) { m.spent += work }

// Spent returns the work so far.
func (m *Meter) Spent() int { return m.spent }

// Begin refuses an evaluation in env if earlier evaluations have exceeded the bound.
func Begin(env Env) error {
	metered, ok := env.(Metered)
	if !ok {
		return nil
	}
	if m := metered.Meter(); m != nil && m.bounded && m.spent >= m.last {
		return &Error{Msg: fmt.Sprintf("the expressions of everything that follows from one event take too much work together: %v", ErrLimit), Err: ErrLimit}
	}
	return nil
}

// Spend counts the steps and bytes that an evaluation in env has taken.
func Spend(env Env, steps, bytes int) {
	if metered, ok := env.(Metered); ok {
		if m := metered.Meter(); m != nil {
			m.spent += 1 + steps + bytes/slotBytes
		}
	}
}
