package keychain

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// redactor replaces secrets by marks.
type redactor struct {
	texts   *seeker
	numbers map[decimal]string // marks of secrets that read like numbers
}

// redactor returns the redactor of all secrets on the ring and on those above, including replaced ones; nil if there are none.
func (r *Ring) redactor() *redactor {
	if r == nil {
		return nil
	}
	from := r.above.redactor()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.values) == 0 {
		return from
	}
	if r.redacts != nil && r.from == from {
		return r.redacts
	}
	list := slices.Clone(r.former)
	for mark, secret := range r.values {
		list = append(list, pair{mark, secret})
	}
	if from != nil {
		list = append(list, from.texts.secrets...)
	}
	h := &redactor{texts: newSeeker(list), numbers: map[decimal]string{}}
	for _, p := range list {
		for _, piece := range pieces(p.secret) {
			for _, n := range decimalsOf(piece) {
				h.numbers[n] = p.mark
			}
		}
	}
	r.redacts, r.from = h, from
	return h
}

// Redact returns a value with marks in place of secrets. It returns anything but a value of the model unchanged.
func (r *Ring) Redact(v any) any {
	h := r.redactor()
	if h == nil {
		return v
	}
	plain, err := value.Of(v)
	if err != nil {
		return v
	}
	return replaced(plain, h.texts.redact, h.numbers)
}

// RedactText returns a text with marks in place of secrets.
func (r *Ring) RedactText(text string) string {
	if h := r.redactor(); h != nil {
		return h.texts.redact(text)
	}
	return text
}

// RedactMessage returns the text of an error with marks in place of secrets and of their parts.
func (r *Ring) RedactMessage(text string) string {
	if h := r.redactor(); h != nil {
		return h.texts.redactParts(text)
	}
	return text
}

// RedactStream returns a writer that passes its input on to another, with marks in place of the secrets that the ring has now.
// Close writes the text held back, and does not close the other.
func (r *Ring) RedactStream(to io.Writer) io.WriteCloser {
	if h := r.redactor(); h != nil {
		return &stream{seeker: h.texts, to: to}
	}
	return nopCloser{to}
}

// nopCloser is a writer whose Close does nothing.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// RedactError returns an error that is journaled like err, with marks in place of secrets; nil for nil.
func (r *Ring) RedactError(err error) error {
	h := r.redactor()
	if h == nil || err == nil {
		return err
	}
	f, retryAt := operation.RedactedFailureOf(err, h.texts.redact)
	e := &operation.Error{
		Code: h.texts.redactParts(f.Code), Message: h.texts.redactParts(f.Message), Details: r.Redact(f.Details), Permanent: !f.Retryable, Err: opaque{err},
	}
	if retryAt > 0 {
		e.RetryAt = time.Unix(0, retryAt)
	}
	return e
}

// RedactResult returns the result of a call with marks in place of secrets.
func (r *Ring) RedactResult(result call.Result) call.Result {
	result.Output = r.Redact(result.Output)
	if result.About != nil {
		result.About, _ = r.Redact(result.About).(map[string]any)
	}
	if f := result.Failure; f != nil {
		result.Failure = &journal.Failure{
			Code: r.RedactMessage(f.Code), Message: r.RedactMessage(f.Message), Details: r.Redact(f.Details), Retryable: f.Retryable,
		}
	}
	return result
}

// opaque is an error whose text is never shown: errors.Is finds the original.
type opaque struct{ error }

func (opaque) Error() string          { return "an error that may hold secrets" }
func (o opaque) Is(target error) bool { return errors.Is(o.error, target) }

// replaced returns a value with its texts, including keys, and the listed numbers of both signs replaced.
func replaced(v value.Value, text func(string) string, numbers map[decimal]string) value.Value {
	switch v := v.(type) {
	case string:
		return text(v)
	case int64, float64:
		written := value.Text(v)
		if n, ok := decimalOf(written); ok && len(written) >= MinLength && numbers[n] != "" {
			return numbers[n]
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
