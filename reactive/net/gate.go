package net

import (
	"cmp"
	"slices"

	"github.com/sluiceflow/sluice/signals"
)

// gates hold the pending tokens. What decides each of them is a computed over the keys of the context that its step's
// rules read, so a patch of other keys costs nothing, and one of these is looked at once, at the end of the event.
type gates struct {
	net     *Net
	graph   *signals.Graph
	keys    map[string]*signals.Signal[uint64] // by key of the context: grows with every write
	any     *signals.Signal[uint64]            // grows with every write of any key
	touched []string
	waiting map[*token]bool
	moved   []*token // those whose verdict has changed
}

// verdict is what a step's admission says of a token.
type verdict struct {
	allow bool
	rule  int    // index of the rule that decided; -1: there is none
	err   string // why it could not be decided
}

func (g *gates) init(n *Net) {
	g.net, g.graph = n, signals.New()
	g.keys, g.waiting = map[string]*signals.Signal[uint64]{}, map[*token]bool{}
	g.any = signals.NewSignal[uint64](g.graph, 0)
}

// judge evaluates a step's admission: the first rule that holds decides; where none does, the token is denied.
func (n *Net) judge(t *token) verdict {
	admit := n.book.Steps[t.step].Admit
	if admit == nil {
		return verdict{allow: true, rule: -1}
	}
	s := &scope{net: n, args: t.args, event: t.event}
	for i := range admit.Rules {
		yes := admit.Rules[i].When == nil
		if !yes {
			var err error
			if yes, err = admit.Rules[i].When.EvalBool(s); err != nil {
				return verdict{rule: i, err: err.Error()}
			}
		}
		if yes {
			return verdict{allow: admit.Rules[i].Allow, rule: i}
		}
	}
	return verdict{rule: -1}
}

// add makes a token pending.
func (g *gates) add(t *token) {
	g.waiting[t] = true
	admit := g.net.book.Steps[t.step].Admit
	reads := []*signals.Signal[uint64]{g.any}
	if !admit.AllKeys {
		reads = reads[:0]
		for _, k := range admit.Keys {
			reads = append(reads, g.key(k))
		}
	}
	known := t.verdict
	sc, err := g.graph.Scope(func(own *signals.Scope) error {
		verdicts := signals.NewComputed(g.graph, func(r signals.Reader) (verdict, error) {
			for _, k := range reads {
				k.Get(r)
			}
			return g.net.judge(t), nil
		})
		_, err := own.Effect(func(r signals.Reader) error {
			v, err := verdicts.Get(r)
			if v != known {
				known, t.verdict, t.since = v, v, g.net.event.Seq
				g.moved = append(g.moved, t)
			}
			return err
		})
		return err
	})
	g.net.defect(err)
	t.stop = func() { g.net.defect(sc.Dispose()) }
}

func (g *gates) key(k string) *signals.Signal[uint64] {
	if g.keys[k] == nil {
		g.keys[k] = signals.NewSignal[uint64](g.graph, 0)
	}
	return g.keys[k]
}

// touch notes that a key of the context was written.
func (g *gates) touch(k string) {
	if len(g.waiting) > 0 {
		g.touched = append(g.touched, k)
	}
}

// look has the tokens look again whose keys were written, oldest first.
func (g *gates) look() {
	if len(g.touched) == 0 {
		return
	}
	g.net.defect(g.graph.Batch(func() error {
		for _, k := range g.touched {
			if s := g.keys[k]; s != nil {
				s.Set(g.any.Peek() + 1)
			}
		}
		g.any.Set(g.any.Peek() + 1)
		return nil
	}))
	g.touched = g.touched[:0]
	slices.SortFunc(g.moved, func(a, b *token) int { return cmp.Compare(a.id, b.id) })
	for _, t := range g.moved {
		if !g.waiting[t] {
			continue // one before it was discarded, which has failed the run
		}
		g.net.tellVerdict(t)
		switch {
		case t.verdict.allow:
			g.remove(t)
			g.net.enable(t)
		case g.net.refused(t): // its rules can be read at last
			g.remove(t)
			g.net.discard(t)
		}
	}
	g.moved = g.moved[:0]
}

// remove takes a token from its gate.
func (g *gates) remove(t *token) {
	delete(g.waiting, t)
	t.stop()
	t.stop = nil
	g.net.steps[t.step].pending--
}

// all gives the pending tokens, oldest first.
func (g *gates) all() []*token {
	list := make([]*token, 0, len(g.waiting))
	for t := range g.waiting {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *token) int { return cmp.Compare(a.id, b.id) })
	return list
}

func (g *gates) clear() {
	for _, t := range g.all() {
		g.remove(t)
	}
	g.touched, g.moved = nil, nil
}

// defect keeps the first error that only a defect of the engine can cause.
func (n *Net) defect(err error) {
	if err != nil && n.err == nil {
		n.err = err
	}
}
