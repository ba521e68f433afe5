package value

import "errors"

// Large stands for a value that was left where it is stored: it holds the displayed part of it. Size counts it as that value, Preview
// returns its beginning, and Of and all that need the value itself return ErrLarge.
type Large struct {
	Kind      string   // as Kind says of the value; "": not known
	Bytes     int      // as Size says of the value; 0: not known
	Beginning string   // of its JSON
	Hash      [32]byte // SHA-256 of its encoding
}

// LargeBeginning is how many bytes of its JSON a Large has.
const LargeBeginning = 256

// ErrLarge is wrapped by errors about a value that was left where it is kept.
var ErrLarge = errors.New("value: it is large and was not read")

// LargeOf returns the stand-in for a value.
func LargeOf(v any, hash [32]byte) Large {
	l := Large{Hash: hash}
	of, err := Of(v)
	if err != nil {
		return l
	}
	l.Kind = Kind(of)
	l.Bytes, _ = Size(of, MaxSizeBytes) // of a value of the model, which has a size
	beginning, _, _ := Preview(of, LargeBeginning)
	l.Beginning = string(beginning)
	return l
}

// unknownBeginning is shown of a value of which its beginning was not kept.
const unknownBeginning = "large value"

// preview is Preview.
func (l *Large) preview(size int) []byte {
	if l.Beginning == "" {
		return []byte(unknownBeginning)
	}
	return cut([]byte(l.Beginning), size)
}
