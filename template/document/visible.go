package document

import (
	"fmt"
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
