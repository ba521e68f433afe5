package template

import "github.com/sluiceflow/sluice/template/document"

// operations reads the bindings of operations. Texts stay unchanged: Check compiles the expressions in them.
func (r *reader) operations(n *document.Node) map[string]Binding {
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return nil
	}
	m := make(map[string]Binding, n.Len())
	for e := range n.Entries() {
		m[e.Key] = r.binding(e.Value)
	}
	return m
}

// binding reads a binding of any kind. Check reports a binding that does not have exactly one kind, unless a fault such as a
// misspelt key has been reported.
func (r *reader) binding(n *document.Node) Binding {
	b := Binding{Pos: n.Pos}
	r.Object(n, r.bindingFields(&b))
	return b
}

// bindingFields returns the functions that read the kinds of a binding, each under its own key.
func (r *reader) bindingFields(b *Binding) Fields {
	return Fields{
		"command":  func(v *document.Node) { b.Command = r.command(v) },
		"http":     func(v *document.Node) { b.HTTP = r.http(v) },
		"sleep":    func(v *document.Node) { b.Sleep = r.sleep(v) },
		"wait":     func(v *document.Node) { b.Wait = r.wait(v) },
		"workflow": func(v *document.Node) { b.Workflow = r.child(v) },
		"value":    func(v *document.Node) { b.Value = &Constant{Value: v.Value()} },
		"fail":     func(v *document.Node) { b.Fail = r.fail(v) },
	}
}

// command accepts integers among arguments and variables, as in [sleep, 5]; the program receives text.
func (r *reader) command(n *document.Node) *Command {
	c := &Command{}
	r.Object(n, Fields{
		"argv":   func(v *document.Node) { c.Argv = r.Arguments(v) },
		"shell":  func(v *document.Node) { c.Shell = r.Text(v) },
		"stdin":  func(v *document.Node) { c.Stdin = v.Value() },
		"env":    func(v *document.Node) { c.Env = r.TextMap(v) },
		"dir":    func(v *document.Node) { c.Dir = r.Text(v) },
		"output": func(v *document.Node) { c.Output = r.Word(v) },
	})
	return c
}

func (r *reader) http(n *document.Node) *HTTP {
	h := &HTTP{}
	r.Object(n, Fields{
		"method":  func(v *document.Node) { h.Method = r.Word(v) },
		"url":     func(v *document.Node) { h.URL = r.Word(v) },
		"headers": func(v *document.Node) { h.Headers = r.TextMap(v) },
		"body":    func(v *document.Node) { h.Body = v.Value() },

		"follow_redirects": func(v *document.Node) { h.FollowRedirects = r.Word(v) },
	})
	return h
}

func (r *reader) sleep(n *document.Node) *Sleep {
	s := &Sleep{}
	r.Object(n, Fields{"for": func(v *document.Node) { s.For = r.Word(v) }})
	return s
}

func (r *reader) wait(n *document.Node) *Wait {
	w := &Wait{}
	r.Object(n, Fields{"message": func(v *document.Node) { w.Message = r.Word(v) }})
	return w
}

func (r *reader) child(n *document.Node) *Child {
	c := &Child{}
	r.Object(n, Fields{
		"path": func(v *document.Node) { c.Path, c.Pos = r.Word(v), v.Pos },
		"name": func(v *document.Node) { c.Name, c.Pos = r.Word(v), v.Pos },
	})
	return c
}

func (r *reader) fail(n *document.Node) *Fail {
	f := &Fail{}
	r.Object(n, Fields{
		"code":    func(v *document.Node) { f.Code = r.Word(v) },
		"message": func(v *document.Node) { f.Message = r.Text(v) },
	})
	return f
}
