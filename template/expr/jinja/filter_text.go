package jinja

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"

	"github.com/sluiceflow/sluice/template/value"
)

// titled is the filter title, which looks at where words begin, and so is not the method: it's makes It's.
func titled(r *run, v any, _ args) (any, error) {
	s, err := r.text(v)
	if err != nil {
		return nil, err
	}
	begins := true
	return strings.Map(func(c rune) rune {
		defer func() { begins = unicode.IsSpace(c) || strings.ContainsRune("-({[<", c) }()
		if begins {
			return unicode.ToUpper(c)
		}
		return unicode.ToLower(c)
	}, s), r.grow(len(s))
}

func toText(r *run, v any, _ args) (any, error) { return r.text(v) }

func toJSON(r *run, v any, _ args) (any, error) {
	v, w, err := r.finished(settled(v))
	if err == nil {
		err = r.grow(w.size)
	}
	if err != nil {
		return nil, err
	}
	text, err := value.JSON(v)
	return string(text), err
}

func fromJSON(r *run, v any, _ args) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("it needs a string, not %s", describe(v))
	}
	if err := r.grow(8 * len(s)); err != nil {
		return nil, err
	}
	return value.ParseJSON([]byte(s))
}

func encode64(r *run, v any, _ args) (any, error) {
	text, err := r.text(v)
	if err != nil {
		return nil, err
	}
	s := base64.StdEncoding.EncodeToString([]byte(text))
	return s, r.grow(len(s))
}

func decode64(r *run, v any, _ args) (any, error) {
	text, err := r.text(v)
	if err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), r.grow(len(data))
}
