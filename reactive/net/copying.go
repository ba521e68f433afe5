package net

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/reactive/net/variables"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/playbook"
)

// A write copies the objects on its path, because others may have the old ones. That is work like an expression's that makes
// them: the copies that small objects need are part of the work of an attempt.
const (
	copyFree = 32 // keys that one write copies without being counted
	copyWork = 4  // of each further key: that of as many bytes as a key and a value of an object take
)

// copying counts the keys that writes copy.
type copying int

// add counts a write at a path.
func (w *copying) add(vars *variables.Vars, path []string) {
	*w += copying(max(0, vars.Copies(path)-copyFree))
}

func (w copying) work() int { return int(w) * copyWork }

// pay counts a write of an attempt before it is made, and refuses it like an expression that takes too much work.
func (s *scope) pay(where playbook.Scope, path []string) error {
	var w copying
	switch where {
	case playbook.Ctx:
		w.add(&s.net.ctx.Vars, path)
		if s.it != nil && s.it.apart() {
			w.add(&s.it.ctx, path)
		}
	case playbook.Iter:
		w.add(&s.it.vars, path)
	case playbook.StepScope:
		w.add(&s.run.vars, path)
	}
	if w == 0 {
		return nil
	}
	quota, err := expr.Begin(s)
	if err != nil {
		return err
	}
	s.Meter().Add(w.work())
	if w.work() > int(quota) {
		return fmt.Errorf("%s cannot be written, because large objects would be copied: %w", strings.Join(path, "."), expr.ErrLimit)
	}
	return nil
}
