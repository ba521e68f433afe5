package machine

import (
	"fmt"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/machine/literal"
	"github.com/sluiceflow/sluice/template/schema"
)

// Lints returns warnings: about rules that are never taken, because an earlier rule always is, that always fail, or that emit what is
// dropped at once; about machines that take messages and never have a cell; and about effects that wait for a message.
func (w *World) Lints() (list document.Errors) {
	for _, e := range w.Effects {
		if e.waits {
			list.Add(&document.Error{Pos: e.Pos, Msg: "the effect is never answered: it waits for a message, and the messages to a world go to its cells"})
		}
	}
	heard := map[*Machine]bool{}
	for _, s := range w.Subscriptions {
		heard[s.Machine] = true
	}
	for _, m := range w.Machines {
		if len(m.Event.Messages) > 0 && !heard[m] {
			list.Add(&document.Error{Pos: m.Pos, Text: m.Name, Msg: fmt.Sprintf("machine %q has no subscription: it never has a cell", m.Name)})
		}
		if m.Key != nil && m.Key.Kind == schema.Unit {
			list.Add(&document.Error{Pos: m.Pos, Text: m.Name, Msg: fmt.Sprintf("machine %q has a key that is always null: it never has a cell", m.Name)})
		}
		list = append(list, m.lintRules()...)
		for _, rule := range m.Rules {
			list = append(list, literal.Misfits(rule.Pos, w.values(m, rule))...)
		}
	}
	return list
}

// values returns the values of a rule, with the types that they must have.
func (w *World) values(m *Machine, rule *Rule) (list []literal.Place) {
	for i := range rule.Set {
		list = append(list, literal.Place{Name: "set." + rule.Set[i].Name, Type: m.State.Field(rule.Set[i].Name), Value: rule.Set[i].Value})
	}
	for i, r := range rule.Raise {
		list = append(list, literal.Place{Name: raisePlace(i, r.Event), Type: w.Types.Lookup(r.Event), Value: r.Value})
	}
	for i := range rule.Emit {
		if e := w.effects[rule.Emit[i].Effect]; e != nil {
			list = append(list, literal.Place{Name: emitPlace(i, e.Name) + ".params", Type: e.Params, Value: rule.Emit[i].Params})
		}
	}
	if rule.Note != nil {
		list = append(list, literal.Place{Name: "note", Type: m.Annotations, Value: rule.Note})
	}
	return list
}

// lintRules returns a warning for each rule that is never taken.
func (m *Machine) lintRules() (list document.Errors) {
	taken := map[On]int{} // the first rule about an event that always holds
	for i, rule := range m.Rules {
		for _, on := range rule.On.within(m) {
			if first, ok := taken[on]; ok {
				list.Add(&document.Error{Pos: rule.Pos, Text: rule.On.String(), Msg: fmt.Sprintf("the rule is never taken: rules[%d] is about %q too, and always holds", first, on)})
				break
			}
		}
		if len(rule.Emit) > 0 && (rule.Complete || rule.Delete) {
			list.Add(&document.Error{Pos: rule.Pos, Msg: "emit has no effect: the cell ends, and drops all its effects and timers"})
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
