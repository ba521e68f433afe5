package svg

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// face is the font of a text.
type face uint8

const (
	middle face = iota // names
	small              // notes
	code               // conditions
)

// visible replaces the invisible characters of a text, and those that change the direction of text, by their numbers. Line ends
// stay.
func visible(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n':
			b.WriteByte('\n')
		case r == '\t' || r == '\r':
			b.WriteByte(' ')
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			b.WriteString("\uFFFD")
		case !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r):
			fmt.Fprintf(&b, "‹U+%04X›", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// widthOf returns the width of a text in a wide typeface, because the reader's typeface is not known.
func widthOf(text string, f face) int {
	tenths := 0
	for _, r := range text {
		tenths += tenthsOf(r, f)
	}
	return (tenths*size(f) + 99) / 100
}

// size returns the size of a face in points.
func size(f face) int {
	if f == middle {
		return 12
	}
	return 11
}

// roomOf returns the width of a character, rounded up.
func roomOf(r rune, f face) int { return (tenthsOf(r, f)*size(f) + 99) / 100 }

// tenthsOf returns the width of a character in tenths of a point, at a size of ten points.
func tenthsOf(r rune, f face) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && (r < 0x2000 || r > 0x2BFF):
		return 105
	case f == code:
		return 62
	case strings.ContainsRune("iljtfrI.,:;'|!()[]{} -/", r):
		return 42
	case strings.ContainsRune("mwMW@%—…", r), unicode.IsUpper(r):
		return 86
	}
	return 64
}

// cutEnd cuts the end of a text that is wider than room.
func cutEnd(text string, room int, f face) string {
	if widthOf(text, f) <= room {
		return text
	}
	width := widthOf("…", f)
	for i, r := range text {
		if width += roomOf(r, f); width > room {
			return strings.TrimRight(text[:i], " ") + "…"
		}
	}
	return text
}

// cutMiddle cuts the middle of a text that is wider than room, because names differ at their ends.
func cutMiddle(text string, room int, f face) string {
	if widthOf(text, f) <= room {
		return text
	}
	half := (room - widthOf("…", f)) / 2
	first, last := "", ""
	width := 0
	for i, r := range text {
		if width += roomOf(r, f); width > half {
			first = text[:i]
			break
		}
	}
	width = 0
	for i := len(text); i > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		if width += roomOf(r, f); width > half {
			break
		}
		i -= size
		last = text[i:]
	}
	// A combining mark whose character was cut is removed.
	return first + "…" + strings.TrimLeftFunc(last, func(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Me) })
}
