package keychain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/secret"
	"github.com/sluiceflow/sluice/template/value"
)

// MinLength is the minimum length of a secret in bytes.
const MinLength = 4

// ErrUnavailable means that a secret cannot be fetched now. A retry may succeed.
var ErrUnavailable = errors.New("keychain: the secret is unavailable")

// Ring holds the secrets of one run.
type Ring struct {
	above    *Ring // of the run whose call has started this one, or of one further above; nil: none has secrets
	entries  []*secret.Entry
	workload map[string]value.Value
	dir      string        // to which paths of files are relative; "": the folder of the process
	timeout  time.Duration // of a request for a secret
	turn     chan struct{} // a lock with one token: its holder fetches secrets

	mu      sync.Mutex
	fetched map[string]state // by name of the entry
	values  map[string]string
	former  []pair    // replaced by renewals, but calls may still return them
	redacts *redactor // used by Redact; nil: to be rebuilt
	from    *redactor // of the ring above when redacts was built
}

// state is the state of a tried entry of the keychain.
type state struct {
	got   bool
	until time.Time // when the values must be renewed; zero: never
}

// pair is a secret and its mark.
type pair struct{ mark, secret string }

// formerMax bounds the replaced secrets that a ring still redacts; the oldest are dropped first.
const formerMax = 256

// holder is a template.Routing whose documents have a keychain.
type holder interface {
	// Secrets returns the entries of the keychain, in the order written.
	Secrets() []*secret.Entry

	// WorkloadOf returns the workload of a run that is started with an input.
	WorkloadOf(input value.Value) map[string]value.Value
}

// secretTime is the default bound of the time of a request for a secret.
const secretTime = 30 * time.Second

// below returns the ring of a run below another, whose ring is above; nil if neither has secrets.
func below(above *Ring, w *template.Workflow, workload map[string]value.Value, dir string, timeout time.Duration) *Ring {
	h, ok := w.Routing.(holder)
	switch {
	case ok && len(h.Secrets()) > 0:
		return &Ring{
			above: above, dir: dir, entries: h.Secrets(), workload: workload, timeout: cmp.Or(max(0, timeout), secretTime), turn: make(chan struct{}, 1),
			fetched: map[string]state{}, values: map[string]string{},
		}
	case above != nil:
		return &Ring{above: above}
	}
	return nil
}

// Resolve fetches every secret. The error joins the causes of all that cannot be fetched, and wraps ErrUnavailable.
func (r *Ring) Resolve(ctx context.Context) error {
	return r.get(ctx, func(*secret.Entry, bool) bool { return true })
}

// get fetches the missing secrets among the wanted, in the order of the keychain: later ones may need earlier ones.
func (r *Ring) get(ctx context.Context, wanted func(s *secret.Entry, tried bool) bool) error {
	if len(r.entries) == 0 {
		return nil
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return cancelled.Error(ctx)
	}
	var errs []error
	for _, s := range r.entries {
		r.mu.Lock()
		e, tried := r.fetched[s.Name]
		r.mu.Unlock()
		if e.usable(time.Now()) || !wanted(s, tried) {
			continue
		}
		values, until, err := r.source(ctx, s)
		if err != nil {
			errs = append(errs, fmt.Errorf("%w: %s: %w", ErrUnavailable, s.Name, err))
		}
		r.put(s, values, state{got: err == nil, until: until})
	}
	return errors.Join(errs...)
}

func (e state) usable(now time.Time) bool { return e.got && (e.until.IsZero() || now.Before(e.until)) }

// put records fetched values. The values they replace are still redacted.
func (r *Ring) put(s *secret.Entry, values map[string]string, e state) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fetched[s.Name] = e
	for _, key := range s.Keys {
		plain, ok := values[key]
		if !ok {
			continue
		}
		mark := secret.Mark(s.Name, key)
		if old, had := r.values[mark]; had && old != plain {
			r.former = append(r.former, pair{mark, old})
			r.former = r.former[max(0, len(r.former)-formerMax):]
		}
		r.values[mark], r.redacts = plain, nil
	}
}

// renew marks all secrets to be fetched.
func (r *Ring) renew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.fetched)
}

// Reveal returns a value with secrets in place of the given marks. It fetches secrets that are missing or have expired, and
// tries once to fetch the others, so that they are redacted should the call return one. The error wraps ErrUnavailable.
func (r *Ring) Reveal(ctx context.Context, marks []string, v any) (any, error) {
	needed := func(s *secret.Entry) bool {
		return slices.ContainsFunc(s.Keys, func(key string) bool { return slices.Contains(marks, secret.Mark(s.Name, key)) })
	}
	if len(marks) > 0 {
		if err := r.get(ctx, func(s *secret.Entry, _ bool) bool { return r.behind(s, needed) }); err != nil {
			return nil, err
		}
	}
	r.Try(ctx)
	if len(marks) == 0 {
		return v, nil
	}
	plain, err := value.Of(v)
	if err != nil {
		return nil, err
	}
	return r.revealed(marks, plain), nil
}

// Try fetches the secrets that were not requested yet, so that they are redacted from later output.
func (r *Ring) Try(ctx context.Context) {
	if r == nil {
		return
	}
	r.above.Try(ctx)
	r.mu.Lock()
	untried := len(r.fetched) < len(r.entries)
	r.mu.Unlock()
	if untried {
		// A failure concerns only the calls that need these secrets.
		_ = r.get(ctx, func(_ *secret.Entry, tried bool) bool { return !tried })
	}
}

// Marks returns the keychain as expressions see it: with a mark in the place of every secret.
func (r *Ring) Marks() map[string]value.Value { return secret.Marks(r.entries) }

// behind reports whether a secret is needed, or a needed one depends on it.
func (r *Ring) behind(s *secret.Entry, needed func(*secret.Entry) bool) bool {
	if needed(s) {
		return true
	}
	return slices.ContainsFunc(r.entries, func(later *secret.Entry) bool {
		return later != s && later.Request != nil && needed(later) && later.Request.Reads(s.Name)
	})
}

// revealed replaces marks by the secrets on the ring.
func (r *Ring) revealed(marks []string, v value.Value) value.Value {
	r.mu.Lock()
	var pairs []string
	for _, mark := range marks {
		if secret, ok := r.values[mark]; ok {
			pairs = append(pairs, mark, secret)
		}
	}
	r.mu.Unlock()
	return replaced(v, strings.NewReplacer(pairs...).Replace, nil)
}
