package operation

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// capture keeps the end of a stream. It belongs to the goroutine that writes it until that goroutine has finished.
type capture struct {
	limit   int
	kept    []byte // the last bytes: all, or at least limit of them; at most 2*limit
	dropped int    // bytes before those
	full    func() // called when the stream exceeds the limit, unless nil

	live io.WriteCloser // receives the stream without secrets, for followers; nil: none
}

// Write adds a part of the stream. All writes together take time proportional to the length of the stream.
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

// String returns the kept text. If the stream was longer, a first line reports the number of omitted bytes.
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
