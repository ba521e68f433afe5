package reactive

import "github.com/sluiceflow/sluice/template/value"

// packedNodes is how many nodes a value may have that is held as it is until somebody asks for it.
const packedNodes = 1000

// packed is a value as it is held until somebody asks for it: as its encoding where it has many nodes, which takes a tenth of the
// memory or less.
func packed(v any) any {
	switch v.(type) {
	case []any, map[string]any:
	default:
		return v
	}
	if nodes, err := value.Nodes(v, packedNodes); err != nil || nodes <= packedNodes {
		return v
	}
	encoded, err := value.Encode(v)
	if err != nil {
		return v
	}
	return value.Raw(encoded)
}

// unpacked is the value again.
func unpacked(v any) any {
	encoded, ok := v.(value.Raw)
	if !ok {
		return v
	}
	v, err := value.Decode(encoded)
	if err != nil {
		return encoded // it was not we who have encoded it
	}
	return v
}
