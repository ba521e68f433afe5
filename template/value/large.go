package value

import "errors"

// Large stands for a value that was not read from its store; it has the part to display. Size returns the size of that value, Preview its
// beginning. Of, and every function that needs the value itself, returns ErrLarge.
type Large struct {
	Kind      string   // the Kind of the value; "": unknown
	Bytes     int      // the Size of the value; 0: unknown
	Beginning string   // of its JSON
	Hash      [32]byte // SHA-256 of its encoding
}

// LargeBeginning bounds the beginning in a Large, in bytes of JSON.
const LargeBeginning = 256

// ErrLarge is wrapped by errors about a value that was not read from its store.
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

// unknownBeginning replaces a beginning that was not stored.
const unknownBeginning = "large value"

// preview is Preview.
func (l *Large) preview(size int) []byte {
	if l.Beginning == "" {
		return []byte(unknownBeginning)
	}
	return cut([]byte(l.Beginning), size)
}
