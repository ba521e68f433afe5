package playbook

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/value"
)

// The kinds of built-in tools. All other kinds are names of operations.
const (
	kindNoop     = "noop"
	kindHTTP     = "http"
	kindCommand  = "command"
	kindShell    = "shell" // another name of command
	kindSleep    = "sleep"
	kindWait     = "wait"
	kindWorkflow = "workflow"
	kindPlaybook = "playbook" // another name of workflow
	kindWorkbook = "workbook"
	kindResult   = "result"
	kindArtifact = "artifact" // another name of result
	kindResolve  = "resolve"  // another name of result
)

func builtin(kind string) bool {
	return kind == kindNoop || kind == kindWorkbook || binders[kind] != nil
}

// binders maps the kinds of built-in tools that make calls to their descriptions.
var binders map[string]*builtinTool

// builtinTool describes a built-in tool that makes calls.
type builtinTool struct {
	keys []string                                    // keys that the tool accepts
	need []string                                    // keys that the tool requires
	bind func(*binder) (b template.Binding, ok bool) // makes the binding; false: the tool was refused
}

func init() {
	http := &builtinTool{[]string{"method", "url", "headers", "params", "body", "payload", "follow_redirects"}, []string{"url"}, (*binder).http}
	command := &builtinTool{[]string{"argv", "shell", "stdin", "env", "dir", "output"}, nil, (*binder).command}
	workflow := &builtinTool{[]string{"path", "ref"}, nil, (*binder).workflow}
	result := &builtinTool{[]string{"ref"}, []string{"ref"}, (*binder).result}
	binders = map[string]*builtinTool{
		kindHTTP: http, kindCommand: command, kindShell: command, kindWorkflow: workflow, kindPlaybook: workflow,
		kindSleep:  {[]string{"for"}, []string{"for"}, (*binder).sleep},
		kindWait:   {[]string{"message"}, []string{"message"}, (*binder).wait},
		kindResult: result, kindArtifact: result, kindResolve: result,
	}
}

// binder makes the binding of one call site. The tool's expressions are rendered into the call's input, in the dialect of the
// document. The binding only reads the parts of that input, so bindings do not depend on playbooks.
//
//	url: "{{ workload.api }}/rows"   ──▶   input {url: …}   and   http: {url: "{{ input.url }}"}
type binder struct {
	*tool
	of map[string]*document.Node // the nodes that are rendered into the input
}

// bind makes the binding and compiles the input of the call. It reports false if it refuses the tool.
func (b *binder) bind(h *builtinTool) bool {
	child := startsChild(b.task.Kind)
	given := b.of
	if child {
		given = b.keys // its input is the child's
	}
	if b.whole != nil && !child {
		b.r.Refuse(b.whole, "input of tool "+b.task.Kind+" must be a mapping")
		return false
	}
	if !b.checkKeys(given, h) {
		return false
	}
	b.recordPlaces()
	binding, ok := h.bind(b)
	if !ok {
		return false
	}
	binding.Pos = b.task.Pos
	w := b.r.Tree()
	if w.Operations == nil {
		w.Operations = map[string]template.Binding{}
	}
	w.Operations[b.task.Call.Operation] = binding
	b.task.Input = b.rendered(b.of)
	return true
}

// recordPlaces records where the keys of the binding are written.
func (b *binder) recordPlaces() {
	kind := b.task.Kind
	if kind == kindShell {
		kind = kindCommand
	}
	at := b.r.book.Pos.Key("operations").Key(b.task.Call.Operation).Key(kind)
	for key, n := range b.of {
		b.r.Moved(at.Key(key).Path, n.Pos.Path)
	}
}

// literal warns of a value without expressions with which the call always fails. It is no fault, because documents were accepted
// with it.
func (b *binder) literal(key string, check func(text string) error) {
	n := b.of[key]
	text, isText := n.Text()
	if isText && strings.Contains(text, "{{") {
		return
	}
	if v := n.Value(); !isText && v != nil {
		text = value.Text(v)
	}
	if err := check(text); err != nil {
		b.r.warn(n.Pos, "the call always fails: %v", err)
	}
}

// startsChild reports whether tools of a kind start another workflow.
func startsChild(kind string) bool { return kind == kindWorkflow || kind == kindPlaybook }

// checkKeys refuses keys that the tool does not accept, and missing required keys. A required key is not reported as missing if an
// unknown key was probably a misspelling of it.
func (b *binder) checkKeys(given map[string]*document.Node, h *builtinTool) bool {
	meant := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(h.keys, key) {
			continue
		}
		near := b.r.Nearest(key, slices.Values(h.keys))
		meant[near] = true
		b.r.Fault(&document.Error{Pos: b.at[key], Text: key, Suggestion: near,
			Msg: fmt.Sprintf("unknown key %q of tool %s", key, b.task.Kind)})
	}
	complete := true
	for _, key := range h.need {
		if given[key] == nil {
			complete = false
			if !meant[key] {
				b.r.Fault(&document.Error{Pos: b.task.Pos.Key(key), Msg: fmt.Sprintf("tool %s needs %s", b.task.Kind, key)})
			}
		}
	}
	return complete && len(meant) == 0
}

// static removes a key from the rendered ones and returns its text. It refuses a text with expressions; hint describes the
// alternative.
func (b *binder) static(key, hint string) string {
	n := b.of[key]
	if n == nil {
		return ""
	}
	delete(b.of, key)
	text := b.r.Text(n)
	if strings.Contains(text, "{{") {
		b.r.Refuse(n, key+" takes no expressions"+hint)
		return ""
	}
	return text
}

// part returns the expression that reads a key of the input, or "" if the tool does not have the key.
func (b *binder) part(key string) string {
	if b.of[key] == nil {
		return ""
	}
	return "{{ input." + key + " }}"
}

// members returns expressions for the members of a mapping with fixed keys.
func (b *binder) members(key string) map[string]string {
	n := b.of[key]
	if n == nil {
		return nil
	}
	if n.Kind != document.Mapping {
		b.r.WrongKind(n, "a mapping")
		return nil
	}
	m := make(map[string]string, n.Len())
	for e := range n.Entries() {
		m[e.Key] = "{{ input." + key + "[" + strconv.Quote(e.Key) + "] }}"
	}
	return m
}

func (b *binder) http() (template.Binding, bool) {
	b.literal("url", document.ValidURL)
	h := &template.HTTP{Method: b.part("method"), URL: b.part("url"), Headers: b.members("headers")}
	if n := b.of["follow_redirects"]; n != nil {
		h.FollowRedirects = b.r.choice(n, template.FollowSameHost, template.FollowAny)
		delete(b.of, "follow_redirects")
	}
	for _, key := range []string{"body", "payload"} {
		if b.of[key] == nil {
			continue
		}
		if h.Body != nil {
			b.r.Refuse(b.of[key], "payload cannot be combined with body: they are two names of one key")
		}
		h.Body = b.part(key)
	}
	if b.of["params"] != nil {
		h.URL += `{{ let q = toQuery(input.params); q == "" ? "" : (input.url contains "?" ? "&" : "?") + q }}`
	}
	return template.Binding{HTTP: h}, true
}

// command passes argv item by item: each item is one argument, whatever text it renders to, or none if it renders to null. The
// text of a shell is fixed, because a value in it would become part of the program.
func (b *binder) command() (template.Binding, bool) {
	c := &template.Command{Env: b.members("env"), Dir: b.part("dir")}
	if b.of["stdin"] != nil {
		c.Stdin = b.part("stdin")
	}
	argv, shell := b.of["argv"], b.of["shell"]
	switch {
	case argv != nil && shell != nil:
		b.r.Refuse(shell, "shell cannot be combined with argv")
	case argv == nil && shell == nil:
		b.r.Fault(&document.Error{Pos: b.task.Pos.Key("argv"), Msg: "tool " + b.task.Kind + " needs one of argv, shell"})
	case argv != nil && (argv.Kind != document.Sequence || argv.Len() == 0):
		b.r.Refuse(argv, "argv must be a list that begins with a program")
	case argv != nil:
		for i := range argv.Len() {
			c.Argv = append(c.Argv, "{{ input.argv["+strconv.Itoa(i)+"] }}")
		}
	default:
		c.Shell = b.static("shell", `: pass values in env and quote them there, as in "$NAME"`)
		if c.Shell == "" && !b.r.IsRefused(shell) {
			b.r.Refuse(shell, "shell must not be an empty text")
		}
	}
	if n := b.of["output"]; n != nil {
		c.Output = b.r.choice(n, "text", "json", "lines")
		delete(b.of, "output")
	}
	return template.Binding{Command: c}, c.Argv != nil || c.Shell != ""
}

// sleep checks a constant duration.
func (b *binder) sleep() (template.Binding, bool) {
	n := b.of["for"]
	if text, isText := n.Text(); !isText {
		b.r.WrongKind(n, "a duration such as PT30S")
	} else if !strings.Contains(text, "{{") {
		if _, err := duration.Parse(text); err != nil {
			b.r.Refuse(n, err.Error())
		}
	}
	return template.Binding{Sleep: &template.Sleep{For: b.part("for")}}, true
}

func (b *binder) wait() (template.Binding, bool) {
	b.literal("message", func(name string) error {
		if name == "" {
			return errors.New("the message has no name")
		}
		return document.Visible(name)
	})
	return template.Binding{Wait: &template.Wait{Message: b.part("message")}}, true
}

// result makes a binding that returns the reference as the output of the call, which is journaled. The net of the run replaces
// the reference by the result.
func (b *binder) result() (template.Binding, bool) {
	return template.Binding{Value: &template.Constant{Value: b.part("ref")}}, true
}

// Resolves reports whether the task replaces its reference by the result.
func (t *Task) Resolves() bool {
	return t.Kind == kindResult || t.Kind == kindArtifact || t.Kind == kindResolve
}

// workflow makes a binding to another workflow: by the path of its file, or by its registered name. The child receives the
// input of the tool, and inherits nothing else.
func (b *binder) workflow() (template.Binding, bool) {
	c := &template.Child{}
	b.of = maps.Clone(b.input)
	for key, field := range map[string]*string{"path": &c.Path, "ref": &c.Name} {
		if n := b.keys[key]; n != nil {
			c.Pos = n.Pos
			if *field = b.r.Text(n); strings.Contains(*field, "{{") {
				b.r.Refuse(n, key+" takes no expressions: which workflow is called must be known before a run")
			}
		}
	}
	if b.child != nil && c.Name == "" && c.Path == "" { // beside a path, the name is only the tool's label
		c.Name, c.Pos = b.r.Text(b.child), b.child.Pos
	}
	if (c.Path == "") == (c.Name == "") {
		b.r.Fault(&document.Error{Pos: b.task.Pos, Msg: "tool " + b.task.Kind + " needs one of path, ref (a registered workflow)"})
		return template.Binding{}, false
	}
	return template.Binding{Workflow: c}, true
}
