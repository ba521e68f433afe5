package net

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/playbook"
)

// countWrite counts the work of a write before the write, and refuses a write that takes too much, like an expression.
func (s *scope) countWrite(where playbook.Scope, path []string) error {
	work := 0
	switch where {
	case playbook.Ctx:
		work = s.net.ctx.Work(path)
		if s.it != nil && s.it.apart() {
			work += s.it.ctx.Work(path)
		}
	case playbook.Iter:
		work = s.it.vars.Work(path)
	case playbook.StepScope:
		work = s.run.vars.Work(path)
	}
	if work == 0 {
		return nil
	}
	quota, err := expr.Begin(s)
	if err != nil {
		return err
	}
	s.Meter().Add(work)
	if work > int(quota) {
		return fmt.Errorf("%s cannot be written, because large objects would be copied: %w", strings.Join(path, "."), expr.ErrLimit)
	}
	return nil
}
