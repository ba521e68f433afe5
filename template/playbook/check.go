package playbook

import (
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/template/secret"
)

// check returns every violated invariant of the playbook.
func (p *Playbook) check() error {
	var errs []error
	fault := func(number int, format string, args ...any) {
		errs = append(errs, fmt.Errorf("invariant %d: %s", number, fmt.Sprintf(format, args...)))
	}
	inRange := func(what string, i, least, size int) {
		if i < least || i >= size {
			fault(1, "%s is %d of %d", what, i, size)
		}
	}
	if len(p.Steps) == 0 {
		fault(1, "there are no steps")
	}
	inRange("the entry", p.Executor.Entry, 0, len(p.Steps))
	inRange("the final step", p.Executor.Final, -1, len(p.Steps))
	names, callSites := map[string]bool{}, 0
	for i, s := range p.Steps {
		if s.Index != i || names[s.Name] {
			fault(2, "step %d is %q of index %d", i, s.Name, s.Index)
		}
		names[s.Name] = true
		labels := map[string]bool{}
		for k, t := range s.Tasks {
			if t.Index != k || t.Step != i || labels[t.Label] {
				fault(2, "task %d of step %d is %q, task %d of step %d", k, i, t.Label, t.Index, t.Step)
			}
			labels[t.Label] = true
			inRange("a call site", t.CallSite, -1, len(p.CallSites))
			if t.CallSite >= 0 {
				if t.CallSite != callSites || p.CallSites[t.CallSite] != t {
					fault(3, "task %q of step %d has call site %d, not %d", t.Label, i, t.CallSite, callSites)
				}
				callSites++
			}
			for _, rule := range t.Rules {
				inRange("a jump", rule.To, Previous, len(s.Tasks))
			}
		}
		if s.Next != nil {
			for _, a := range s.Next.Arcs {
				inRange("an arc", a.To, 0, len(p.Steps))
			}
		}
	}
	known := map[string]bool{}
	for _, s := range p.Keychain {
		for _, key := range s.Keys {
			known[secret.Mark(s.Name, key)] = true
		}
	}
	for _, t := range p.CallSites {
		for _, mark := range t.Secrets {
			if !known[mark] {
				fault(4, "task %q receives %s, which the keychain does not contain", t.Label, mark)
			}
		}
	}
	if callSites != len(p.CallSites) {
		fault(3, "%d tasks make calls, but there are %d call sites", callSites, len(p.CallSites))
	}
	return errors.Join(errs...)
}
