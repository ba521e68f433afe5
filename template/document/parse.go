package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Parse reads the documents of a file. The file name is only for messages, except that a file whose name ends in .json must
// contain JSON; any other may contain JSON or YAML. Parse reports all faults as Errors.
//
// A document with a fault of syntax, a limit, an anchor or a tag has no node in the result, and the other documents of its file
// may have none either. With a fault that leaves the rest readable, such as a duplicate key, Parse also returns the nodes, so
// that their reader can report further faults. Parse keeps no reference to data. Time and memory are proportional to len(data),
// except for block mappings, where time also grows with the square of the number of keys.
func Parse(file string, data []byte, limits Limits) ([]*Node, error) {
	r := &reading{file: file, limits: limits.withDefaults()}
	if err := r.checkBytes(data); err != nil {
		return nil, Errors{err}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var docs []*Node
	if strings.HasSuffix(strings.ToLower(file), ".json") || json.Valid(data) {
		docs = r.parseJSON(data)
	} else {
		docs = r.parseYAML(string(data))
	}
	if len(docs) == 0 && len(r.errs) == 0 {
		r.errs.Add(&Error{Pos: Pos{File: file}, Msg: "no document"})
	}
	return docs, r.errs.Err()
}

// reading is the state of one Parse.
type reading struct {
	file   string
	limits Limits
	errs   Errors
}

// checkBytes refuses data that is too large or not text. It is called before the data is parsed.
func (r *reading) checkBytes(data []byte) *Error {
	if len(data) > r.limits.Bytes {
		return &Error{Pos: Pos{File: r.file}, Err: ErrLimit,
			Msg: fmt.Sprintf("document of %d bytes is larger than %d", len(data), r.limits.Bytes)}
	}
	line, col := 1, 1
	for i := 0; i < len(data); {
		c, size := rune(data[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(data[i:])
		}
		switch {
		case c == utf8.RuneError && size == 1:
			return &Error{Pos: Pos{File: r.file, Line: line, Col: col}, Msg: "document is not UTF-8"}
		case c < ' ' && c != '\n' && c != '\t' && c != '\r':
			return &Error{Pos: Pos{File: r.file, Line: line, Col: col}, Msg: fmt.Sprintf("control character %U", c)}
		case c == '\n':
			line, col = line+1, 1
		default:
			col++
		}
		i += size
	}
	return nil
}

func (r *reading) pos(line, col int, path string) Pos {
	return Pos{File: r.file, Line: line, Col: col, Path: path}
}

// tooDeep, tooManyKeys, tooLong and unrepresentable return the faults that JSON and YAML share.
func (r *reading) tooDeep(at Pos) *Error {
	return &Error{Pos: at, Err: ErrLimit, Msg: fmt.Sprintf("nested deeper than %d levels", r.limits.Depth)}
}

func (r *reading) tooManyKeys(at Pos) *Error {
	return &Error{Pos: at, Err: ErrLimit, Msg: fmt.Sprintf("mapping of more than %d keys", r.limits.Keys)}
}

func (r *reading) tooLong(at Pos, text string) *Error {
	return &Error{Pos: at, Err: ErrLimit, Text: text,
		Msg: fmt.Sprintf("string of %d bytes is longer than %d", len(text), r.limits.Text)}
}

func (r *reading) unrepresentable(at Pos, text string) *Error {
	return &Error{Pos: at, Text: text, Msg: numberFault(text)}
}

// mapping collects the entries of one mapping and refuses duplicate keys.
type mapping struct {
	entries []Entry
	lines   map[string]int // line of each key; nil while a scan of the entries is cheaper
}

// mappingScanned is the maximum number of keys of a mapping that is scanned rather than indexed.
const mappingScanned = 16

func (r *reading) addEntry(m *mapping, e Entry) {
	if line, ok := m.find(e.Key); ok {
		r.errs.Add(&Error{Pos: e.Pos, Text: e.Key, Msg: fmt.Sprintf("duplicate key %q, first on line %d", e.Key, line)})
		return
	}
	m.entries = append(m.entries, e)
	if m.lines != nil {
		m.lines[e.Key] = e.Pos.Line
	}
}

func (m *mapping) find(key string) (line int, ok bool) {
	if m.lines == nil && len(m.entries) > mappingScanned {
		m.lines = make(map[string]int, 2*len(m.entries))
		for _, e := range m.entries {
			m.lines[e.Key] = e.Pos.Line
		}
	}
	if m.lines != nil {
		line, ok = m.lines[key]
		return line, ok
	}
	for _, e := range m.entries {
		if e.Key == key {
			return e.Pos.Line, true
		}
	}
	return 0, false
}
