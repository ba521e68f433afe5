package plan

import (
	"strconv"
	"strings"
)

// ParseKey splits the key of a step or map item, such as `check[3][1]`, into id and indexes. It reports false if the text is
// not a key.
func ParseKey(key string) (id string, indexes []int, ok bool) {
	open := strings.IndexByte(key, '[')
	if open < 0 {
		return key, nil, key != ""
	}
	id, rest := key[:open], key[open:]
	for rest != "" {
		end := strings.IndexByte(rest, ']')
		if rest[0] != '[' || end < 0 {
			return "", nil, false
		}
		i, err := strconv.Atoi(rest[1:end])
		if err != nil || i < 0 {
			return "", nil, false
		}
		indexes = append(indexes, i)
		rest = rest[end+1:]
	}
	return id, indexes, id != ""
}
