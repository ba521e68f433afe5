package fields

import (
	"regexp"
	"strings"

	"github.com/sluiceflow/sluice/template/value"
)

// dottedField matches the common spellings of a field that are no JSON pointers: $.offer.price, offer.prices[0].
var dottedField = regexp.MustCompile(`^(?:\$\.)?[^$./\[\]]+(?:\.[^./\[\]]+|\[[0-9]+\])*$`)

// Pointer returns the RFC 6901 pointer of a field in dotted form. It returns any other text, a pointer above all,
// unchanged.
func Pointer(text string) string {
	if strings.HasPrefix(text, "/") || !dottedField.MatchString(text) {
		return text
	}
	text = strings.TrimPrefix(text, "$.")
	text = strings.NewReplacer("[", ".", "]", "").Replace(text)
	return value.Pointer(strings.Split(text, ".")).String()
}
