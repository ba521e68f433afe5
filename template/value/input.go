package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/internal/jsontext"
)

// ParseInput is ParseJSON for text that a person or a program writes for Sluice: as in a document, duplicate keys, invalid UTF-8
// and escapes of half a surrogate pair are refused, with the line and the column, in characters from 1.
func ParseInput(text []byte) (Value, error) {
	if v, ok := quick(text); ok {
		return v, nil
	}
	return parseInput(text)
}

// parseInput is ParseInput for any text.
func parseInput(text []byte) (Value, error) {
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && size == 1 {
			return nil, fmt.Errorf("parse JSON: %s: the byte 0x%02x is not UTF-8: write the text in UTF-8", lineAndColumn(text, i), text[i])
		}
		i += size
	}
	v, err := parseJSON(text)
	if at := jsontext.Half(text); err == nil && at >= 0 {
		err = fmt.Errorf("parse JSON: %s: the escape %s is half a surrogate pair: write both halves, or the character itself", lineAndColumn(text, at), text[at:at+6])
	}
	if err == nil {
		err = uniqueKeys(text)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// members are the keys of an object being read; nil: a list.
type members map[string]bool

// uniqueKeys refuses a duplicate key in an object of a JSON text.
func uniqueKeys(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var within []members
	for key := false; ; {
		end := d.InputOffset()
		token, err := d.Token()
		if err != nil {
			return nil // the end
		}
		last := len(within) - 1
		switch name, isText := token.(string); {
		case token == json.Delim('{'), token == json.Delim('['):
			var m members
			if key = token == json.Delim('{'); key {
				m = members{}
			}
			within = append(within, m)
			continue
		case token == json.Delim('}'), token == json.Delim(']'):
			within = within[:last]
			last--
		case key && isText:
			if within[last][name] {
				at := int(end) + bytes.IndexByte(text[end:], '"')
				return fmt.Errorf("parse JSON: %s: the key %q comes twice: remove one", lineAndColumn(text, at), clip(name))
			}
			within[last][name] = true
			key = false
			continue
		}
		key = last >= 0 && within[last] != nil
	}
}

// lineAndColumn describes the position of a byte in a text.
func lineAndColumn(text []byte, at int) string {
	before := text[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	return fmt.Sprintf("line %d, column %d", line, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])+1)
}
