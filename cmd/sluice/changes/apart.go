package changes

import (
	"unicode/utf8"

	"github.com/sluiceflow/sluice/template/value"
)

// Excerpts of values that differ: all of short ones, else some text from before the place where they begin to differ.
const (
	shownSize = 100
	shownLead = 40
	readSize  = 1 << 16
)

// apart returns the texts of two values, cut so that they show where the values differ.
func apart(old, now any) (before, after string) {
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

// text returns the beginning of a value, and whether that is all of it.
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

// window returns the part of a text to show from a place on, with an ellipsis where there is more.
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

// start returns where the character begins that is at a place of a text.
func start(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
