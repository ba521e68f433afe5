package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/internal/jsontext"
)

// jsonReading reads one JSON text token by token, so each value has its place and limits apply before anything is built. The
// depth limit bounds the recursion.
type jsonReading struct {
	*reading
	data  []byte
	dec   *json.Decoder
	lines []int // byte offset at which each line begins
	last  struct{ offset, line, col int }
}

// parseJSON reads data as exactly one JSON value.
func (r *reading) parseJSON(data []byte) []*Node {
	j := &jsonReading{reading: r, data: data, dec: json.NewDecoder(bytes.NewReader(data)), lines: []int{0}}
	j.dec.UseNumber()
	for i, c := range data {
		if c == '\n' {
			j.lines = append(j.lines, i+1)
		}
	}
	node, fault := j.value("", 0)
	if half := jsontext.Half(data); fault == nil && half >= 0 {
		fault = &Error{Pos: j.at(half, ""), Msg: fmt.Sprintf("escape %s is half a surrogate pair", data[half:half+6])}
	}
	if fault == nil {
		if end := j.next(); end < len(data) {
			fault = &Error{Pos: j.at(end, ""), Msg: "text after the end of the document"}
		}
	}
	if fault != nil {
		r.errs.Add(fault)
		return nil
	}
	return []*Node{node}
}

// next returns the offset of the next token's first byte.
func (j *jsonReading) next() int {
	i := int(j.dec.InputOffset())
	for i < len(j.data) && bytes.IndexByte([]byte(" \t\r\n,:"), j.data[i]) >= 0 {
		i++
	}
	return i
}

// at returns the place of an offset. Generated JSON is often one long line, so columns are counted from the previous offset if
// it is on the same line, and not from the beginning of the line.
func (j *jsonReading) at(offset int, path string) Pos {
	offset = min(offset, len(j.data))
	line, found := slices.BinarySearch(j.lines, offset)
	if !found {
		line--
	}
	from, col := j.lines[line], 1
	if j.last.line == line && j.last.offset >= from && j.last.offset <= offset {
		from, col = j.last.offset, max(1, j.last.col)
	}
	col += utf8.RuneCount(j.data[from:offset])
	j.last.offset, j.last.line, j.last.col = offset, line, col
	return j.pos(line+1, col, path)
}

// value reads the next value. depth is the number of collections around it.
func (j *jsonReading) value(path string, depth int) (*Node, *Error) {
	pos := j.at(j.next(), path)
	tok, err := j.dec.Token()
	if err != nil {
		return nil, j.syntaxFault(err, pos)
	}
	if _, opens := tok.(json.Delim); opens && depth == j.limits.Depth {
		return nil, j.tooDeep(pos)
	}
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '{' {
			return j.object(pos, depth+1)
		}
		return j.array(pos, depth+1)
	case json.Number:
		value, kind, ok := number(tok.String())
		if !ok {
			j.errs.Add(j.unrepresentable(pos, tok.String()))
		}
		return &Node{Pos: pos, Kind: kind, scalar: value}, nil
	case string:
		if len(tok) > j.limits.Text {
			return nil, j.tooLong(pos, tok)
		}
		return &Node{Pos: pos, Kind: String, scalar: tok}, nil
	case bool:
		return &Node{Pos: pos, Kind: Bool, scalar: tok}, nil
	default:
		return &Node{Pos: pos, Kind: Null}, nil
	}
}

func (j *jsonReading) object(pos Pos, depth int) (*Node, *Error) {
	var m mapping
	for j.dec.More() {
		at := j.at(j.next(), pos.Path)
		tok, err := j.dec.Token()
		if err != nil {
			return nil, j.syntaxFault(err, at)
		}
		key := tok.(string) // the decoder accepts only strings as keys
		if len(key) > j.limits.Text {
			return nil, j.tooLong(at, key)
		}
		if len(m.entries) == j.limits.Keys {
			return nil, j.tooManyKeys(at)
		}
		at.Path = joinKey(pos.Path, key)
		value, fault := j.value(at.Path, depth)
		if fault != nil {
			return nil, fault
		}
		j.addEntry(&m, Entry{Key: key, Pos: at, Value: value})
	}
	return &Node{Pos: pos, Kind: Mapping, entries: m.entries}, j.end(pos)
}

func (j *jsonReading) array(pos Pos, depth int) (*Node, *Error) {
	node := &Node{Pos: pos, Kind: Sequence}
	for j.dec.More() {
		item, fault := j.value(pos.Index(len(node.items)).Path, depth)
		if fault != nil {
			return nil, fault
		}
		node.items = append(node.items, item)
	}
	return node, j.end(pos)
}

// end reads the closing bracket of the collection at pos.
func (j *jsonReading) end(pos Pos) *Error {
	at := j.next()
	if _, err := j.dec.Token(); err != nil {
		return j.syntaxFault(err, j.at(at, pos.Path))
	}
	return nil
}

// syntaxFault returns the decoder's error, at the token that it was about to read.
func (j *jsonReading) syntaxFault(err error, pos Pos) *Error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Pos: j.at(len(j.data), pos.Path), Msg: "document ends too early"}
	}
	return &Error{Pos: pos, Msg: err.Error()}
}
