package template

import (
	"github.com/sluiceflow/sluice/template/document"
)

// operations reads how names are called. Texts stay as they are written: Check compiles the expressions in them.
func (r *reader) operations(n *document.Node) map[string]Binding {
	if n.Kind != document.Mapping {
		r.wrongKind(n, "a mapping")
		return nil
	}
	m := make(map[string]Binding, n.Len())
	for e := range n.Entries() {
		m[e.Key] = r.binding(e.Value)
	}
	return m
}

// binding reads one of the ways to call something. Whether there is exactly one is for Check to say: a misspelt key leaves
// none, and has been reported.
func (r *reader) binding(n *document.Node) Binding {
	b := Binding{Pos: n.Pos}
	r.object(n, Fields{
		"command":  func(v *document.Node) { b.Command = r.command(v) },
		"http":     func(v *document.Node) { b.HTTP = r.http(v) },
		"sleep":    func(v *document.Node) { b.Sleep = r.sleep(v) },
		"wait":     func(v *document.Node) { b.Wait = r.wait(v) },
		"workflow": func(v *document.Node) { b.Workflow = r.child(v) },
		"value":    func(v *document.Node) { b.Value = &Constant{Value: v.Value()} },
		"fail":     func(v *document.Node) { b.Fail = r.fail(v) },
	})
	return b
}

// command accepts numbers among arguments and variables, because people write [sleep, 5]; what a program gets is text.
func (r *reader) command(n *document.Node) *Command {
	c := &Command{}
	r.object(n, Fields{
		"argv":   func(v *document.Node) { c.Argv = r.texts(v, r.argument) },
		"shell":  func(v *document.Node) { c.Shell = r.text(v) },
		"stdin":  func(v *document.Node) { c.Stdin = v.Value() },
		"env":    func(v *document.Node) { c.Env = r.textMap(v) },
		"dir":    func(v *document.Node) { c.Dir = r.text(v) },
		"output": func(v *document.Node) { c.Output = r.text(v) },
	})
	return c
}

func (r *reader) http(n *document.Node) *HTTP {
	h := &HTTP{}
	r.object(n, Fields{
		"method":  func(v *document.Node) { h.Method = r.text(v) },
		"url":     func(v *document.Node) { h.URL = r.text(v) },
		"headers": func(v *document.Node) { h.Headers = r.textMap(v) },
		"body":    func(v *document.Node) { h.Body = v.Value() },

		"follow_redirects": func(v *document.Node) { h.FollowRedirects = r.text(v) },
	})
	return h
}

func (r *reader) sleep(n *document.Node) *Sleep {
	s := &Sleep{}
	r.object(n, Fields{"for": func(v *document.Node) { s.For = r.text(v) }})
	return s
}

func (r *reader) wait(n *document.Node) *Wait {
	w := &Wait{}
	r.object(n, Fields{"message": func(v *document.Node) { w.Message = r.text(v) }})
	return w
}

func (r *reader) child(n *document.Node) *Child {
	c := &Child{}
	r.object(n, Fields{
		"path": func(v *document.Node) { c.Path, c.Pos = r.text(v), v.Pos },
		"name": func(v *document.Node) { c.Name, c.Pos = r.text(v), v.Pos },
	})
	return c
}

func (r *reader) fail(n *document.Node) *Fail {
	f := &Fail{}
	r.object(n, Fields{
		"code":    func(v *document.Node) { f.Code = r.text(v) },
		"message": func(v *document.Node) { f.Message = r.text(v) },
	})
	return f
}
