package archive

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// formatVersion is the version of the format.
const formatVersion = 1

// LineMax bounds one line, in bytes: the largest value that a journal takes, as base64, with the names around it.
const LineMax = 88 << 20

// ErrRefused is wrapped by the errors about a file that does not contain runs as they were exported.
var ErrRefused = errors.New("archive: the file is refused")

// Error is the error of a refused file, with the place. It wraps ErrRefused.
type Error struct {
	Line  int   // from 1
	Cause error // without the place
}

// causeMax bounds the returned text of a cause, in bytes: it may quote a line.
const causeMax = 400

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text()) }

// Text returns the error without its place.
func (e *Error) Text() string {
	text := e.Cause.Error()
	if len(text) > causeMax {
		text = strings.ToValidUTF8(text[:causeMax], "") + "…"
	}
	return text
}

// Unwrap returns ErrRefused and the cause.
func (e *Error) Unwrap() []error { return []error{ErrRefused, e.Cause} }

// line is one line of a file.
type line struct {
	Sluice  string `json:"sluice,omitempty"`
	Version int    `json:"version,omitempty"`
	Runs    int    `json:"runs,omitempty"`

	Run        string     `json:"run,omitempty"`
	Definition string     `json:"definition,omitempty"`
	Document   any        `json:"document,omitempty"`
	Blob       string     `json:"blob,omitempty"`
	Content    string     `json:"content,omitempty"`
	Data       []byte     `json:"data,omitempty"`
	Event      *eventLine `json:"event,omitempty"`

	End    string `json:"end,omitempty"`
	Events uint64 `json:"events,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
}

// own returns a line within a run with only the fields of its kind.
func (l *line) own() *line {
	switch {
	case l.Event != nil:
		return &line{Event: l.Event}
	case l.Definition != "":
		return &line{Definition: l.Definition, Document: l.Document}
	case l.Blob != "":
		return &line{Blob: l.Blob, Data: l.Data}
	case l.Content != "":
		return &line{Content: l.Content, Data: l.Data}
	}
	return &line{End: l.End, Events: l.Events, SHA256: l.SHA256}
}

// eventLine is an event with its times and its type as text.
type eventLine struct {
	journal.Event
	At     stamp       `json:"at"`
	Type   string      `json:"type"`
	Detail *detailLine `json:"detail,omitempty"`
	Blob   string      `json:"blob,omitempty"` // hash of the value, in place of it
}

// detailLine is a detail with its times as text.
type detailLine struct {
	journal.Detail
	Received stamp `json:"received,omitzero"`
	Due      stamp `json:"due,omitzero"`
	RetryAt  stamp `json:"retry_at,omitzero"`
}

// stamp is an instant in Unix nanoseconds, as RFC 3339 text in UTC.
type stamp int64

func (s stamp) MarshalText() ([]byte, error) {
	return time.Unix(0, int64(s)).UTC().AppendFormat(nil, time.RFC3339Nano), nil
}

func (s *stamp) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return err
	}
	if *s = stamp(t.UnixNano()); !time.Unix(0, int64(*s)).Equal(t) {
		return fmt.Errorf("%s is not an instant that a journal holds", text)
	}
	return nil
}

// lineOf returns the line of an event. If blob is not "", it replaces the value.
func lineOf(e *journal.Event, blob string) (*eventLine, error) {
	l := &eventLine{Event: *e, At: stamp(e.At), Type: e.Type.String(), Blob: blob}
	if blob != "" {
		l.Value = nil
	}
	if d := e.Detail; d != nil {
		l.Detail = &detailLine{Detail: *d, Received: stamp(d.Received), Due: stamp(d.Due), RetryAt: stamp(d.RetryAt)}
	}
	return l, l.each(normalized)
}

// event returns the event of a line.
func (l *eventLine) event() (e journal.Event, err error) {
	if err = l.each(normalized); err != nil {
		return e, err
	}
	e = l.Event
	e.At = int64(l.At)
	if d := l.Detail; d != nil {
		e.Detail = &d.Detail
		e.Detail.Received, e.Detail.Due, e.Detail.RetryAt = int64(d.Received), int64(d.Due), int64(d.RetryAt)
	}
	e.Type, err = journal.ParseType(l.Type)
	return e, err
}

// each replaces each value in a line by the result of change. It does not change shared data.
func (l *eventLine) each(change func(any) (any, error)) (err error) {
	set := func(v *any) {
		if err == nil && *v != nil {
			*v, err = change(*v)
		}
	}
	set(&l.Value)
	if l.Detail == nil {
		return err
	}
	detail := *l.Detail
	set(&detail.About)
	if f := detail.Failure; f != nil {
		own := *f
		set(&own.Details)
		detail.Failure = &own
	}
	if s := detail.Start; s != nil && s.Identity != nil {
		start, identity := *s, *s.Identity
		set(&identity.Resources)
		start.Identity, detail.Start = &identity, &start
	}
	l.Detail = &detail
	return err
}

// normalized returns a value of package value.
func normalized(v any) (any, error) { return value.Of(v) }

// exactly returns the text of a value. Package json would write a float of 20 digits like an integer, which the Reader refuses.
func exactly(v any) (any, error) {
	text, err := value.JSON(v)
	return json.RawMessage(text), err
}

// parseHash reads a hash in hexadecimal digits.
func parseHash(text string) (hash journal.Hash, err error) {
	data, err := hex.DecodeString(text)
	if err != nil || copy(hash[:], data) != len(hash) || len(data) != len(hash) {
		return hash, fmt.Errorf("%q is no SHA-256 in hexadecimal digits", text)
	}
	return hash, nil
}

// encode returns a line with its line feed.
func encode(l *line) (_ []byte, err error) {
	own := *l
	if l.Event != nil {
		event := *l.Event
		if err = event.each(exactly); err != nil {
			return nil, err
		}
		own.Event = &event
	}
	if l.Document != nil {
		if own.Document, err = exactly(l.Document); err != nil {
			return nil, err
		}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err = e.Encode(&own)
	return text.Bytes(), err
}
