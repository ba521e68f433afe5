// Package marks records the parts of a net that changed since the last query.
package marks

// Marks are the steps with changed markings, and the last write to the context. The zero Marks are for a new net.
type Marks struct {
	steps    []int // each once
	noted    map[int]bool
	revision uint64
}

// Touch records that the marking of a step changes.
func (m *Marks) Touch(step int) {
	if m.noted == nil {
		m.noted = map[int]bool{}
	}
	if !m.noted[step] {
		m.noted[step] = true
		m.steps = append(m.steps, step)
	}
}

// Touched returns the steps whose markings have changed since the last Touched, in the order of their first changes.
func (m *Marks) Touched() []int {
	list := m.steps
	m.steps = nil
	clear(m.noted)
	return list
}

// Written records that an event has written to the context.
func (m *Marks) Written(seq uint64) { m.revision = seq }

// Revision returns the sequence of the last event that has written to the context, or 0.
func (m *Marks) Revision() uint64 { return m.revision }
