// Package marks records which parts of a net changed since the last query.
package marks

// Marks are the steps whose markings have changed, and when the context was written to. The zero Marks are those of a net in which nothing
// has happened.
type Marks struct {
	steps    []int // each once
	noted    map[int]bool
	revision uint64
}

// Touch notes that the marking of a step changes.
func (m *Marks) Touch(step int) {
	if m.noted == nil {
		m.noted = map[int]bool{}
	}
	if !m.noted[step] {
		m.noted[step] = true
		m.steps = append(m.steps, step)
	}
}

// Touched returns the steps whose markings have changed since the last call, in the order in which they first have.
func (m *Marks) Touched() []int {
	list := m.steps
	m.steps = nil
	clear(m.noted)
	return list
}

// Written notes that an event has written to the context.
func (m *Marks) Written(seq uint64) { m.revision = seq }

// Revision returns the sequence of the event that has last written to the context; 0: none has.
func (m *Marks) Revision() uint64 { return m.revision }
