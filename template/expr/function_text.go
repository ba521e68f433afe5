package expr

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/template/value"
)

var textFunctions = map[string]function{
	"upper":       {1, 1, func(a *arguments) (value.Value, error) { return a.mapText(strings.ToUpper) }},
	"lower":       {1, 1, func(a *arguments) (value.Value, error) { return a.mapText(strings.ToLower) }},
	"trim":        {1, 2, func(a *arguments) (value.Value, error) { return a.trimmed(strings.Trim) }},
	"trimPrefix":  {1, 2, func(a *arguments) (value.Value, error) { return a.trimmed(strings.TrimPrefix) }},
	"trimSuffix":  {1, 2, func(a *arguments) (value.Value, error) { return a.trimmed(strings.TrimSuffix) }},
	"split":       {2, 3, func(a *arguments) (value.Value, error) { return a.split(strings.SplitN) }},
	"splitAfter":  {2, 3, func(a *arguments) (value.Value, error) { return a.split(strings.SplitAfterN) }},
	"replace":     {3, 4, replace},
	"repeat":      {2, 2, repeat},
	"join":        {1, 2, joinTexts},
	"indexOf":     {2, 2, func(a *arguments) (value.Value, error) { return a.indexOf(strings.Index) }},
	"lastIndexOf": {2, 2, func(a *arguments) (value.Value, error) { return a.indexOf(strings.LastIndex) }},
	"hasPrefix":   {2, 2, func(a *arguments) (value.Value, error) { return a.has(strings.HasPrefix) }},
	"hasSuffix":   {2, 2, func(a *arguments) (value.Value, error) { return a.has(strings.HasSuffix) }},
	"string":      {1, 1, toString},
	"toJSON":      {1, 1, toJSON},
	"toQuery":     {1, 1, toQuery},
	"fromJSON":    {1, 1, fromJSON},
	"toBase64":    {1, 1, toBase64},
	"fromBase64":  {1, 1, fromBase64},
}

// mapText changes the case, which may make a text up to three times as long.
func (a *arguments) mapText(how func(string) string) (value.Value, error) {
	s, err := a.text(0)
	if err == nil {
		err = a.grow(3 * len(s))
	}
	if err != nil {
		return nil, err
	}
	return how(s), nil
}

// trimmed cuts the second argument, or else white space or one blank, off the first.
func (a *arguments) trimmed(how func(s, cut string) string) (value.Value, error) {
	s, err := a.text(0)
	if err != nil {
		return nil, err
	}
	if len(a.values) == 1 {
		if a.name == "trim" {
			return strings.TrimSpace(s), nil
		}
		return how(s, " "), nil
	}
	cut, err := a.text(1)
	if err != nil {
		return nil, err
	}
	if err := a.spend(len(cut) * (1 + len(s)/64)); err != nil { // a set of characters is searched for each one
		return nil, err
	}
	return how(s, cut), nil
}

// split cuts into at most n pieces, all if n is omitted or negative.
func (a *arguments) split(how func(s, sep string, n int) []string) (value.Value, error) {
	t, err := a.texts(2)
	if err != nil {
		return nil, err
	}
	n := int64(-1)
	if len(a.values) == 3 {
		if n, err = a.integer(2); err != nil {
			return nil, err
		}
	}
	size := strings.Count(t[0], t[1]) + 1
	if n >= 0 {
		size = int(min(int64(size), n))
	}
	if err := a.spend(size); err != nil {
		return nil, err
	}
	list, err := a.newList(size)
	if err != nil {
		return nil, err
	}
	for _, part := range how(t[0], t[1], int(max(-1, min(n, int64(len(t[0])+1))))) {
		list = append(list, part)
	}
	return list, nil
}

// replace replaces the first n occurrences, all if n is omitted or negative.
func replace(a *arguments) (value.Value, error) {
	t, err := a.texts(3)
	if err != nil {
		return nil, err
	}
	n := int64(strings.Count(t[0], t[1]))
	if len(a.values) == 4 {
		limit, err := a.integer(3)
		if err != nil {
			return nil, err
		}
		if limit >= 0 {
			n = min(n, limit)
		}
	}
	if err := a.growTimes(n, len(t[2])); err != nil {
		return nil, err
	}
	if err := a.grow(len(t[0])); err != nil {
		return nil, err
	}
	return strings.Replace(t[0], t[1], t[2], int(n)), nil
}

// repeat can turn a short text into a large value; growTimes refuses that before anything is allocated.
func repeat(a *arguments) (value.Value, error) {
	s, err := a.text(0)
	if err != nil {
		return nil, err
	}
	n, err := a.count(1)
	if err != nil {
		return nil, err
	}
	if s == "" {
		return s, nil
	}
	if err := a.growTimes(n, len(s)); err != nil {
		return nil, err
	}
	return strings.Repeat(s, int(n)), nil
}

// growTimes is grow(n × size) for any n that is not negative.
func (a *arguments) growTimes(n int64, size int) error {
	if size > 0 && n > int64(MaxBytes/size) {
		return a.grow(MaxBytes + 1)
	}
	return a.grow(int(n) * size)
}

// joinTexts accepts only strings: the author chooses the text of a number or a null, with map and string.
func joinTexts(a *arguments) (value.Value, error) {
	list, err := a.list(0)
	if err != nil {
		return nil, err
	}
	separator := ""
	if len(a.values) == 2 {
		if separator, err = a.text(1); err != nil {
			return nil, err
		}
	}
	parts := make([]string, len(list))
	for i, item := range list {
		s, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("join needs a list of strings, but element %d is %s", i, show(item))
		}
		if err := a.grow(len(s) + len(separator)); err != nil {
			return nil, err
		}
		parts[i] = s
	}
	return strings.Join(parts, separator), nil
}

// indexOf counts in code points, like len and [ ]; -1 if there is none.
func (a *arguments) indexOf(find func(s, sub string) int) (value.Value, error) {
	t, err := a.texts(2)
	if err != nil {
		return nil, err
	}
	at := find(t[0], t[1])
	if at < 0 {
		return int64(-1), nil
	}
	return int64(utf8.RuneCountInString(t[0][:at])), nil
}

// has implements hasPrefix and hasSuffix.
func (a *arguments) has(what func(s, sub string) bool) (value.Value, error) {
	t, err := a.texts(2)
	if err != nil {
		return nil, err
	}
	return what(t[0], t[1]), nil
}

// toString returns a value as part of a text.
func toString(a *arguments) (value.Value, error) {
	return a.run.text(a.values[0])
}

// toJSON is compact, with sorted keys.
func toJSON(a *arguments) (value.Value, error) {
	size, err := a.weigh(a.values[0])
	if err == nil {
		err = a.grow(size)
	}
	if err != nil {
		return nil, err
	}
	text, err := value.JSON(a.values[0])
	return string(text), err
}

// fromJSON reads a JSON text by the rules of value.ParseJSON: integers stay exact, or are refused.
func fromJSON(a *arguments) (value.Value, error) {
	s, err := a.text(0)
	if err != nil {
		return nil, err
	}
	// In the worst case, [0,0,…], two bytes become an element of a list.
	if err := a.grow(len(s) / 2 * slotBytes); err != nil {
		return nil, err
	}
	if err := a.spend(2 * len(s)); err != nil {
		return nil, err
	}
	return value.ParseJSON([]byte(s))
}

// toQuery returns an object as the query of a URL: keys sorted, both sides escaped, a member that is a list once for each of
// its elements. Null members are omitted; nested lists and objects are JSON.
func toQuery(a *arguments) (value.Value, error) {
	object, keys, err := a.object(0)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	add := func(key string, v value.Value) error {
		text, err := a.run.text(v)
		if err == nil {
			err = a.grow(3 * (len(key) + len(text)))
		}
		if err != nil {
			return err
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(key) + "=" + url.QueryEscape(text))
		return nil
	}
	for _, key := range keys {
		list, isList := object[key].([]any)
		if !isList && object[key] != nil {
			list = []any{object[key]}
		}
		for _, v := range list {
			if err := add(key, v); err != nil {
				return nil, err
			}
		}
	}
	return b.String(), nil
}

// toBase64 encodes the UTF-8 of a text, with padding.
func toBase64(a *arguments) (value.Value, error) {
	s, err := a.text(0)
	if err == nil {
		err = a.grow(2 * len(s))
	}
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString([]byte(s)), nil
}

// fromBase64 returns only texts. Other bytes have no place in the model, and replacing them would damage them silently.
func fromBase64(a *arguments) (value.Value, error) {
	s, err := a.text(0)
	if err == nil {
		err = a.grow(len(s))
	}
	if err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("fromBase64: %w", err)
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("fromBase64: the bytes are not a text in UTF-8")
	}
	return string(data), nil
}
