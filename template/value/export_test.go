package value

// The general codec, to which the handwritten one must be equal.
var (
	EncodeGenerally = encode
	DecodeGenerally = decode
)

// The reader of most JSON, and the general one, to which it must be equal.
var (
	ParseQuickly   = quick
	ParseGenerally = parseInput
)
