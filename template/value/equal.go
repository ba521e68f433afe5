package value

// Equal reports whether a and b are the same value: numbers by what they are worth (1 and 1.0 are equal), everything else
// by kind and content (true and "true" are not). Arguments outside the model are taken through Of first; what it refuses
// equals nothing. Strings are compared byte by byte.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case nil, bool, string:
		return a == b || !isModel(b) && equalForeign(a, b)
	case int64:
		if b, ok := b.(int64); ok {
			return a == b
		}
		return isNumber(b) && equalForeign(a, b)
	case []any:
		if b, ok := b.([]any); ok {
			return equalLists(a, b)
		}
		return (a == nil || !isModel(b)) && equalForeign(a, b)
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return equalObjects(a, b)
		}
		return (a == nil || !isModel(b)) && equalForeign(a, b)
	case float64:
		return isNumber(b) && equalForeign(a, b)
	}
	return equalForeign(a, b)
}

// equalLists: a nil list is null, so it differs from an empty one.
func equalLists(a, b []any) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// equalObjects: a missing key differs from one whose value is null.
func equalObjects(a, b map[string]any) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for key, item := range a {
		other, ok := b[key]
		if !ok || !Equal(item, other) {
			return false
		}
	}
	return true
}

// isModel reports whether v is what it looks like: a non-nil container or a scalar that has one form only.
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

// equalForeign compares what needs to be brought into the model first: floats that may be whole, and Go values.
func equalForeign(a, b any) bool {
	a, errA := Of(a)
	b, errB := Of(b)
	if errA != nil || errB != nil {
		return false
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && equalLists(a, b)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalObjects(a, b)
	}
	switch b.(type) {
	case []any, map[string]any: // == would panic on two of them; of one it is false
		return false
	}
	return a == b
}
