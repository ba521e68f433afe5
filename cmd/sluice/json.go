package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/charmbracelet/x/term"
)

// newJSON returns an encoder of what a verb writes to out as JSON, by way of w. On a terminal, what could command it is escaped: the
// values are the same.
func newJSON(w, out io.Writer) *json.Encoder {
	if isTerminal(out) {
		w = escaped{w}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

func isTerminal(w io.Writer) bool {
	file := fileOf(w)
	return file != nil && term.IsTerminal(file.Fd())
}

// escaped writes JSON in which every character that cannot be printed is escaped. It is given whole values.
type escaped struct{ to io.Writer }

func (e escaped) Write(text []byte) (int, error) {
	var b strings.Builder
	for _, r := range string(text) {
		switch {
		case unicode.IsPrint(r), r == '\n', r == '\t':
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	if _, err := io.WriteString(e.to, b.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}
