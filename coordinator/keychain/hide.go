package keychain

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/template/value"
)

// hider replaces secrets by marks.
type hider struct {
	texts   *seeker
	numbers map[string]string // marks of secrets that read like numbers, by how value.Text writes them
}

// hider returns the hider of all secrets on the ring, including replaced ones; nil if there are none.
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
	h := &hider{texts: newSeeker(list), numbers: map[string]string{}}
	for _, p := range list {
		for _, piece := range pieces(p.secret) {
			h.numbers[piece] = p.mark
		}
	}
	r.hides = h
	return h
}

// Redact returns a value with marks in place of secrets. It returns anything but a value of the model unchanged.
func (r *Ring) Redact(v any) any {
	h := r.hider()
	if h == nil {
		return v
	}
	plain, err := value.Of(v)
	if err != nil {
		return v
	}
	return replaced(plain, h.texts.hide, h.numbers)
}

// RedactText returns a text with marks in place of secrets.
func (r *Ring) RedactText(text string) string {
	if h := r.hider(); h != nil {
		return h.texts.hide(text)
	}
	return text
}

// RedactMessage returns the text of an error with marks in place of secrets and of their parts.
func (r *Ring) RedactMessage(text string) string {
	if h := r.hider(); h != nil {
		return h.texts.hideParts(text)
	}
	return text
}

// RedactStream returns a writer that passes its input on to another, with marks in place of the secrets that the ring has now.
// Close writes what is held back, and does not close the other.
func (r *Ring) RedactStream(to io.Writer) io.WriteCloser {
	if h := r.hider(); h != nil {
		return &stream{seeker: h.texts, to: to}
	}
	return open{to}
}

// open is a writer whose Close does nothing.
type open struct{ io.Writer }

func (open) Close() error { return nil }

// RedactError returns an error that means the same to the journal, with marks in place of secrets; nil for nil.
func (r *Ring) RedactError(err error) error {
	h := r.hider()
	if h == nil || err == nil {
		return err
	}
	f, retryAt := operation.RedactedFailureOf(err, h.texts.hide)
	e := &operation.Error{
		Code: h.texts.hideParts(f.Code), Message: h.texts.hideParts(f.Message), Details: r.Redact(f.Details), Permanent: !f.Retryable, Err: hidden{err},
	}
	if retryAt > 0 {
		e.RetryAt = time.Unix(0, retryAt)
	}
	return e
}

// hidden is an error whose text is never shown: it only identifies the error.
type hidden struct{ error }

func (hidden) Error() string          { return "an error that may hold secrets" }
func (h hidden) Is(target error) bool { return errors.Is(h.error, target) }

// replaced returns a value with its texts, including keys, and the listed numbers replaced.
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
