package expr

import (
	"errors"
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/sluiceflow/sluice/template/value"
)

// loop is a function with a predicate: any(list, body), reduce(list, body, extra).
type loop struct {
	name  string
	list  node
	body  node   // nil if the predicate was omitted: the item itself
	extra node   // the initial value of reduce, the order of sortBy; nil if omitted
	cost  int    // steps of one item
	truth string // name of the predicate in messages
	apply func(l *loop, r *run) (value.Value, error)
}

// loops are the functions with a predicate.
var loops = map[string]func(l *loop, r *run) (value.Value, error){
	"all":           func(l *loop, r *run) (value.Value, error) { found, err := l.meets(r, false); return !found, err },
	"none":          func(l *loop, r *run) (value.Value, error) { found, err := l.meets(r, true); return !found, err },
	"any":           func(l *loop, r *run) (value.Value, error) { return l.meets(r, true) },
	"one":           (*loop).one,
	"count":         (*loop).count,
	"filter":        (*loop).filter,
	"map":           (*loop).mapped,
	"find":          func(l *loop, r *run) (value.Value, error) { item, _, err := l.search(r, false); return item, err },
	"findIndex":     func(l *loop, r *run) (value.Value, error) { _, index, err := l.search(r, false); return index, err },
	"findLast":      func(l *loop, r *run) (value.Value, error) { item, _, err := l.search(r, true); return item, err },
	"findLastIndex": func(l *loop, r *run) (value.Value, error) { _, index, err := l.search(r, true); return index, err },
	"sum":           (*loop).sum,
	"reduce":        (*loop).reduce,
	"groupBy":       (*loop).groupBy,
	"sortBy":        (*loop).sortBy,
}

// loop compiles such a call. The parser has checked the number of arguments.
func (c *compiler) loop(name string, args []ast.Node) node {
	c.builds = true
	l := &loop{name: name, list: c.compile(args[0]), apply: loops[name], truth: "the predicate of " + name}
	if len(args) > 1 {
		kind := plainLoop
		if name == "reduce" {
			kind = reduceLoop
		}
		before := c.size
		c.loops = append(c.loops, kind)
		l.body = c.compile(args[1])
		c.loops = c.loops[:len(c.loops)-1]
		l.cost = c.size - before
	}
	if len(args) > 2 {
		l.extra = c.compile(args[2])
	}
	return func(r *run) (value.Value, error) { return l.apply(l, r) }
}

// items evaluates the list.
func (l *loop) items(r *run) ([]any, error) {
	v, err := l.list(r)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%s needs a list, not %s", l.name, show(v))
	}
	return list, nil
}

// visit evaluates the body for the item in f, and pays for it.
func (l *loop) visit(r *run, f *frame) (value.Value, error) {
	if err := r.spend(1 + l.cost); err != nil {
		return nil, err
	}
	if l.body == nil {
		return f.item, nil
	}
	r.frame = f // again for each item, because a predicate inside has set its own
	return l.body(r)
}

// each calls visit for the items from index on until it returns stop, and then restores the frame of the outer predicate.
func (l *loop) each(r *run, list []any, f *frame, then func(v value.Value) (stop bool, err error)) error {
	outer := r.frame
	for ; f.index < len(list); f.index++ {
		f.item = list[f.index]
		v, err := l.visit(r, f)
		if err != nil {
			return err
		}
		if stop, err := then(v); stop || err != nil {
			r.frame = outer
			return err
		}
	}
	r.frame = outer
	return nil
}

// test is each for predicates that must return true or false.
func (l *loop) test(r *run, then func(f *frame, ok bool) (stop bool)) error {
	list, err := l.items(r)
	if err != nil {
		return err
	}
	var f frame
	return l.each(r, list, &f, func(v value.Value) (bool, error) {
		ok, err := r.truth(v, l.truth)
		return err == nil && then(&f, ok), err
	})
}

// meets stops at the first item for which the predicate returns wanted.
func (l *loop) meets(r *run, wanted bool) (found bool, err error) {
	err = l.test(r, func(_ *frame, ok bool) bool { found = ok == wanted; return found })
	return found, err
}

// one visits the whole list, so that a predicate that fails late always fails.
func (l *loop) one(r *run) (value.Value, error) {
	n, err := l.count(r)
	return n == int64(1), err
}

// count without a predicate counts the trues of a list of booleans.
func (l *loop) count(r *run) (value.Value, error) {
	n := int64(0)
	err := l.test(r, func(_ *frame, ok bool) bool {
		if ok {
			n++
		}
		return false
	})
	return n, err
}

// filter pays for its result afterwards, whose size is at most the steps already paid for.
func (l *loop) filter(r *run) (value.Value, error) {
	out := []any{}
	err := l.test(r, func(f *frame, ok bool) bool {
		if ok {
			out = append(out, f.item)
		}
		return false
	})
	if err == nil {
		err = r.grow(len(out) * slotBytes)
	}
	return out, err
}

// mapped implements map, which is a keyword of Go.
func (l *loop) mapped(r *run) (value.Value, error) {
	list, err := l.items(r)
	if err != nil {
		return nil, err
	}
	out, err := r.newList(len(list))
	if err != nil {
		return nil, err
	}
	err = l.each(r, list, &frame{}, func(v value.Value) (bool, error) {
		out = append(out, v)
		return false, nil
	})
	return out, err
}

// search returns the first or the last item that satisfies the predicate, with its index; both null if there is none.
func (l *loop) search(r *run, fromEnd bool) (item, index value.Value, err error) {
	list, err := l.items(r)
	if err != nil {
		return nil, nil, err
	}
	outer := r.frame
	for n := range list {
		f := frame{index: n}
		if fromEnd {
			f.index = len(list) - 1 - n
		}
		f.item = list[f.index]
		v, err := l.visit(r, &f)
		if err != nil {
			return nil, nil, err
		}
		ok, err := r.truth(v, l.truth)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			r.frame = outer
			return f.item, int64(f.index), nil
		}
	}
	r.frame = outer
	return nil, nil, nil
}

// sum of nothing is 0. It adds as + does: exactly while all are integers.
func (l *loop) sum(r *run) (value.Value, error) {
	list, err := l.items(r)
	if err != nil {
		return nil, err
	}
	var total value.Value = int64(0)
	err = l.each(r, list, &frame{}, func(v value.Value) (bool, error) {
		total, err = arithmetic("add", total, v, addInt, addFloat)
		return false, err
	})
	return total, err
}

// reduce begins with its initial value or, without one, with the first item.
func (l *loop) reduce(r *run) (value.Value, error) {
	list, err := l.items(r)
	if err != nil {
		return nil, err
	}
	var f frame
	switch {
	case l.extra != nil:
		if f.acc, err = l.extra(r); err != nil {
			return nil, err
		}
	case len(list) == 0:
		return nil, errors.New("reduce of an empty list needs an initial value")
	default:
		f.acc, f.index = list[0], 1
	}
	err = l.each(r, list, &f, func(v value.Value) (bool, error) {
		f.acc = v
		return false, nil
	})
	return f.acc, err
}

// groupBy returns an object of lists. Its keys are texts, so that 1 and "1" are one group.
func (l *loop) groupBy(r *run) (value.Value, error) {
	list, err := l.items(r)
	if err != nil {
		return nil, err
	}
	groups := make(map[string]any)
	var f frame
	err = l.each(r, list, &f, func(v value.Value) (bool, error) {
		switch v.(type) {
		case []any, map[string]any:
			return false, fmt.Errorf("groupBy needs keys that are texts, numbers or booleans, not %s", show(v))
		}
		key := value.Text(v)
		if err := r.scan(len(key)); err != nil {
			return false, err
		}
		group, _ := groups[key].([]any)
		if group == nil {
			if err := r.grow(memberBytes + len(key)); err != nil {
				return false, err
			}
		}
		groups[key] = append(group, f.item)
		return false, r.grow(slotBytes)
	})
	return groups, err
}

// sortBy sorts by the results of the predicate; items with equal keys keep their order.
func (l *loop) sortBy(r *run) (value.Value, error) {
	list, err := l.items(r)
	if err != nil {
		return nil, err
	}
	descending := false
	if l.extra != nil {
		v, err := l.extra(r)
		if err != nil {
			return nil, err
		}
		if descending, err = isDescending(v); err != nil {
			return nil, err
		}
	}
	keys, err := r.newList(len(list))
	if err != nil {
		return nil, err
	}
	err = l.each(r, list, &frame{}, func(v value.Value) (bool, error) {
		keys = append(keys, v)
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	return sorted(r, list, keys, descending)
}

// isDescending reads the order of sort and sortBy.
func isDescending(v value.Value) (bool, error) {
	switch v {
	case "asc":
		return false, nil
	case "desc":
		return true, nil
	}
	return false, fmt.Errorf(`the order of sorting is "asc" or "desc", not %s`, show(v))
}

// sorted returns the items in the order of their keys.
func sorted(r *run, items, keys []any, descending bool) (value.Value, error) {
	out, err := r.newList(len(items))
	if err != nil {
		return nil, err
	}
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	// Sorting cannot stop early, so the first error is kept, and the steps are counted in advance.
	for _, key := range keys {
		size := 0
		if s, ok := key.(string); ok {
			size = len(s) / 64
		}
		if err := r.spend((1 + size) * bitLen(len(items))); err != nil {
			return nil, err
		}
	}
	var fault error
	slices.SortStableFunc(order, func(i, j int) int {
		n, err := compare(keys[i], keys[j])
		if err != nil && fault == nil {
			fault = err
		}
		if descending {
			return -n
		}
		return n
	})
	if fault != nil {
		return nil, fault
	}
	for _, i := range order {
		out = append(out, items[i])
	}
	return out, nil
}
