package shadow

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template/plan"
)

// branches returns the named conditionals that both workflows have decided differently.
func (s *Shadow) branches() (list []Difference) {
	for v := range s.is.Len() {
		if s.is.Body() != nil || s.is.Row(v).Kind != plan.Gate || s.is.Key(v) == "" {
			continue
		}
		u, ok := s.was.Node(s.is.Key(v))
		if !ok || s.was.Row(u).Kind != plan.Gate || !decidedBy(s.was, u) || !decidedBy(s.is, v) {
			continue
		}
		if was, is := s.was.Chose(u), s.is.Chose(v); was != is {
			list = append(list, Difference{Kind: Branch, Step: s.is.Key(v), Old: branch(was), New: branch(is)})
		}
	}
	return list
}

func decidedBy(root *reactive.Root, v int32) bool { return root.Status(v) == reactive.Completed }

func branch(b plan.Branch) string {
	if b == plan.Then {
		return "then"
	}
	return "else"
}
