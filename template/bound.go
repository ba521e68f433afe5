package template

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/fields"
	"github.com/sluiceflow/sluice/template/value"
)

// Bound is a binding with its texts compiled. Their expressions read input (the rendered input of the step), participant,
// attempt and run. A template is nil if the binding omits its field. A Bound is immutable.
type Bound struct {
	Name    string  // of the operation
	Binding Binding // as in the document

	Argv, Shell, Stdin, Env, Dir *expr.Template // of a command; Argv returns a list, Env an object
	Method, URL, Headers, Body   *expr.Template // of an HTTP request; Headers returns an object
	For                          *expr.Template // of a sleep: an ISO 8601 duration
	Wanted                       *expr.Template // of a wait: the name of the message
	Value                        *expr.Template // of a constant
	Code, Message                *expr.Template // of a failure

	Secrets []string // marks of the secrets that the templates read: one for each template that reads it
}

// boundNames are the names that expressions in a binding may read, besides the keychain.
var boundNames = []string{"input", "participant", "attempt", "run"}

// operations checks the bindings and compiles their texts.
func (c *checker) operations() {
	if len(c.w.Operations) == 0 {
		return
	}
	c.checked.Bindings = make(map[string]*Bound, len(c.w.Operations))
	for _, name := range slices.Sorted(maps.Keys(c.w.Operations)) {
		at := c.w.Pos.Key("operations").Key(name)
		c.visible(at.Path, at, name)
		b := &binder{c: c, at: at, bound: &Bound{Name: name, Binding: c.w.Operations[name]}}
		b.bind()
		c.checked.Bindings[name] = b.bound
	}
}

// binder compiles one binding.
type binder struct {
	c     *checker
	at    document.Pos // the path of the binding
	bound *Bound
}

var bindingKinds = []string{"command", "http", "sleep", "wait", "workflow", "value", "fail"}

// kinds returns the kinds of a binding.
func (b *Binding) kinds() (list []string) {
	for i, isSet := range []bool{b.Command != nil, b.HTTP != nil, b.Sleep != nil, b.Wait != nil, b.Workflow != nil, b.Value != nil, b.Fail != nil} {
		if isSet {
			list = append(list, bindingKinds[i])
		}
	}
	return list
}

func (b *binder) bind() {
	binding := &b.bound.Binding
	if len(binding.kinds()) != 1 && !b.isRefused() {
		b.c.faultf(b.at.Path, binding.Pos, "operation %q must have one of %s", b.bound.Name, strings.Join(bindingKinds, ", "))
	}
	if binding.Command != nil {
		b.command(binding.Command)
	}
	if binding.HTTP != nil {
		b.http(binding.HTTP)
	}
	if binding.Sleep != nil {
		b.sleep(binding.Sleep)
	}
	if binding.Wait != nil {
		b.required("wait", "message", binding.Wait.Message)
		b.bound.Wanted = b.text("wait", "message", binding.Wait.Message)
		if !strings.Contains(binding.Wait.Message, "{{") {
			b.c.visible(b.at.Key("wait").Key("message").Path, binding.Pos, binding.Wait.Message)
		}
	}
	if w := binding.Workflow; w != nil && w.Path != "" && w.Name != "" {
		b.faultf("workflow", "name", "name cannot be combined with path")
	} else if w != nil && w.Path == "" && w.Name == "" {
		b.faultf("workflow", "", "workflow must have one of path, name")
	}
	if binding.Value != nil {
		b.bound.Value = b.c.compile(b.at.Key("value").Path, binding.Value.Value, boundNames, b.refuseStepRead)
	}
	if binding.Fail != nil {
		b.required("fail", "code", binding.Fail.Code)
		b.bound.Code = b.text("fail", "code", binding.Fail.Code)
		b.bound.Message = b.text("fail", "message", binding.Fail.Message)
	}
}

// isRefused reports whether the reader has reported a fault of the binding.
func (b *binder) isRefused() bool {
	for path := range b.c.w.refused {
		if path == b.at.Path || strings.HasPrefix(path, b.at.Path+".") {
			return true
		}
	}
	return false
}

// command compiles the arguments of a program. Each argument and variable is passed as one value, even if it contains quotes.
// The text of a shell takes no expressions.
func (b *binder) command(cmd *Command) {
	switch {
	case len(cmd.Argv) > 0 && cmd.Shell != "":
		b.faultf("command", "shell", "shell cannot be combined with argv")
	case len(cmd.Argv) == 0 && cmd.Shell == "":
		b.faultf("command", "argv", "command must have one of argv, shell")
	case len(cmd.Argv) > 0 && cmd.Argv[0] == "":
		b.faultf("command", "argv", "argv must begin with a program")
	}
	// A value in the text of a shell would become part of the program: an input with a quote in it could run any command.
	if strings.Contains(cmd.Shell, "{{") {
		b.faultf("command", "shell", "shell takes no expressions: pass values in env and quote them there, as in \"$NAME\"")
	} else {
		b.bound.Shell = b.text("command", "shell", cmd.Shell)
	}
	if cmd.Output != "" {
		b.c.oneOf(b.at.Key("command").Key("output").Path, b.bound.Binding.Pos, cmd.Output, "text", "json", "lines")
	}
	for _, name := range slices.Sorted(maps.Keys(cmd.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			b.faultf("command", "env", "env has %s, which is not the name of a variable: write NAME: value", document.Quote(name))
		}
	}
	b.bound.Argv = b.any("command", "argv", fields.OfTexts(cmd.Argv))
	b.bound.Stdin = b.any("command", "stdin", cmd.Stdin)
	b.bound.Env = b.any("command", "env", fields.OfTextMap(cmd.Env))
	b.bound.Dir = b.text("command", "dir", cmd.Dir)
}

func (b *binder) http(h *HTTP) {
	b.required("http", "url", h.URL)
	b.bound.Method = b.text("http", "method", h.Method)
	b.bound.URL = b.text("http", "url", h.URL)
	if !b.c.known.Lenient {
		b.constant("http", "url", b.bound.URL, document.ValidURL)
		b.constant("http", "method", b.bound.Method, document.ValidMethod)
		for _, name := range slices.Sorted(maps.Keys(h.Headers)) {
			if err := document.ValidHeader(name); err != nil {
				b.c.fault(b.at.Key("http").Key("headers").Key(name).Path, b.bound.Binding.Pos, &document.Error{Text: name, Msg: err.Error()})
			}
		}
	}
	b.bound.Headers = b.any("http", "headers", fields.OfTextMap(h.Headers))
	b.bound.Body = b.any("http", "body", h.Body)
	b.c.oneOf(b.at.Key("http").Key("follow_redirects").Path, b.bound.Binding.Pos, h.FollowRedirects, FollowSameHost, FollowAny)
}

func (b *binder) sleep(s *Sleep) {
	b.required("sleep", "for", s.For)
	b.bound.For = b.text("sleep", "for", s.For)
	b.constant("sleep", "for", b.bound.For, func(text string) error {
		_, err := duration.Parse(text)
		return err
	})
}

// constant checks a text that reads nothing. Computed texts are checked at run time.
func (b *binder) constant(kind, key string, t *expr.Template, check func(text string) error) {
	if t == nil {
		return
	}
	if v, isConstant := t.Constant(); isConstant {
		text, _ := v.(string)
		if err := check(text); err != nil {
			b.c.fault(b.at.Key(kind).Key(key).Path, b.bound.Binding.Pos, &document.Error{Text: text, Msg: err.Error()})
		}
	}
}

// text compiles a text that may be omitted; any compiles a value that may be null.
func (b *binder) text(kind, key, text string) *expr.Template {
	if text == "" {
		return nil
	}
	return b.any(kind, key, text)
}

func (b *binder) any(kind, key string, v value.Value) *expr.Template {
	if v == nil {
		return nil
	}
	path, names := b.at.Key(kind).Key(key).Path, boundNames
	chain, _ := b.c.w.Routing.(keychain)
	if secrets := chain != nil && (kind == "command" || kind == "http"); !secrets {
		return b.c.compile(path, v, names, b.refuseStepRead)
	}
	t := b.c.compile(path, v, append([]string{"keychain"}, names...), b.refuseStepRead)
	if t != nil {
		b.bound.Secrets = append(b.bound.Secrets, chain.BindingSecrets(document.Pos{}, t, func(e *document.Error) {
			b.c.fault(path, b.bound.Binding.Pos, e)
		})...)
	}
	return t
}

// keychain is a Routing whose bindings read secrets, if their calls leave the process. No other input is kept out of the
// journal.
type keychain interface {
	BindingSecrets(pos document.Pos, t *expr.Template, report func(*document.Error)) (marks []string)
}

// refuseStepRead reports an expression that reads a step, because a binding serves all steps of its operation.
func (b *binder) refuseStepRead(r expr.Read, path string) {
	b.c.fault(path, b.bound.Binding.Pos, &document.Error{Text: r.Text,
		Msg: "an operation cannot read " + r.Text + ": pass it in the input of the step"})
}

// required reports a missing key that a binding needs.
func (b *binder) required(kind, key, text string) {
	if text == "" {
		b.faultf(kind, key, "%s needs %s", kind, key)
	}
}

func (b *binder) faultf(kind, key, format string, args ...any) {
	at := b.at.Key(kind)
	if key != "" {
		at = at.Key(key)
	}
	b.c.faultf(at.Path, b.bound.Binding.Pos, format, args...)
}
