package schema

// The functions of this file write rules in JSON Schema that concern several keys of a mapping. A rule refuses no mapping that
// the readers accept: an empty list or text, for instance, counts for them as if the key was left out.

// has holds of mappings with a key.
func has(key string) map[string]any { return map[string]any{"required": []any{key}} }

// hasAll holds of mappings with several keys.
func hasAll(keys ...any) map[string]any { return map[string]any{"required": keys} }

// hasSuch holds of mappings with a key whose value has a rule.
func hasSuch(key string, rule map[string]any) map[string]any {
	return map[string]any{"required": []any{key}, "properties": map[string]any{key: rule}}
}

// with holds of mappings if the values of some keys, where they are, have these rules. false lets no value through.
func with(rules map[string]any) map[string]any { return map[string]any{"properties": rules} }

// oneOf holds of mappings of which exactly one of the rules holds, anyOf if at least one does.
func oneOf(rules ...any) map[string]any { return map[string]any{"oneOf": rules} }

func anyOf(rules ...any) map[string]any { return map[string]any{"anyOf": rules} }

// all holds of mappings of which every rule holds.
func all(rules ...any) map[string]any { return map[string]any{"allOf": rules} }

// when asks that a rule holds of mappings of which the condition does.
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
