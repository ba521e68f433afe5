package reactive

import (
	"io"
)

// Digester is a Body that can say what it holds.
type Digester interface {
	// Digest writes everything that what it does next depends on. Instants are written relative to now.
	Digest(w io.Writer, now int64)
}
