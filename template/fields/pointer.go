package fields

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// dottedField matches the common spellings of a field that are not JSON pointers: $.offer.price, offer.prices[0].
var dottedField = regexp.MustCompile(`^(?:\$\.)?[^$./\[\]]+(?:\.[^./\[\]]+|\[[0-9]+\])*$`)

// Pointer returns the RFC 6901 pointer of a field in dotted form. It returns any other text, such as a pointer, unchanged.
func Pointer(text string) string {
	if strings.HasPrefix(text, "/") || !dottedField.MatchString(text) {
		return text
	}
	text = strings.TrimPrefix(text, "$.")
	text = strings.NewReplacer("[", ".", "]", "").Replace(text)
	return value.Pointer(strings.Split(text, ".")).String()
}

// PathTo returns the path of the value at a JSON pointer within the value v at path. If v has no such value, it returns the
// path of the last value on the way.
func PathTo(path string, v value.Value, pointer string) string {
	segments, err := value.ParsePointer(pointer)
	if err != nil {
		return path
	}
	pos := document.Pos{Path: path}
	for _, segment := range segments {
		switch at := v.(type) {
		case []any:
			i, err := strconv.Atoi(segment)
			if err != nil || i >= len(at) {
				return pos.Path
			}
			pos, v = pos.Index(i), at[i]
		case map[string]any:
			pos, v = pos.Key(segment), at[segment]
		default:
			return pos.Path
		}
	}
	return pos.Path
}
