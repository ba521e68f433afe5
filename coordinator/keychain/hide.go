package keychain

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/template/value"
)

// hider puts marks in the place of secrets.
type hider struct {
	texts   *strings.Replacer
	numbers map[string]string // marks of secrets that read like numbers, by how value.Text writes them
}

// hider gives what hides all secrets that the ring knows, those that were replaced too; nil when it knows none.
func (r *Ring) hider() *hider {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hides != nil || len(r.values) == 0 {
		return r.hides
	}
	list := slices.Clone(r.former)
	for mark, secret := range r.values {
		list = append(list, pair{mark, secret})
	}
	h := &hider{numbers: map[string]string{}}
	var forms []pair
	for _, p := range list {
		h.numbers[p.secret] = p.mark
		for _, form := range formsOf(p.secret) {
			forms = append(forms, pair{p.mark, form})
		}
	}
	// Of two that begin at one place the longer goes first: a secret may begin like another.
	slices.SortFunc(forms, func(a, b pair) int {
		return cmp.Or(cmp.Compare(len(b.secret), len(a.secret)), cmp.Compare(a.secret, b.secret), cmp.Compare(a.mark, b.mark))
	})
	var pairs []string
	for _, f := range forms {
		pairs = append(pairs, f.secret, f.mark)
	}
	h.texts = strings.NewReplacer(pairs...)
	r.hides = h
	return h
}

// formsOf gives a secret as it may stand in a text.
func formsOf(secret string) []string {
	forms := []string{
		secret, inQuotes(json.Marshal(secret)), inQuotes(value.JSON(secret)), url.QueryEscape(secret), url.PathEscape(secret),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawStdEncoding.EncodeToString([]byte(secret)),
		base64.URLEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
	}
	slices.Sort(forms)
	return slices.DeleteFunc(slices.Compact(forms), func(form string) bool { return len(form) < MinLength })
}

// inQuotes is what JSON has between the quotes of a text; "" when it has none.
func inQuotes(text []byte, err error) string {
	if err != nil {
		return ""
	}
	return string(text[1 : len(text)-1])
}

// Redact gives a value with marks in the place of secrets. What is no value of the model is given back as it is.
func (r *Ring) Redact(v any) any {
	h := r.hider()
	if h == nil {
		return v
	}
	plain, err := value.Of(v)
	if err != nil {
		return v
	}
	return replaced(plain, h.texts.Replace, h.numbers)
}

// RedactError gives an error that says the same to the journal, with marks in the place of secrets; nil for nil.
func (r *Ring) RedactError(err error) error {
	h := r.hider()
	if h == nil || err == nil {
		return err
	}
	f, retryAt := operation.FailureOf(err)
	e := &operation.Error{
		Code: h.texts.Replace(f.Code), Message: h.texts.Replace(f.Message), Details: r.Redact(f.Details), Permanent: !f.Retryable,
		Err: hidden{err},
	}
	if retryAt > 0 {
		e.RetryAt = time.Unix(0, retryAt)
	}
	return e
}

// hidden is an error whose text nobody reads: it only says which one it was.
type hidden struct{ error }

func (hidden) Error() string          { return "an error that may hold secrets" }
func (h hidden) Is(target error) bool { return errors.Is(h.error, target) }

// replaced gives a value with its texts changed, keys too, and numbers that stand in the list.
func replaced(v value.Value, text func(string) string, numbers map[string]string) value.Value {
	switch v := v.(type) {
	case string:
		return text(v)
	case int64, float64:
		if mark, ok := numbers[value.Text(v)]; ok {
			return mark
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = replaced(v[i], text, numbers)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[text(k)] = replaced(x, text, numbers)
		}
		return out
	}
	return v
}
