package changes

import (
	"unicode/utf8"

	"github.com/sluiceflow/sluice/template/value"
)

// Excerpts of values that differ: the whole values if both are short, else at most shownSize bytes, beginning shownLead bytes
// before the first difference. Of each value at most readSize bytes are compared.
const (
	shownSize = 100
	shownLead = 40
	readSize  = 1 << 16
)

// excerpts returns excerpts of two values around their first difference.
func excerpts(old, now any) (before, after string) {
	was, wasWhole := text(old)
	is, isWhole := text(now)
	at := 0
	if old != nil && now != nil && max(len(was), len(is)) > shownSize {
		for at < min(len(was), len(is)) && was[at] == is[at] {
			at++
		}
		at = max(0, at-shownLead)
	}
	return window(was, at, wasWhole), window(is, at, isWhole)
}

// text returns the beginning of a value, at most readSize bytes, and reports whether that is the whole value.
func text(v any) (string, bool) {
	if v == nil {
		return "none", true
	}
	text, whole, err := value.Preview(v, readSize)
	if err != nil {
		return err.Error(), true
	}
	return string(text), whole
}

// window returns the part of a text that begins at from, with an ellipsis at each end that was cut; whole reports that the text itself
// was not cut.
func window(text string, from int, whole bool) string {
	from, to := start(text, from), start(text, from+shownSize)
	shown := text[from:to]
	if from > 0 {
		shown = "…" + shown
	}
	if to < len(text) || !whole {
		shown += "…"
	}
	return shown
}

// start returns the position of the first byte of the character at a position of a text.
func start(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
