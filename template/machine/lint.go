package machine

import (
	"fmt"

	"github.com/sluiceflow/sluice/template/document"
)

// Lints returns warnings: about rules that are never taken, because an earlier rule always is, and about machines that take messages and
// have no subscription.
func (w *World) Lints() document.Errors {
	var list document.Errors
	heard := map[*Machine]bool{}
	for _, s := range w.Subscriptions {
		heard[s.Machine] = true
	}
	for _, m := range w.Machines {
		if len(m.Event.Messages) > 0 && !heard[m] {
			list.Add(&document.Error{Pos: m.Pos, Text: m.Name, Msg: fmt.Sprintf("machine %q has no subscription: it never has a cell", m.Name)})
		}
		list = append(list, m.lintRules()...)
	}
	return list
}

// lintRules returns a warning for each rule that is never taken.
func (m *Machine) lintRules() document.Errors {
	var list document.Errors
	taken := map[On]int{} // the first rule about an event that always holds
	for i, rule := range m.Rules {
		for _, on := range rule.On.within(m) {
			if first, ok := taken[on]; ok {
				list.Add(&document.Error{Pos: rule.Pos, Text: rule.On.String(), Msg: fmt.Sprintf(
					"the rule is never taken: rules[%d] is about %q too, and always holds", first, on)})
				break
			}
		}
		if _, known := taken[rule.On]; !known && rule.always() {
			taken[rule.On] = i
		}
	}
	return list
}

// always reports whether the guard of a rule always holds.
func (r *Rule) always() bool {
	if r.When == nil {
		return true
	}
	v, isConstant := r.When.Constant()
	return isConstant && v == true
}

// within returns the selections that include all events of this one, itself first.
func (o On) within(m *Machine) []On {
	all := []On{o}
	if o.Issuer != "" {
		all = append(all, On{Kind: o.Kind, Name: o.Name})
	}
	switch {
	case o.Kind == Message && m.Event.Variant != nil:
		all = append(all, On{Kind: Message, Name: m.Event.Variant.Name, Whole: true})
	case o.Kind == Receipt || o.Kind == Timer:
		all = append(all, On{Kind: Receipt})
	}
	return all
}
