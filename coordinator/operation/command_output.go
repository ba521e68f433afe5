package operation

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// capture keeps the end of a stream. It belongs to the writing goroutine until that has finished.
type capture struct {
	limit   int
	kept    []byte // at least the last limit bytes, at most twice as many
	dropped int    // bytes before those
	full    func() // called when the stream exceeds the limit, unless nil

	live io.WriteCloser // where the stream, without secrets, is followed; nil: nowhere
}

// Write adds a part of the stream. The cost of all parts together is proportional to the stream.
func (b *capture) Write(part []byte) (int, error) {
	b.kept = append(b.kept, part...)
	if len(b.kept) > b.limit && b.full != nil {
		b.full()
		b.full = nil
	}
	if len(b.kept) > 2*b.limit {
		b.trim()
	}
	return len(part), nil
}

// trim drops all but the last limit bytes.
func (b *capture) trim() {
	if over := len(b.kept) - b.limit; over > 0 {
		b.dropped += over
		b.kept = append(b.kept[:0], b.kept[over:]...)
	}
}

// isCut reports whether the stream was longer than the limit.
func (b *capture) isCut() bool {
	b.trim()
	return b.dropped > 0
}

// String returns the kept text; if the stream was longer, a first line says so.
func (b *capture) String() string {
	if !b.isCut() {
		return string(b.kept)
	}
	kept := b.kept
	// Drop the rest of a cut line, or at least of a cut character.
	if i := bytes.IndexByte(kept, '\n'); i >= 0 && i < len(kept)-1 {
		kept = kept[i+1:]
	}
	return fmt.Sprintf("[%d bytes left out]\n%s", b.dropped+len(b.kept)-len(kept), strings.ToValidUTF8(string(kept), ""))
}
