package registry

import (
	"fmt"
	"sync"

	"github.com/sluiceflow/sluice/template"
	flow "github.com/sluiceflow/sluice/template/flow/machine"
	"github.com/sluiceflow/sluice/template/machine"
)

// Machine is a machine in Go, the result of machine.Define.
type Machine = flow.Definition

// Machines are the machines in Go that a program has. They are safe for concurrent use.
type Machines struct {
	mu      sync.Mutex
	code    map[machine.Implementation]*machine.Code
	learned uint64
}

// Step returns the step of a machine of a world. It returns an error if the program lacks the machine, or has it with other types.
func (s *Machines) Step(w *machine.World, m *machine.Machine) (machine.Activate, error) {
	s.mu.Lock()
	code := s.code[*m.Go]
	s.mu.Unlock()
	if code == nil {
		return nil, m.Go.Missing()
	}
	return code.Bind(w, m)
}

// Learned returns a number that changes when a machine is added.
func (s *Machines) Learned() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.learned
}

// add adds machines, all or none. A name and a version identify one machine.
func (s *Machines) add(list ...*machine.Code) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, code := range list {
		if known := s.code[code.Implementation]; known != nil && known != code {
			return fmt.Errorf("two machines in Go are named %q, version %q: define a machine once, at package level, and give code "+
				"that steps otherwise another version", code.Name, code.Version)
		}
	}
	for _, code := range list {
		if s.code[code.Implementation] == nil {
			s.code[code.Implementation] = code
			s.learned++
		}
	}
	return nil
}

// addOf adds the machines that a workflow brings along, if it is a world, and refuses a world that does not fit the machines
// that the program has. Machines that it does not have may come later.
func (s *Machines) addOf(of *template.Workflow) error {
	w, ok := machine.Of(of)
	if !ok {
		return nil
	}
	if err := s.add(w.Provided()...); err != nil {
		return err
	}
	for _, m := range w.Machines {
		if m.Go == nil || !s.has(*m.Go) {
			continue
		}
		if _, err := s.Step(w, m); err != nil {
			return err
		}
	}
	return nil
}

func (s *Machines) has(i machine.Implementation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.code[i] != nil
}
