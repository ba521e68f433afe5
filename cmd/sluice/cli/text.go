package cli

import (
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
)

// Clock is the layout of an instant for people, in local time.
const Clock = "2006-01-02 15:04:05"

// Local returns an instant for people; "" for the zero time.
func Local(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(Clock)
}

// Took returns the time between two instants for people: until now if ended is zero, and "" if began is zero.
func Took(began, ended, now time.Time) string {
	switch {
	case began.IsZero():
		return ""
	case ended.IsZero():
		ended = now
	}
	return progress.Duration(ended.Sub(began))
}

// ShortMax bounds the result of Short, in characters.
const ShortMax = 80

// Short returns the text, or its beginning and an ellipsis if it has more than ShortMax characters.
func Short(text []byte) string {
	characters := []rune(string(text))
	if len(characters) <= ShortMax {
		return string(text)
	}
	return string(characters[:ShortMax-1]) + "…"
}

// Plural returns a number and a noun, with an s unless the number is 1: 1 step, 2 steps.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
