// Package brief shortens large values in events, so that the size of a list depends only on its length.
package brief

import (
	"encoding/json"
	"net/url"
	"strconv"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/coordinator/api"
)

// Bounds in bytes: of JSON in an event, and of the beginning of longer JSON.
const (
	valueMax  = 1 << 10
	beginning = 256
)

// Event cuts the values of an event that have more than valueMax bytes: it records the kind, size and beginning of its value, and the
// path of the whole event.
func Event(run string, e *api.Event) {
	cut := e.Large != nil
	if len(e.Value) > valueMax {
		e.Large, e.Value, cut = &api.Large{Kind: kindOf(e.Value), Bytes: len(e.Value), Preview: begin(e.Value)}, nil, true
	}
	if len(e.About) > valueMax {
		e.About, cut = nil, true
	}
	if f := e.Failure; f != nil && len(f.Details) > valueMax {
		e.Failure, cut = without(f), true
	}
	if s := e.Start; s != nil && s.Identity != nil && len(s.Identity.Resources) > valueMax {
		start, identity := *s, *s.Identity
		identity.Resources, identity.ResourcesPreview = nil, begin(identity.Resources)
		start.Identity, e.Start, cut = &identity, &start, true
	}
	if cut {
		e.Whole = "/v1/runs/" + url.PathEscape(run) + "/events/" + strconv.FormatUint(e.Seq, 10)
	}
}

// Update cuts an event and its effects.
func Update(run string, u *api.Update) {
	Event(run, &u.Event)
	for i := range u.Changes {
		if f := u.Changes[i].Failure; f != nil && len(f.Details) > valueMax {
			u.Changes[i].Failure = without(f)
		}
	}
}

// without returns a failure without its details.
func without(f *api.Failure) *api.Failure {
	short := *f
	short.Details = nil
	return &short
}

// begin returns the beginning of a text, cut between characters.
func begin(text []byte) string {
	n := beginning
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return string(text[:n])
}

// kindOf returns the kind of a large value by its JSON: it is a text, a list, an object or a number of many digits.
func kindOf(text json.RawMessage) string {
	switch text[0] {
	case '"':
		return "string"
	case '[':
		return "list"
	case '{':
		return "object"
	}
	return "number"
}
