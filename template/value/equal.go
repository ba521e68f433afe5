package value

// Equal reports whether a and b are the same value: numbers by value (1 and 1.0 are equal), everything else by kind and
// content (true and "true" are not). Arguments outside the model are converted by Of first; a value that Of refuses equals
// nothing, including one that nests deeper than MaxDepth or contains itself. Strings are compared byte by byte.
func Equal(a, b any) bool {
	c := comparison{left: MaxSizeBytes, foreign: 3 * MaxSizeBytes}
	return c.equal(a, b, 0)
}

// comparison walks two values at once. It counts the elements it visits, as Of does: a Value has no more elements than its
// encoding has bytes, and a small graph of shared lists may expand to more than can be visited.
type comparison struct {
	left    int // number of elements that the rest may have
	foreign int // bytes that may still be converted: the maximum of each value, and floats twice
}

// equal compares values that are nested depth levels deep.
func (c *comparison) equal(a, b any, depth int) bool {
	if c.left--; c.left < 0 {
		return false
	}
	switch a := a.(type) {
	case nil, bool, string:
		return a == b || !isModel(b) && c.equalForeign(a, b, depth)
	case int64:
		if b, ok := b.(int64); ok {
			return a == b
		}
		return isNumber(b) && c.equalForeign(a, b, depth)
	case []any:
		if b, ok := b.([]any); ok {
			return c.equalLists(a, b, depth)
		}
		return (a == nil || !isModel(b)) && c.equalForeign(a, b, depth)
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return c.equalObjects(a, b, depth)
		}
		return (a == nil || !isModel(b)) && c.equalForeign(a, b, depth)
	case float64:
		return isNumber(b) && c.equalForeign(a, b, depth)
	}
	return c.equalForeign(a, b, depth)
}

// equalLists compares lists; a nil list is null, so it differs from an empty one.
func (c *comparison) equalLists(a, b []any, depth int) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) || depth >= MaxDepth {
		return false
	}
	for i := range a {
		if !c.equal(a[i], b[i], depth+1) {
			return false
		}
	}
	return true
}

// equalObjects compares objects; a missing key differs from one whose value is null.
func (c *comparison) equalObjects(a, b map[string]any, depth int) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) || depth >= MaxDepth {
		return false
	}
	for key, item := range a {
		other, ok := b[key]
		if !ok || !c.equal(item, other, depth+1) {
			return false
		}
	}
	return true
}

// isModel reports whether v needs no conversion: a non-nil container or a scalar that has one form only.
func isModel(v any) bool {
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
		return true
	case []any:
		return v != nil
	case map[string]any:
		return v != nil
	}
	return false
}

// isNumber reports whether v may be equal to a number.
func isNumber(v any) bool {
	switch v.(type) {
	case int64, float64:
		return true
	}
	return !isModel(v)
}

// equalForeign compares values that must be converted first: floats that may be whole, and Go values.
func (c *comparison) equalForeign(a, b any, depth int) bool {
	a, okA := c.bring(a, depth)
	b, okB := c.bring(b, depth)
	if !okA || !okB {
		return false
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && c.equalLists(a, b, depth)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && c.equalObjects(a, b, depth)
	}
	switch b.(type) {
	case []any, map[string]any: // == would panic on two of them; of one it is false
		return false
	}
	return a == b
}

// bring is Of for a value at a depth. It counts the nodes that it visits.
func (c *comparison) bring(v any, depth int) (Value, bool) {
	w := walk{from: goCode, left: c.foreign}
	v, _, err := w.visit(v, depth)
	c.foreign = w.left
	return v, err == nil
}
