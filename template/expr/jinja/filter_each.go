package jinja

import "errors"

// mapped takes a field of every element, or applies a filter to it.
func mapped(r *run, v any, a args) (any, error) {
	list, err := r.elementsOrNone(v)
	if err != nil {
		return nil, err
	}
	if err := r.room(len(list)); err != nil {
		return nil, err
	}
	apply, err := r.perElement(a)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(list))
	for i, x := range list {
		if out[i], err = apply(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// elementsOrNone returns the elements that map and select visit. A false value, such as null, has none.
func (r *run) elementsOrNone(v any) ([]any, error) {
	if !truth(v) {
		return []any{}, nil
	}
	return r.elements(v)
}

// perElement returns the function that map applies to each element.
func (r *run) perElement(a args) (func(x any) (any, error), error) {
	if len(a.list) == 0 {
		c := takes(1, nil, "attribute", "default")
		if wrong := c.misfit(0, a.names); wrong != "" {
			return nil, errors.New("it " + wrong)
		}
		path, err := a.path(0)
		other, _ := a.at(1, "default")
		return func(x any) (any, error) { return path.or(r, x, other) }, err
	}
	name, a, err := a.applies("filter", filters, filterNames)
	return func(x any) (any, error) { return r.filter(name, x, a) }, err
}

// choose keeps the elements for which a test returns wanted; without a test, their truth. byField tests a field of them.
func choose(wanted, byField bool) call {
	return func(r *run, v any, a args) (any, error) {
		list, err := r.elementsOrNone(v)
		if err != nil {
			return nil, err
		}
		if err := r.room(len(list)); err != nil {
			return nil, err
		}
		var by path
		if byField {
			if len(a.list) == 0 {
				return nil, errors.New("it needs the name of a field")
			}
			if by, err = a.path(0); err != nil {
				return nil, err
			}
			a = a.rest(1)
		}
		test, err := r.judge(a)
		if err != nil {
			return nil, err
		}
		out := []any{}
		for _, x := range list {
			y, err := by.in(r, x)
			if err != nil {
				return nil, err
			}
			yes, err := test(y)
			if err != nil {
				return nil, err
			}
			if truth(yes) == wanted {
				out = append(out, x)
			}
		}
		return out, nil
	}
}

// judge returns the function by which select tests each element.
func (r *run) judge(a args) (func(x any) (any, error), error) {
	if len(a.list)+len(a.names) == 0 {
		return func(x any) (any, error) { return truth(x), nil }, nil
	}
	name, a, err := a.applies("test", tests, testNames)
	return func(x any) (any, error) { return r.test(name, x, a) }, err
}
