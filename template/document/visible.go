package document

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns an error that quotes a name if it is not UTF-8 or contains an invisible character, such as one that changes
// the direction of the text after it or moves the cursor of a terminal. People can neither distinguish such a name from another
// nor type it.
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

// ValidName returns an error unless name is valid: not empty, visible (see Visible), at most bytesMax bytes long, without white
// space and without the characters in without. The error quotes name and calls it what, such as "an id".
func ValidName(what, name, without string, bytesMax int) error {
	if len(name) > bytesMax {
		return fmt.Errorf("%s: %s has at most %d bytes, not %d", Quote(name[:bytesMax/2]+"…"), what, bytesMax, len(name))
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(without, r) }) {
		return fmt.Errorf("%s: %s has no spaces and none of %s", Quote(name), what, strings.Join(strings.Split(without, ""), " "))
	}
	return Visible(name)
}
