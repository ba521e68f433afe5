package value

import (
	"slices"
	"strings"
)

// ParsePath returns the keys of a path such as `approved` or `limits.price`. It reports false if one of them is empty.
func ParsePath(text string) ([]string, bool) {
	path := strings.Split(text, ".")
	return path, !slices.Contains(path, "")
}
