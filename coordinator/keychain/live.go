package keychain

import (
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds, in time and bytes, of the output that a live stream gathers before it searches: many small parts cost one search.
const (
	liveTime  = 100 * time.Millisecond
	liveBytes = 256 << 10
)

// RedactLive returns a writer that passes its input on to another a moment later, with marks in place of the secrets that the ring has now.
// It holds back only bytes that may begin a secret, and only if they are at least pieceMin: fewer bytes of an incomplete secret may be
// passed on. Close writes the bytes held back, and does not close the other writer. One goroutine at a time writes to that.
func (r *Ring) RedactLive(to io.Writer) io.WriteCloser {
	if h := r.redactor(); h != nil {
		return &live{seeker: h.texts, to: to}
	}
	return nopCloser{to}
}

// live is a stream that is read while it is written.
type live struct {
	*seeker
	to io.Writer

	mu     sync.Mutex
	text   []byte // the bytes passed on last, among which secrets may begin, and those held back
	passed int    // bytes of text that were passed on
	timer  *time.Timer
}

// Write adds a part of a text.
func (l *live) Write(part []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, part...)
	if len(l.text)-l.passed > liveBytes {
		return len(part), l.pass(false)
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(liveTime, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.timer != nil {
				_ = l.pass(false) // as a reader of live output sees
			}
		})
	}
	return len(part), nil
}

// Close ends the text. If it ends with the beginning of a secret, the rest was cut off.
func (l *live) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pass(true)
}

// pass passes on the bytes that begin no secret. The caller holds mu.
func (l *live) pass(isEnd bool) error {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	text := string(l.text)
	end := len(text)
	if !isEnd {
		end = max(l.passed, l.undecidedFrom(text))
	}
	var b strings.Builder
	for _, s := range splitOverlaps(l.spans(text, isEnd)) {
		if s.end <= l.passed {
			continue
		}
		if s.start >= end {
			break
		}
		b.WriteString(text[l.passed:max(l.passed, s.start)])
		b.WriteString(s.mark)
		l.passed = s.end
	}
	b.WriteString(text[l.passed:max(l.passed, end)])
	l.passed = max(l.passed, end)
	if over := l.passed - l.behind; over > 0 {
		l.text, l.passed = append(l.text[:0], l.text[over:]...), l.passed-over
	}
	if b.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(l.to, b.String())
	return err
}

// undecidedFrom returns the position from which a text, in one of its views, may be the beginning of a secret; if there is none, its length.
func (k *seeker) undecidedFrom(text string) int {
	from := len(text)
	for end := len(text); end > max(0, len(text)-escapeMax); end-- {
		if end < len(text) && strings.IndexByte(`\%&+`, text[end]) < 0 { // otherwise the beginning of an escape may follow
			continue
		}
		raw := view{text: text[:end]}
		raw.each(viewsMax, func(v *view) {
			for i := max(0, len(v.text)-k.behind/escapeMax); i+pieceMin <= len(v.text); i++ {
				if k.begins(v, i) {
					start, _ := v.at(i, len(v.text))
					from = min(from, start)
					break
				}
			}
		})
	}
	return from
}

// begins reports whether a view may end with the beginning, at i, of a secret.
func (k *seeker) begins(v *view, i int) bool {
	tail := v.text[i:]
	return slices.ContainsFunc(k.beginning(tail), func(f form) bool {
		return (f.inLines || !v.unbroken) && len(f.text) > len(tail) && strings.HasPrefix(f.text, tail)
	})
}
