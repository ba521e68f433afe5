package calllog

import (
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// Writer returns a writer of one stream of a call; of names the call. The text of one Write can be read at once, except the beginning of
// a character, which waits for its rest. It belongs to one goroutine.
func (l *Logs) Writer(run string, of Entry) io.WriteCloser { return &writer{logs: l, run: run, of: of} }

type writer struct {
	logs *Logs
	run  string
	of   Entry
	held []byte // beginning of a character
}

// Write implements io.Writer. It never fails.
func (w *writer) Write(part []byte) (int, error) {
	text := append(w.held, part...)
	n := len(text) - partOfCharacter(text)
	w.pass(text[:n])
	w.held = append([]byte(nil), text[n:]...)
	return len(part), nil
}

// Close writes the text that is held back. It must be the last call.
func (w *writer) Close() error {
	w.pass(w.held)
	w.held = nil
	return nil
}

func (w *writer) pass(text []byte) {
	e := w.of
	e.At, e.Text = time.Now().UTC(), strings.ToValidUTF8(string(text), "�")
	w.logs.Write(w.run, e)
}

// partOfCharacter returns the number of bytes at the end of a text that are the beginning of a character.
func partOfCharacter(text []byte) int {
	for n := 1; n <= min(len(text), utf8.UTFMax-1); n++ {
		if b := text[len(text)-n:]; utf8.RuneStart(b[0]) {
			if utf8.FullRune(b) {
				return 0
			}
			return n
		}
	}
	return 0
}
