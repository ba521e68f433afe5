// Package query reads the text by which people select runs, both for lists and for acts on many runs.
//
//	status:failed,aborted workflow:order label.team:payments waits:person -held:import started>2026-11-01 age>1h code:timeout parent:none 01a2
//
// Terms are joined by AND, a comma within a term is OR, and a minus before it is NOT. A word without a key is the beginning of an id,
// or a part of a workflow's name; run:01a2,01a3 are whole ids. A text with a space, a comma or a quote in it stands in double quotes, in which a backslash
// escapes a quote and a backslash.
//
// Parse reads the text; its errors have the place, the offending text and a suggestion. A Query is a plain filter of heads (Matches)
// and a plan: an index of the store that has all selected runs and few others, and the terms that are checked afterwards (Explain). Each
// reads the lists of a store accordingly, newest first.
package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/document"
)

// Bounds of a query.
const (
	TextMax   = 4096 // bytes
	TermsMax  = 64
	ValuesMax = 64 // of one term
)

// Query selects runs.
type Query struct {
	terms []term
	held  func(run string) bool // nil: no run is held
}

// term is one condition.
type term struct {
	text   string // as written
	not    bool
	key    string   // "": a bare word
	label  string   // of the key label.NAME
	sign   string   // : < <= > >=
	values []string // of :
	at     int64    // of the other signs: an instant
}

// Error is a query that cannot be read.
type Error struct {
	Column     int    // of the offending text, from 1, in characters
	Text       string // that offends, shortened
	Message    string // the fault
	Suggestion string // the text probably meant; "": unknown
}

func (e *Error) Error() string {
	text := fmt.Sprintf("column %d: %q: %s", e.Column, e.Text, e.Message)
	if e.Suggestion != "" {
		text += fmt.Sprintf(" (did you mean %q?)", e.Suggestion)
	}
	return text
}

// WithLabel adds the condition that a run has a label of a text. It refuses a name that no label has.
func (q *Query) WithLabel(name, text string) error {
	if err := document.Visible(name); err != nil {
		return fmt.Errorf("label %w", err)
	}
	q.terms = append(q.terms, term{text: label + quotedName(name) + ":" + quoted(text), key: "label", label: name, sign: ":", values: []string{text}})
	return nil
}

// quotedName returns the name of a label as it is written in a query.
func quotedName(name string) string {
	if text := quoted(name); text != name || !strings.ContainsAny(name, ":<>=") {
		return text
	}
	return `"` + name + `"`
}

// quoted returns a text as it is written in a query.
func quoted(text string) string {
	if text != "" && !strings.ContainsAny(text, " \t\n\",\\") {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// String returns the query as it is written, with one space between terms.
func (q *Query) String() string {
	texts := make([]string, len(q.terms))
	for i := range q.terms {
		texts[i] = q.terms[i].text
	}
	return strings.Join(texts, " ")
}

// Matches reports whether a head is selected. No head records that a run is held: in Each, the store reports it; elsewhere, no run counts
// as held.
func (q *Query) Matches(h *journal.Head) bool {
	for i := range q.terms {
		if !q.matches(&q.terms[i], h) {
			return false
		}
	}
	return true
}

func (q *Query) matches(t *term, h *journal.Head) bool {
	if t.key == "held" { // it is in no head: the mark is beside the journal
		return (h.Open && q.held != nil && q.held(h.Run)) != t.not
	}
	return t.holds(h) != t.not
}

func (t *term) holds(h *journal.Head) bool {
	switch t.key {
	case "started", "age":
		return t.compares(h.Started)
	case "updated":
		return t.compares(h.Updated)
	case "ended":
		return h.Ended != 0 && t.compares(h.Ended)
	case "due":
		return h.Open && h.Due != 0 && t.compares(h.Due)
	}
	return slices.ContainsFunc(t.values, func(v string) bool { return t.is(h, v) })
}

func (t *term) compares(at int64) bool {
	switch t.sign {
	case "<":
		return at < t.at
	case "<=":
		return at <= t.at
	case ">":
		return at > t.at
	}
	return at >= t.at
}

// is reports whether a head has a value of the term.
func (t *term) is(h *journal.Head, value string) bool {
	switch t.key {
	case "status":
		return h.Status == value
	case "workflow":
		return h.Name == value
	case "kind":
		return strings.EqualFold(h.Kind, value)
	case "hash":
		return strings.HasPrefix(h.Workflow, value)
	case "run":
		return h.Run == value
	case "label":
		text, has := h.Labels[t.label]
		return has && text == value
	case "waits":
		return h.Open && slices.ContainsFunc(h.Waits, func(w journal.Wait) bool { return w.Kind == value })
	case "code":
		return h.Code == value
	case "parent":
		if value == "none" {
			value = ""
		}
		return journal.ParentRun(h.Run) == value
	}
	return strings.HasPrefix(h.Run, value) || strings.Contains(h.Name, value)
}

// instantOf reads an instant, or a date, which means its beginning in UTC.
func instantOf(text string) (int64, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() > 1700 && at.Year() < 2260 {
			return at.UnixNano(), true
		}
	}
	return 0, false
}
