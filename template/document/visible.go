package document

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns an error that shows a name if it holds a character that people cannot see, such as one that turns the
// direction of the text behind it or moves the cursor of a terminal: they could not tell it from another name, nor write it.
func Visible(name string) error {
	if !utf8.ValidString(name) {
		return fmt.Errorf("%s: a name is written in UTF-8", Quote(name))
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("%s: remove the character %U, which cannot be seen", Quote(name), r)
		}
	}
	return nil
}

// ValidName returns an error that shows a name, which is called what, unless it is visible, without white space and some
// other characters, and has at most a number of bytes.
func ValidName(what, name, without string, bytesMax int) error {
	if len(name) > bytesMax {
		return fmt.Errorf("%s: %s has at most %d bytes, not %d", Quote(name[:bytesMax/2]+"…"), what, bytesMax, len(name))
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(without, r) }) {
		return fmt.Errorf("%s: %s has no spaces and none of %s", Quote(name), what, strings.Join(strings.Split(without, ""), " "))
	}
	return Visible(name)
}
