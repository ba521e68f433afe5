package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
)

// keys are the keys of terms, each with the signs that it takes and, if there are not too many, the values.
var keys = map[string]struct {
	signs  []string
	values []string
}{
	"status": {equal, []string{"running", "waiting", "paused", "completed", "failed", "partial", "aborted", "deadline_exceeded",
		"step_timeout", "damaged"}},
	"workflow": {equal, nil},
	"kind":     {equal, []string{"workflow", "playbook", "world"}},
	"hash":     {equal, nil},
	"run":      {equal, nil},
	"label":    {equal, nil},
	"waits":    {equal, []string{"message", "person", "timer", "gate", "paused", "worker"}},
	"held":     {equal, []string{"import"}},
	"code":     {equal, nil},
	"parent":   {equal, nil},
	"started":  {compare, nil},
	"updated":  {compare, nil},
	"ended":    {compare, nil},
	"due":      {compare, nil},
	"age":      {compare, nil},
}

var (
	equal   = []string{":"}
	compare = []string{"<", "<=", ">", ">="}
)

// known are the written forms of the keys, for suggestions.
var known = []string{"status", "workflow", "kind", "hash", "run", "label.NAME", "waits", "held", "code", "parent", "started", "updated", "ended", "due", "age"}

// Parse reads a query; the empty one selects all runs. Ages count back from now. Its errors are *Error.
func Parse(text string, now time.Time) (*Query, error) {
	if len(text) > TextMax {
		return nil, &Error{1, short(text), fmt.Sprintf("the query has %d bytes, and %d are the most", len(text), TextMax), ""}
	}
	p := &parser{text: text, now: now}
	if !utf8.ValidString(text) {
		return nil, p.fault(0, strings.ToValidUTF8(text, "\ufffd"), "the query is not UTF-8")
	}
	q := &Query{}
	for {
		p.skip()
		if p.at == len(p.text) {
			return q, nil
		}
		if len(q.terms) == TermsMax {
			return nil, p.fault(p.at, p.text[p.at:], fmt.Sprintf("the query has more than %d terms", TermsMax))
		}
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		q.terms = append(q.terms, t)
	}
}

type parser struct {
	text string
	at   int // bytes read
	now  time.Time
}

// short returns the beginning of a text.
func short(text string) string {
	const most = 40
	if n := 0; len(text) > most {
		for i := range text {
			if n++; n > most {
				return text[:i] + "…"
			}
		}
	}
	return text
}

func (p *parser) fault(at int, text, message string) *Error {
	return &Error{Column: utf8.RuneCountInString(p.text[:at]) + 1, Text: short(text), Message: message}
}

func (p *parser) skip() {
	for p.at < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.at:])
		if !unicode.IsSpace(r) {
			return
		}
		p.at += n
	}
}

// term reads a term, which ends at a space.
func (p *parser) term() (t term, err error) {
	begin := p.at
	if p.text[p.at] == '-' {
		t.not = true
		p.at++
	}
	from := p.at
	if strings.HasPrefix(p.text[from:], label+`"`) {
		return p.labelled(t, begin)
	}
	if p.at < len(p.text) && p.text[p.at] != '"' {
		for p.at < len(p.text) && !strings.ContainsRune(":<>\", \t\r\n", rune(p.text[p.at])) {
			p.at++
		}
	}
	name := p.text[from:p.at]
	switch fault := p.equals(from, name); {
	case fault != nil:
		return t, fault
	case p.at < len(p.text) && strings.IndexByte(":<>", p.text[p.at]) >= 0:
		err = p.keyed(&t, from, name)
	default:
		p.at = from
		t.sign = ":"
		t.values, err = p.list()
	}
	t.text = p.text[begin:p.at]
	return t, err
}

// label begins the key of a label.
const label = "label."

// labelled reads the rest of a term about a label whose name is in quotes.
func (p *parser) labelled(t term, begin int) (term, error) {
	from := p.at
	p.at += len(label)
	name, err := p.quoted()
	switch {
	case err != nil:
		return t, err
	case p.at == len(p.text) || strings.IndexByte(":<>", p.text[p.at]) < 0:
		e := p.fault(p.at, p.text[p.at:], "a colon and the text of the label belong behind its name")
		e.Suggestion = p.text[from:p.at] + ":TEXT"
		return t, e
	}
	err = p.keyed(&t, from, label+name)
	t.text = p.text[begin:p.at]
	return t, err
}

// equals refuses a key with an equals sign behind it, as in other query languages: it would count as the beginning of an id.
func (p *parser) equals(from int, name string) error {
	key, _, found := strings.Cut(name, "=")
	key, not := strings.CutSuffix(key, "!")
	base, label, isLabel := strings.Cut(key, ".")
	k, ok := keys[base]
	if !found || !ok || isLabel != (base == "label") || isLabel && label == "" {
		return nil
	}
	sign := "="
	if not {
		sign = "!="
	}
	e := p.fault(from+len(key), sign, fmt.Sprintf("%s takes %s", key, strings.Join(k.signs, " ")))
	if e.Suggestion = key + k.signs[len(k.signs)-min(2, len(k.signs))]; not {
		e.Suggestion = "-" + e.Suggestion
	}
	return e
}

// keyed reads the rest of a term behind its key.
func (p *parser) keyed(t *term, from int, name string) error {
	t.key = name
	if of, ok := strings.CutPrefix(name, label); ok && of != "" {
		t.key, t.label = "label", of
	}
	k, ok := keys[t.key]
	if !ok || t.key == "label" && t.label == "" {
		e := p.fault(from, name, "there is no such key: the keys are "+strings.Join(known, " "))
		if e.Suggestion = near(name, known); strings.HasPrefix(name, "label") {
			e.Suggestion = "label.NAME"
		}
		return e
	}
	if err := document.Visible(t.label); err != nil {
		return p.fault(from+len(label), t.label, fmt.Sprintf("label %v", err))
	}
	sign := p.at
	for p.at < len(p.text) && p.at < sign+2 && strings.IndexByte(":<>=", p.text[p.at]) >= 0 {
		p.at++
	}
	if t.sign = p.text[sign:p.at]; !slices.Contains(k.signs, t.sign) {
		e := p.fault(sign, t.sign, fmt.Sprintf("%s takes %s", name, strings.Join(k.signs, " ")))
		e.Suggestion = p.text[from:sign] + k.signs[len(k.signs)-min(2, len(k.signs))]
		return e
	}
	begin := p.at
	values, err := p.list()
	if err != nil {
		return err
	}
	if t.sign != ":" {
		return p.instant(t, begin, values)
	}
	t.values = values
	for _, v := range values {
		if k.values != nil && !slices.Contains(k.values, v) {
			e := p.fault(begin, v, fmt.Sprintf("%s is one of %s", name, strings.Join(k.values, " ")))
			e.Suggestion = near(v, k.values)
			return e
		}
	}
	return nil
}

func near(text string, names []string) string {
	if len(text) > 64 {
		return ""
	}
	suggestion, _ := expr.Nearest(text, names)
	return suggestion
}

// list reads values with commas between them.
func (p *parser) list() (list []string, err error) {
	for {
		begin := p.at
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		if list = append(list, v); len(list) > ValuesMax {
			return nil, p.fault(begin, v, fmt.Sprintf("a term has at most %d values", ValuesMax))
		}
		if p.at == len(p.text) || p.text[p.at] != ',' {
			return list, nil
		}
		p.at++
	}
}

// value reads a value, in quotes or not.
func (p *parser) value() (string, error) {
	begin := p.at
	if p.at < len(p.text) && p.text[p.at] == '"' {
		return p.quotedValue()
	}
	for p.at < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.at:])
		if unicode.IsSpace(r) || r == ',' {
			break
		}
		if r == '"' {
			return "", p.fault(p.at, p.text[p.at:], `a quote stands before the whole value, or as \" within quotes`)
		}
		p.at += n
	}
	if p.at == begin {
		rest, _, _ := strings.Cut(p.text[begin:], " ")
		return "", p.fault(begin, rest, `a value is missing; an empty one is ""`)
	}
	return p.text[begin:p.at], nil
}

// quotedValue reads a value in quotes, and checks the character behind it.
func (p *parser) quotedValue() (string, error) {
	text, err := p.quoted()
	if err == nil && p.at < len(p.text) && p.text[p.at] != ',' {
		if r, _ := utf8.DecodeRuneInString(p.text[p.at:]); !unicode.IsSpace(r) {
			return "", p.fault(p.at, p.text[p.at:], "a space or a comma belongs behind the quote")
		}
	}
	return text, err
}

// quoted reads a text in quotes.
func (p *parser) quoted() (string, error) {
	begin := p.at
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			return b.String(), nil
		case c == '\\' && p.at+1 < len(p.text) && strings.IndexByte(`"\`, p.text[p.at+1]) >= 0:
			p.at++
			c = p.text[p.at]
		case c == '\\':
			return "", p.fault(p.at, p.text[p.at:], `within quotes, a backslash stands before a quote or a backslash`)
		}
		b.WriteByte(c)
	}
	return "", p.fault(begin, p.text[begin:], "the quote is not closed")
}

// instant sets the instant that a term compares with.
func (p *parser) instant(t *term, begin int, values []string) error {
	v := values[0]
	if len(values) > 1 {
		return p.fault(begin, strings.Join(values, ","), t.key+" is compared with one value")
	}
	if t.key != "age" {
		at, ok := instantOf(v)
		if t.at = at; !ok {
			e := p.fault(begin, v, "this is no date and no instant")
			e.Suggestion = t.key + t.sign + "2026-11-01"
			return e
		}
		return nil
	}
	age, ok := ParseAge(v)
	if !ok {
		e := p.fault(begin, v, "this is no age: a number and s, m, h, d or w")
		e.Suggestion = "age" + t.sign + "1h"
		return e
	}
	t.at = p.now.Add(-age).UnixNano()
	t.sign = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}[t.sign] // an older run was started earlier
	return nil
}

// AgeLimit bounds ages: they are less, so that the sum of an instant and an age does not overflow.
const AgeLimit = 200 * 365 * 24 * time.Hour

// ParseAge reads an age such as 90m, 7d or 1.5h. It must be 0 or at least a nanosecond.
func ParseAge(text string) (time.Duration, bool) {
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if len(text) < 2 || strings.Trim(text[:len(text)-1], "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(text[:len(text)-1], 64)
	unit := units[text[len(text)-1]]
	if d := n * float64(unit); err == nil && unit > 0 && d < float64(AgeLimit) && (d >= 1 || n == 0) {
		return time.Duration(d), true
	}
	return 0, false
}

// FormatAge writes an age in a form that ParseAge reads.
func FormatAge(age time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if age != 0 && age%u.unit == 0 {
			return strconv.FormatInt(int64(age/u.unit), 10) + u.name
		}
	}
	return strconv.FormatFloat(age.Seconds(), 'f', -1, 64) + "s"
}
