package signals

// Readable is an input of counting nodes: a [*Signal], a [*Computed] or a counting node.
type Readable[T any] interface {
	base() *source
	read(r Reader) (T, error)
}

// Fold is a counting node: a value over any number of inputs. A change of one input updates it in constant time, without
// reading all inputs. While it is observed, a changed input adds its new value and removes its old one, and dependents are
// notified only if the result changed.
//
//	inputs, each with its last value        acc = remove(acc, old), add(acc, new)         result(acc) changed? ─▶ subscribers
//
// A fold without observers is like a computed without observers: the inputs do not reference it, it is collectable, and it
// reads all inputs again when one has changed. While an input fails, the fold has the error of the first such input.
type Fold[T, A any, R comparable] struct {
	node
	rule    *rule[T, A, R]
	inputs  []Readable[T]
	touched []*link // inputs that may have changed; all are nodes
	acc     A
	failing int32 // inputs without a value
	value   R
}

// rule has the functions of a fold. All gates of a kind share one.
type rule[T, A any, R comparable] struct {
	zero        A
	add, remove func(acc A, value T) A
	result      func(acc A) R
	users       bool // the functions come from the user and may panic
}

// Gate is the fold of [All] and [Any]. Its accumulator is the number of deciding inputs: the false ones of All, the true ones
// of Any.
type Gate = Fold[bool, int32, bool]

// Tally is the fold of [Count].
type Tally = Fold[bool, int, int]

var (
	allRule = rule[bool, int32, bool]{
		add:    func(acc int32, value bool) int32 { return acc + boolToInt(!value) },
		remove: func(acc int32, value bool) int32 { return acc - boolToInt(!value) },
		result: func(acc int32) bool { return acc == 0 },
	}
	anyRule = rule[bool, int32, bool]{
		add:    func(acc int32, value bool) int32 { return acc + boolToInt(value) },
		remove: func(acc int32, value bool) int32 { return acc - boolToInt(value) },
		result: func(acc int32) bool { return acc > 0 },
	}
	count = rule[bool, int, int]{
		add:    func(acc int, value bool) int { return acc + int(boolToInt(value)) },
		remove: func(acc int, value bool) int { return acc - int(boolToInt(value)) },
		result: func(acc int) int { return acc },
	}
)

func boolToInt(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// All returns a gate that is true while every input is true; without inputs it is true.
func All(g *Graph, inputs ...Readable[bool]) *Gate { return newFold(g, &allRule, inputs) }

// Any returns a gate that is true while some input is true; without inputs it is false.
func Any(g *Graph, inputs ...Readable[bool]) *Gate { return newFold(g, &anyRule, inputs) }

// Count returns a counting node with the number of inputs that are true.
func Count(g *Graph, inputs ...Readable[bool]) *Tally { return newFold(g, &count, inputs) }

// NewFold returns a fold: zero with the values of all inputs added. remove must undo add, in any order: remove(add(acc, v),
// v) == acc. This holds for + and - of integers, but not of floats. Both must be pure. A repeated input counts each time. The
// fold keeps the slice.
func NewFold[T any, A comparable](g *Graph, zero A, add, remove func(acc A, value T) A, inputs ...Readable[T]) *Fold[T, A, A] {
	return newFold(g, &rule[T, A, A]{zero: zero, add: add, remove: remove, result: func(acc A) A { return acc }, users: true}, inputs)
}

func newFold[T, A any, R comparable](g *Graph, rule *rule[T, A, R], inputs []Readable[T]) *Fold[T, A, R] {
	f := &Fold[T, A, R]{rule: rule, inputs: inputs}
	f.node = node{source: source{graph: g, node: &f.node, flags: dirty | counting}, body: f}
	return f
}

// Get returns the result, or the error of the first input that fails, and makes the node of r depend on it.
func (f *Fold[T, A, R]) Get(r Reader) (R, error) {
	if err := f.node.use(r); err != nil {
		var none R
		return none, err
	}
	if f.scope != nil && f.scope.err != nil {
		var none R
		return none, f.scope.err
	}
	return f.value, nil
}

// Peek is like Get but makes no dependency.
func (f *Fold[T, A, R]) Peek() (R, error) { return f.Get(Reader{}) }

// Add appends inputs. The next read counts all inputs again. For the error see [Signal.Set].
func (f *Fold[T, A, R]) Add(inputs ...Readable[T]) error {
	if f.graph.run.pure {
		return ErrPure
	}
	f.inputs = append(f.inputs, inputs...)
	return f.recount()
}

// Remove removes one occurrence of input, in time linear in the inputs; if there is none, it does nothing. The next read counts all inputs again. For the
// error see [Signal.Set].
func (f *Fold[T, A, R]) Remove(input Readable[T]) error {
	if f.graph.run.pure {
		return ErrPure
	}
	for i, in := range f.inputs {
		if in == input {
			f.inputs = append(f.inputs[:i:i], f.inputs[i+1:]...)
			return f.recount()
		}
	}
	return nil
}

// recount makes the next read of the fold read all inputs.
func (f *Fold[T, A, R]) recount() error {
	g := f.graph
	f.flags &^= counted
	g.hold++
	g.epoch++
	g.markDirty(&f.node)
	return g.leave()
}

// update reads and adds all inputs. If the fold is observed, it is notified of each later change.
func (f *Fold[T, A, R]) update(r Reader) bool {
	clear(f.touched)
	f.touched, f.failing, f.acc = f.touched[:0], 0, f.rule.zero
	f.flags &^= counted
	exact := true
	var failure error
	for _, in := range f.inputs {
		value, err := in.read(r)
		if err == nil {
			f.acc = f.rule.add(f.acc, value)
			continue
		}
		f.failing++
		if failure == nil {
			failure = err
		}
		// A read may fail without a run of the input, in a cycle or beyond DepthMax. The old value of the next change is then
		// unknown.
		n := in.base().node
		exact = exact && !n.stale() && n.flags&running == 0
	}
	if exact && f.flags&subscribed != 0 {
		f.flags |= counted
	}
	return f.settle(failure)
}

// computeResult computes the result from the accumulator.
func (f *Fold[T, A, R]) computeResult() bool {
	if f.failing == 0 {
		return f.settle(nil)
	}
	for _, in := range f.inputs {
		if _, err := in.read(Reader{}); err != nil {
			return f.settle(err)
		}
	}
	return f.settle(nil)
}

// settle stores the outcome.
func (f *Fold[T, A, R]) settle(err error) (changed bool) {
	if err != nil {
		f.fail(f.graph, err)
		return true
	}
	value := f.rule.result(f.acc)
	if value == f.value && f.valid() {
		return false
	}
	f.set(value, nil)
	return true
}

func (f *Fold[T, A, R]) fail(_ *Graph, err error) {
	var none R
	f.set(none, err)
}

func (f *Fold[T, A, R]) set(value R, err error) {
	old, had := f.value, f.valid()
	f.value = value
	if err != nil || f.scope != nil {
		f.node.ownScope().err = err
	}
	if f.flags&feeds != 0 {
		feed(&f.source, old, value, had, err == nil)
	}
}

func (f *Fold[T, A, R]) valid() bool {
	return f.changedAt > 0 && (f.scope == nil || f.scope.err == nil)
}

// feeder is a counting node with inputs of type T.
type feeder[T any] interface {
	replace(old, new T, had, has bool) (flipped bool)
}

// feed passes the old value, if had is true, and the new value, if has is true, to the counting subscribers of s.
func feed[T any](s *source, old, new T, had, has bool) {
	for l := s.subs; l != nil; l = l.nextSub {
		switch n := l.sub; {
		case n.flags&counted != 0:
			if n.body.(feeder[T]).replace(old, new, had, has) {
				s.graph.markDirty(n)
			}
		case n.flags&(counting|running) == counting: // a running node is about to read s
			s.graph.markDirty(n)
		}
	}
}

// replace removes the old value of an input and adds the new one. It reports whether the result may have changed.
func (f *Fold[T, A, R]) replace(old, new T, had, has bool) (flipped bool) {
	if f.rule.users {
		return f.replaceGuarded(old, new, had, has)
	}
	f.exchange(old, new, had, has)
	return !had || !has || f.failing == 0 && f.rule.result(f.acc) != f.value
}

func (f *Fold[T, A, R]) exchange(old, new T, had, has bool) {
	if had {
		f.acc = f.rule.remove(f.acc, old)
	} else {
		f.failing--
	}
	if has {
		f.acc = f.rule.add(f.acc, new)
	} else {
		f.failing++
	}
}

// replaceGuarded is replace with functions of the user. If one panics, the accumulator is invalid: the fold must read all
// inputs again, and a second panic becomes its error.
func (f *Fold[T, A, R]) replaceGuarded(old, new T, had, has bool) (flipped bool) {
	g := f.graph
	pure := g.run.pure
	g.run.pure = true
	defer func() {
		g.run.pure = pure
		if recover() != nil {
			f.flags &^= counted
			flipped = true
		}
	}()
	f.exchange(old, new, had, has)
	return !had || !has || f.failing == 0 && f.rule.result(f.acc) != f.value
}

func (f *Fold[T, A, R]) touch(l *link) { f.touched = append(f.touched, l) }

func (f *Fold[T, A, R]) next() *link {
	last := len(f.touched) - 1
	if last < 0 {
		return nil
	}
	l := f.touched[last]
	f.touched[last] = nil
	f.touched = f.touched[:last]
	return l
}

func (f *Fold[T, A, R]) base() *source { return &f.source }

func (f *Fold[T, A, R]) read(r Reader) (R, error) { return f.Get(r) }

func (f *Fold[T, A, R]) describe() string { return nameOf(f.rule.add) }
