package value

// The general codec, to which the handwritten one must be equal.
var (
	EncodeGenerally = encode
	DecodeGenerally = decode
)
