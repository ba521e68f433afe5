package keychain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// MinLength is how many bytes a secret has at least.
const MinLength = 4

// ErrUnavailable says that a secret cannot be had now. Later it may be.
var ErrUnavailable = errors.New("keychain: the secret cannot be had")

// Ring is the secrets of one run.
type Ring struct {
	book     *playbook.Playbook
	workload map[string]value.Value
	patience time.Duration // with the server of a secret
	turn     chan struct{} // holds one: whoever takes it may get secrets

	mu      sync.Mutex
	entries map[string]entry // that have been got, by name
	values  map[string]string
	former  []pair // what renewals have replaced: a call may still give it back
	hides   *hider // what Redact looks for; nil: to be made anew
}

// entry is when an entry of the keychain was tried, and how long what it gave can be used.
type entry struct {
	got   bool
	until time.Time // zero: as long as the run
}

// pair is a secret and its mark.
type pair struct{ mark, secret string }

// formerMax bounds how many replaced secrets a ring goes on hiding; the oldest are forgotten first.
const formerMax = 256

// New gives the ring of a run, with nothing on it; nil when its workflow has no keychain. The workload is the run's. Patience is
// how long the answer of a server may take that has a secret.
func New(w *template.Workflow, workload map[string]value.Value, patience time.Duration) *Ring {
	book, ok := playbook.Of(w)
	if !ok || len(book.Keychain) == 0 {
		return nil
	}
	return &Ring{
		book: book, workload: workload, patience: patience, turn: make(chan struct{}, 1), entries: map[string]entry{}, values: map[string]string{},
	}
}

// Begin gets the secrets of a run of w that is to be started; nil when it has none. Without them there is no run.
func Begin(ctx context.Context, w *template.Workflow, input value.Value, patience time.Duration) (*Ring, error) {
	book, ok := playbook.Of(w)
	if !ok {
		return nil, nil
	}
	ring := New(w, book.WorkloadOf(input), patience)
	if ring == nil {
		return nil, nil
	}
	if err := ring.Resolve(ctx); err != nil {
		return nil, fmt.Errorf("workflow %s: %w", w.Name, err)
	}
	return ring, nil
}

// Resolve gets every secret. The error joins what is wrong with each that cannot be had, and wraps ErrUnavailable.
func (r *Ring) Resolve(ctx context.Context) error {
	return r.get(ctx, func(*playbook.Secret, bool) bool { return true })
}

// get gets the secrets that are wanted and not at hand, in the order of the keychain: later ones may need earlier ones.
func (r *Ring) get(ctx context.Context, wanted func(s *playbook.Secret, tried bool) bool) error {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return cancelled.Error(ctx)
	}
	var errs []error
	for _, s := range r.book.Keychain {
		r.mu.Lock()
		e, tried := r.entries[s.Name]
		r.mu.Unlock()
		if e.usable(time.Now()) || !wanted(s, tried) {
			continue
		}
		values, until, err := r.source(ctx, s)
		if err != nil {
			errs = append(errs, fmt.Errorf("%w: %s: %w", ErrUnavailable, s.Name, err))
		}
		r.put(s, values, entry{got: err == nil, until: until})
	}
	return errors.Join(errs...)
}

func (e entry) usable(now time.Time) bool { return e.got && (e.until.IsZero() || now.Before(e.until)) }

// put notes what was got, and goes on hiding what it replaces.
func (r *Ring) put(s *playbook.Secret, values map[string]string, e entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries[s.Name] = e
	for _, key := range s.Keys {
		secret, ok := values[key]
		if !ok {
			continue
		}
		mark := playbook.Mark(s.Name, key)
		if old, had := r.values[mark]; had && old != secret {
			r.former = append(r.former, pair{mark, old})
			r.former = r.former[max(0, len(r.former)-formerMax):]
		}
		r.values[mark], r.hides = secret, nil
	}
}

// Reveal gives a value with the secrets in the place of their marks, those that are told. It gets what is lacking or has run
// out, and tries once for the others too, so that they can be hidden should the call give one back. The error wraps
// ErrUnavailable.
func (r *Ring) Reveal(ctx context.Context, marks []string, v any) (any, error) {
	needed := func(s *playbook.Secret) bool {
		return slices.ContainsFunc(s.Keys, func(key string) bool { return slices.Contains(marks, playbook.Mark(s.Name, key)) })
	}
	if len(marks) > 0 {
		if err := r.get(ctx, func(s *playbook.Secret, _ bool) bool { return r.behind(s, needed) }); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	untried := len(r.entries) < len(r.book.Keychain)
	r.mu.Unlock()
	if untried {
		// That these cannot be had is for the calls to say that need them.
		_ = r.get(ctx, func(_ *playbook.Secret, tried bool) bool { return !tried })
	}
	if len(marks) == 0 {
		return v, nil
	}
	plain, err := value.Of(v)
	if err != nil {
		return nil, err
	}
	return r.revealed(marks, plain), nil
}

// behind reports whether a secret is needed, or stands behind one that is.
func (r *Ring) behind(s *playbook.Secret, needed func(*playbook.Secret) bool) bool {
	if needed(s) {
		return true
	}
	return slices.ContainsFunc(r.book.Keychain, func(later *playbook.Secret) bool {
		return later != s && later.Request != nil && needed(later) && later.Request.Reads(s.Name)
	})
}

// revealed puts the secrets in that are on the ring.
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
