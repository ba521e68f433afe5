package progress

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Duration returns a duration in one or two units, rounded down: 0ms, 207ms, 4.2s, 3m05s, 2h04m, 3d02h. A negative one is 0ms.
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

// Clean returns a text from outside as one line without control sequences: escape sequences are removed, white space and other
// characters that cannot be printed become single spaces, and invalid UTF-8 becomes U+FFFD.
func Clean(text string) string {
	text = strings.ToValidUTF8(ansi.Strip(text), "�")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
}

// CleanLines is Clean for a text of several lines. It keeps line breaks, tabs and spaces, and removes other characters.
func CleanLines(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(ansi.Strip(text), "�"))
}

// cut truncates a text to a width in columns.
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
	return ansi.Truncate(short, width, "") // a wide character may exceed the width by one
}

// pad pads a text with spaces to a width in columns.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}
