// Package cursors makes cursors of lists: each continues one list only, not the list of another query.
package cursors

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"net/url"
)

// List identifies a list.
type List uint32

// Of returns the list at a path with these parameters. Parameters that select a part of the list do not count.
func Of(path string, given url.Values) List {
	sum := fnv.New32a()
	sum.Write([]byte(path))
	rest := url.Values{}
	for name, values := range given {
		if name != "cursor" && name != "limit" {
			rest[name] = values
		}
	}
	sum.Write([]byte("?" + rest.Encode()))
	return List(sum.Sum32())
}

// At returns the cursor of a place in the list; "" for "".
func (l List) At(place string) string {
	if place == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint32(nil, uint32(l)), place...))
}

// Place returns the place of a cursor, and whether it is one of the list; "" for "".
func (l List) Place(cursor string) (place string, ok bool) {
	if cursor == "" {
		return "", true
	}
	data, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(data) <= 4 || binary.BigEndian.Uint32(data) != uint32(l) {
		return "", false
	}
	return string(data[4:]), true
}
