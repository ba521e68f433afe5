package operation

import (
	"fmt"
	"maps"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// Codes of failures of bindings, besides those of HTTP statuses, such as http_404.
const (
	CodeExit           = "exit"                      // a command ended with a nonzero exit code; may be retried
	CodeNotStarted     = "not_started"               // a command could not be started: not found, no permission
	CodeTransport      = "transport"                 // there was no HTTP answer; may be retried
	CodeInvalidRequest = "invalid_request"           // the HTTP request of the binding is invalid
	CodeAddressRefused = "address_refused"           // an HTTP request to a forbidden address
	CodeRedirect       = "redirect"                  // an HTTP answer redirects too often, from https to http, to another scheme or host
	CodeInvalidOutput  = "invalid_output"            // the answer does not have the expected form
	CodeTooLarge       = reactive.CodeOutputTooLarge // the answer is larger than its limit
	CodeCancelled      = "cancelled"                 // the context of the call ended before the answer; may be retried
)

// Bind returns the Caller of an operation that a document binds to a command or an HTTP request. It refuses all other bindings, which
// the engine carries out itself. The Caller keeps b, and is immutable and safe for concurrent use.
//
// A command receives from the environment of this process the variables PATH, HOME, LANG and TMPDIR, and those that passed lists, if
// they are set when the call is made. It also receives four variables about the call: SLUICE_RUN, SLUICE_STEP, SLUICE_ATTEMPT (from
// 1) and SLUICE_IDEMPOTENCY_KEY.
func Bind(b *template.Bound, passed ...string) (Caller, error) {
	switch {
	case b.Binding.Command != nil:
		return &command{bound: b, output: b.Binding.Command.Output, passed: passed, grace: graceTime}, nil
	case b.Binding.HTTP != nil:
		return newRequest(b, sharedTransport(), secretTransport()), nil
	}
	return nil, fmt.Errorf("operation %q is bound neither to a command nor to an HTTP request", b.Name)
}

// scope provides the expressions of a binding with the data of one call. It belongs to that call.
type scope struct {
	call    *Call
	input   value.Value
	decoded bool // input is decoded: several texts may read it
}

var _ expr.Env = (*scope)(nil)

// Name returns the value of a variable. The checker accepts the same names in bindings.
func (s *scope) Name(name string) (value.Value, error) {
	switch name {
	case "input":
		if s.decoded {
			return s.input, nil
		}
		in, err := s.call.Decode()
		s.input, s.decoded = in, err == nil
		return in, err
	case "attempt":
		return int64(s.call.Attempt), nil
	case "run":
		return map[string]any{"id": s.call.Run}, nil
	case "participant":
		return s.participant()
	case "keychain":
		if h, ok := s.call.host.(keychainHost); ok {
			return value.Of(h.Keychain())
		}
	}
	return nil, fmt.Errorf("a binding has no variable %q", name)
}

// participant returns the data about the participant of the call from the directory, with the id; null if there is no participant.
func (s *scope) participant() (value.Value, error) {
	if s.call.Participant == "" {
		return nil, nil
	}
	about := maps.Clone(s.call.About)
	if about == nil {
		about = make(map[string]any, 1)
	}
	about["id"] = s.call.Participant
	return value.Of(about)
}

// Step returns an error. A binding serves every step of its operation, so it cannot read the other steps of a workflow.
func (s *scope) Step(id string, _ expr.Field) (value.Value, error) {
	return nil, fmt.Errorf("a binding cannot read step %q: pass it in the input of the step", id)
}

// eval evaluates the template under a key of the binding. It returns nil for an omitted key. Its errors are permanent, because the
// input of the call does not change.
func (s *scope) eval(key string, t *expr.Template) (value.Value, error) {
	if t == nil {
		return nil, nil
	}
	v, err := t.Eval(s)
	if err != nil {
		return nil, &Error{Code: reactive.CodeInputResolution, Message: key + ": " + err.Error(), Permanent: true, Err: err}
	}
	return v, nil
}

// text evaluates a template to a text: a string as it is, null as "", any other value as JSON.
func (s *scope) text(key string, t *expr.Template) (string, error) {
	v, err := s.eval(key, t)
	if err != nil || v == nil {
		return "", err
	}
	return value.Text(v), nil
}

// texts evaluates a template to an object of texts. It omits null members, so the input can determine which members are set.
func (s *scope) texts(key string, t *expr.Template) (map[string]string, error) {
	v, err := s.eval(key, t)
	if err != nil {
		return nil, err
	}
	object, _ := v.(map[string]any)
	texts := make(map[string]string, len(object))
	for name, v := range object {
		if v != nil {
			texts[name] = value.Text(v)
		}
	}
	return texts, nil
}

// payload evaluates a template to the bytes to send: a string as it is, any other value as JSON. isText reports a string.
func (s *scope) payload(key string, t *expr.Template) (data []byte, isText bool, err error) {
	v, err := s.eval(key, t)
	if err != nil {
		return nil, false, err
	}
	if text, ok := v.(string); ok {
		return []byte(text), true, nil
	}
	data, err = value.JSON(v)
	return data, false, err
}

// cancelled returns the failure of a call whose context ended before the answer.
func cancelled(c *Call) error {
	return &Error{Code: CodeCancelled, Message: fmt.Sprintf("the call ended before its answer came: %v", c.Cause()), Err: c.Cause()}
}
