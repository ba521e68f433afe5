package schema

// The functions of this file write rules in JSON Schema about several keys of a mapping. A rule refuses no mapping that the readers
// accept. For example, the readers treat an empty list or text like a missing key.

// has is the rule that a mapping has a key.
func has(key string) map[string]any { return map[string]any{"required": []any{key}} }

// hasAll is the rule that a mapping has several keys.
func hasAll(keys ...any) map[string]any { return map[string]any{"required": keys} }

// hasSuch is the rule that a mapping has a key, and that a rule is true for its value.
func hasSuch(key string, rule map[string]any) map[string]any {
	return map[string]any{"required": []any{key}, "properties": map[string]any{key: rule}}
}

// with is the rule that the values of the present keys meet these rules. The rule false refuses every value.
func with(rules map[string]any) map[string]any { return map[string]any{"properties": rules} }

// oneOf is the rule that exactly one of the rules is true; anyOf, that at least one is.
func oneOf(rules ...any) map[string]any { return map[string]any{"oneOf": rules} }

func anyOf(rules ...any) map[string]any { return map[string]any{"anyOf": rules} }

// all is the rule that every rule is true.
func all(rules ...any) map[string]any { return map[string]any{"allOf": rules} }

// when is the rule that then is true for every mapping for which the condition is true.
func when(condition, then map[string]any) map[string]any {
	return map[string]any{"if": condition, "then": then}
}

// choosing is the condition that a key has one of these texts.
func choosing(key string, texts ...any) map[string]any {
	return hasSuch(key, map[string]any{"enum": texts})
}

func not(rule map[string]any) map[string]any { return map[string]any{"not": rule} }

var (
	isNull    = map[string]any{"type": "null"}
	notNull   = not(isNull)
	someItems = map[string]any{"minItems": 1}
	someText  = map[string]any{"minLength": 1}
)
