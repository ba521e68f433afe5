package value

// packedNodes is the number of nodes up to which Pack returns a value unchanged.
const packedNodes = 1000

// Pack returns a value in the form in which it is stored: encoded if it has many nodes, which takes a tenth of the memory or
// less, and otherwise unchanged. A value outside the model is also returned unchanged. O(size).
func Pack(v any) any {
	switch v.(type) {
	case []any, map[string]any:
	default:
		return v
	}
	if nodes, err := Nodes(v, packedNodes); err != nil || nodes <= packedNodes {
		return v
	}
	encoded, err := Encode(v)
	if err != nil {
		return v
	}
	return Raw(encoded)
}

// Unpack returns the value that was passed to Pack.
func Unpack(v any) any {
	encoded, ok := v.(Raw)
	if !ok {
		return v
	}
	v, err := Decode(encoded)
	if err != nil {
		return encoded // not encoded by Pack
	}
	return v
}
