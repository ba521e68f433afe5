package expected

import "github.com/sluiceflow/sluice/template/value"

// HasKeys reports whether a value equals the expected one. If both are objects, it compares only the keys of want.
func HasKeys(got, want value.Value) bool {
	named, ok := want.(map[string]any)
	object, isObject := got.(map[string]any)
	if !ok || !isObject {
		return value.Equal(got, want)
	}
	for k, v := range named {
		if have, there := object[k]; !there || !value.Equal(have, v) {
			return false
		}
	}
	return true
}

// Show returns a value as text for a difference.
func Show(v any) string {
	data, err := value.JSON(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
