package keychain

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/expr/jinja"
	"github.com/sluiceflow/sluice/template/secret"
	"github.com/sluiceflow/sluice/template/value"
)

const (
	secretMax   = 64 << 10         // bytes of a secret
	renewBefore = 10 * time.Second // an answer is renewed this long before it expires
)

// source fetches the values of an entry, by key, and returns the time at which they expire.
func (r *Ring) source(ctx context.Context, s *secret.Entry) (map[string]string, time.Time, error) {
	values, until := map[string]string{}, time.Time{}
	var answer map[string]any
	var err error
	if s.Kind == secret.HTTP {
		if answer, err = r.ask(ctx, s.Request); err != nil {
			return nil, until, err
		}
		until = expiry(s, answer, time.Now())
	}
	var errs []error
	for _, key := range s.Keys {
		switch s.Kind {
		case secret.Env:
			values[key], err = variable(s.Sources[key])
		case secret.File:
			values[key], err = r.content(s.Sources[key])
		default:
			values[key], err = field(answer, key)
		}
		if err == nil && len(values[key]) < MinLength {
			err = fmt.Errorf("it has fewer than %d bytes, too few to be redacted", MinLength)
		}
		if err == nil && len(values[key]) > secretMax {
			err = fmt.Errorf("it has more than %d bytes, too many to be redacted", secretMax)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
		}
	}
	if len(errs) > 0 {
		return nil, until, errors.Join(errs...)
	}
	return values, until, nil
}

func variable(name string) (string, error) {
	text, ok := os.LookupEnv(name)
	if !ok {
		return "", fmt.Errorf("the environment has no variable %s", name)
	}
	return text, nil
}

// content reads a file. A line break at its end is not part of the secret.
func (r *Ring) content(path string) (string, error) {
	if r.dir != "" && !filepath.IsAbs(path) {
		path = filepath.Join(r.dir, path)
	}
	data, err := readfile.Regular(path, secretMax+2) // the line break besides
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
}

func field(answer map[string]any, key string) (string, error) {
	switch v := answer[key].(type) {
	case nil:
		return "", errors.New("the server's answer does not have it")
	case string, int64, float64:
		return value.Text(v), nil
	default:
		return "", fmt.Errorf("the server's answer has %s, not a text", value.Describe(v))
	}
}

// expiry returns the time at which an answer must be renewed; zero: never.
func expiry(s *secret.Entry, answer map[string]any, now time.Time) time.Time {
	if !s.AutoRenew {
		return time.Time{}
	}
	var seconds float64
	switch v := answer["expires_in"].(type) {
	case int64:
		seconds = float64(v)
	case float64:
		seconds = v
	default:
		return time.Time{}
	}
	const year = 365 * 24 * time.Hour
	life := time.Duration(min(max(seconds, 0), year.Seconds()) * float64(time.Second))
	return now.Add(life - min(renewBefore, life/2))
}

// requests are the bindings for requests: without a body, and with one.
var requests = sync.OnceValues(func() (list [2]operation.Caller, err error) {
	part := func(key string) *expr.Template {
		t, err := expr.Compile("{{ input."+key+" }}", expr.Scope{Names: []string{"input"}})
		if err != nil {
			panic(err) // the text is fixed
		}
		return t
	}
	for i := range list {
		b := &template.Bound{
			Name: "keychain", Binding: template.Binding{HTTP: &template.HTTP{}},
			Method: part("method"), URL: part("url"), Headers: part("headers"),
		}
		if i > 0 {
			b.Body = part("body")
		}
		if list[i], err = operation.Bind(b); err != nil {
			return list, err
		}
	}
	return list, nil
})

// ask makes the request of an entry. The answer must be a JSON object.
func (r *Ring) ask(ctx context.Context, q *secret.Request) (map[string]any, error) {
	input, err := r.rendered(q)
	if err != nil {
		return nil, err
	}
	callers, err := requests()
	if err != nil {
		return nil, err
	}
	caller := callers[0]
	if q.Data != nil {
		caller = callers[1]
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	// Each request has another idempotency key: a server that caches answers by it would return an old secret.
	call := &operation.Call{Request: call.Request{Run: "keychain", Node: rand.Text(), Attempt: 1, Input: input}}
	call.Begin(ctx)
	call.HostBy(hostWithoutRun{r})
	defer context.AfterFunc(ctx, func() { call.End(context.Cause(ctx)) })()
	out, err := caller.Call(call)
	if err != nil {
		// Without the details, which are the server's answer: it may repeat the request.
		return nil, errors.New(r.RedactMessage(err.Error()))
	}
	answer, _ := out.(map[string]any)
	object, ok := answer["body"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the server has answered with %s, not with a JSON object", value.Describe(answer["body"]))
	}
	return object, nil
}

// rendered evaluates a request, and fills in the secrets that it uses.
func (r *Ring) rendered(q *secret.Request) (map[string]any, error) {
	env := requestEnv{r.workload, secret.Marks(r.entries)}
	input := map[string]any{"method": q.Method, "headers": map[string]any{}}
	for key, e := range map[string]secret.Expr{"url": q.Endpoint, "headers": q.Headers, "body": q.Data} {
		if e == nil {
			continue
		}
		v, err := e.Eval(env)
		if err != nil {
			return nil, err
		}
		input[key] = v
	}
	var marks []string
	for _, s := range r.entries {
		if !q.Reads(s.Name) {
			continue
		}
		if !r.has(s) {
			return nil, fmt.Errorf("it needs %s", s.Name)
		}
		for _, key := range s.Keys {
			marks = append(marks, secret.Mark(s.Name, key))
		}
	}
	revealed, _ := r.revealed(marks, input).(map[string]any)
	return revealed, nil
}

// has reports whether an entry was fetched.
func (r *Ring) has(s *secret.Entry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fetched[s.Name].got
}

// requestEnv is the environment of a request's expressions.
type requestEnv struct{ workload, keychain map[string]value.Value }

func (e requestEnv) Name(name string) (value.Value, error) {
	switch name {
	case "workload":
		return e.workload, nil
	case secret.Variable:
		return e.keychain, nil
	}
	if v, ok := e.workload[name]; ok { // as in the Jinja dialect
		return v, nil
	}
	return nil, jinja.ErrUndefined
}

func (requestEnv) Step(id string, _ expr.Field) (value.Value, error) {
	return nil, fmt.Errorf("a request of the keychain cannot read step %q", id)
}

// hostWithoutRun is the operation.Host of the calls that fetch secrets. They belong to no run, and are not bounded.
type hostWithoutRun struct{ ring *Ring }

func (hostWithoutRun) Report(operation.Progress) (<-chan error, error) {
	return nil, operation.ErrNoCall
}
func (hostWithoutRun) TakeText(context.Context, int) error  { return nil }
func (hostWithoutRun) TakeValue(context.Context, int) error { return nil }
func (a hostWithoutRun) Redactor() operation.Redactor       { return a.ring }
