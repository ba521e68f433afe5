package expr

import "fmt"

// Meter counts the work of evaluations, and bounds their total. Work is the number of steps, plus one for every 16 bytes that are made:
// an evaluation at its limits takes 4 million. Each evaluation counts 5 more, for its own memory. The zero Meter only counts.
type Meter struct {
	spent   int
	last    int // the value of spent at which no further evaluation begins
	bounded bool
	most    int // the value of spent that no evaluation may exceed
	capped  bool
}

// Quota is the work that one evaluation may take.
type Quota int32

// wholeQuota is the quota of an evaluation that only its own limits bound.
const wholeQuota = Quota(MaxBytes / slotBytes)

// Steps returns the steps that an evaluation may take, at most MaxSteps.
func (q Quota) Steps() int { return min(MaxSteps, int(q)) }

// Bytes returns the bytes that an evaluation may make, at most MaxBytes.
func (q Quota) Bytes() int { return min(MaxBytes, int(q)*slotBytes) }

// Metered is an Env whose evaluations are counted.
type Metered interface {
	// Meter returns the meter, always the same, or nil if evaluations are not counted.
	Meter() *Meter
}

// Bound limits the total work of the evaluations from here on; the last of them may exceed the limit. Free ends that.
func (m *Meter) Bound(work int) { m.last, m.bounded = m.spent+work, true }

// Free lifts the bound.
func (m *Meter) Free() { m.bounded = false }

// Cap limits the work of the evaluations from here on like Bound, and also of each: an evaluation that would exceed the limit
// fails. If that changes the course of a run, discard the run.
func (m *Meter) Cap(work int) { m.most, m.capped = m.spent+work, true }

// Add counts work other than that of expressions.
func (m *Meter) Add(work int) { m.spent += work }

// Spent returns the work so far.
func (m *Meter) Spent() int { return m.spent }

// Begin returns the quota of an evaluation in env. It refuses the evaluation if earlier ones have exceeded the bound.
func Begin(env Env) (Quota, error) {
	metered, ok := env.(Metered)
	if !ok {
		return wholeQuota, nil
	}
	m := metered.Meter()
	switch {
	case m == nil:
	case m.bounded && m.spent >= m.last:
		return 0, &Error{Msg: fmt.Sprintf("the expressions of everything that follows from one event take too much work together: %v", ErrLimit), Err: ErrLimit}
	case m.capped && m.spent >= m.most:
		return 0, &Error{Msg: fmt.Sprintf("all expressions take too much work together: %v", ErrLimit), Err: ErrLimit}
	case m.capped:
		return Quota(min(int(wholeQuota), m.most-m.spent)), nil
	}
	return wholeQuota, nil
}

// evaluationWork is the work of an evaluation apart from its steps and bytes: it makes some 64 bytes for itself.
const evaluationWork = 5

// Spend counts the steps and bytes that an evaluation in env has taken.
func Spend(env Env, steps, bytes int) {
	if metered, ok := env.(Metered); ok {
		if m := metered.Meter(); m != nil {
			m.spent += evaluationWork + steps + bytes/slotBytes
		}
	}
}
