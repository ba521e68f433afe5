package value

// packedNodes is how many nodes a value may have that Pack leaves as it is.
const packedNodes = 1000

// Pack returns a value in the form in which it is stored: as its encoding if it has many nodes, which takes a tenth of the
// memory or less, and else unchanged. A value outside the model is returned unchanged, too. O(size).
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
		return encoded // it was not Pack that has encoded it
	}
	return v
}
