package progress

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Duration returns a length of time in one or two units, rounded down: 0ms, 207ms, 4.2s, 3m05s, 2h04m, 3d02h.
// Less than nothing is 0ms.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0ms"
	case d < time.Second:
		return fmt.Sprintf("%dms", d/time.Millisecond)
	case d < time.Minute:
		return fmt.Sprintf("%d.%ds", d/time.Second, d%time.Second/(100*time.Millisecond))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// Clean returns a text from outside as one line that commands no terminal: escape sequences are left out, other characters that
// cannot be printed and white space become single spaces, and bytes that are no UTF-8 become U+FFFD.
func Clean(text string) string {
	text = strings.ToValidUTF8(ansi.Strip(text), "�")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
}

// CleanLines is Clean for a text of several lines. It keeps line breaks, tabs and spaces, and leaves other characters out.
func CleanLines(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(ansi.Strip(text), "�"))
}

// cut shortens a text to a width in columns.
func cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(text, width, "…")
}

// squeeze shortens a name to a width in columns, in the middle: long names mostly differ at their ends.
func squeeze(name string, width int) string {
	whole := ansi.StringWidth(name)
	if whole <= width || width < 4 {
		return cut(name, width)
	}
	head := (width - 1) / 3
	short := ansi.Truncate(name, head, "") + "…" + ansi.TruncateLeft(name, whole-(width-1-head), "")
	return ansi.Truncate(short, width, "") // half of a wide character may have been too much
}

// pad fills a text up with spaces to a width in columns.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}
