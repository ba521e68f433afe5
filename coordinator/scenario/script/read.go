package script

import (
	"fmt"
	"maps"
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
)

// Script reads the answers of each name.
func (r *Reader) Script(n *document.Node) Script {
	m := make(Script, n.Len())
	r.Each(n, func(name string, v *document.Node) { m[name] = r.answers(v) })
	return m
}

// answers reads the answers of one name: one answer, a list, or the answers of each participant.
func (r *Reader) answers(n *document.Node) answers {
	participants := n.Get("participants")
	if participants == nil {
		return answers{list: r.list(n)}
	}
	a := answers{participants: make(map[string][]Answer, participants.Len())}
	r.Object(n, Fields{"participants": func(v *document.Node) {
		r.Each(v, func(id string, v *document.Node) { a.participants[id] = r.list(v) })
	}})
	return a
}

// list reads one answer, or a list of answers that are taken in turn.
func (r *Reader) list(n *document.Node) []Answer {
	if n.Kind != document.Sequence {
		return []Answer{r.answer(n)}
	}
	if n.Len() == 0 {
		r.Refuse(n, "a list of answers must not be empty")
	}
	list := make([]Answer, 0, n.Len())
	for _, item := range n.Items() {
		list = append(list, r.answer(item))
	}
	return list
}

func (r *Reader) answer(n *document.Node) Answer {
	a := Answer{Deliver: 1}
	about := func(key string) func(*document.Node) {
		return func(v *document.Node) {
			if a.About == nil {
				a.About = map[string]any{}
			}
			a.About[key] = v.Value()
		}
	}
	r.Object(n, Fields{
		"http": about("http"), "pg": about("pg"), "py": about("py"),
		"deliver":     func(v *document.Node) { a.Deliver = r.deliver(v) },
		"after":       func(v *document.Node) { a.After = r.Duration(v) },
		"output":      func(v *document.Node) { a.Output = v.Value() },
		"error":       func(v *document.Node) { a.Failure = r.failure(v) },
		"never":       func(v *document.Node) { a.Never = r.Boolean(v) },
		"unreachable": func(v *document.Node) { a.Unreachable = r.Boolean(v) },
		"frames":      func(v *document.Node) { a.Frames = r.frames(v) },
	})
	if a.Failure != nil && len(a.About) > 0 {
		a.Failure.Details = withDetails(a.Failure.Details, a.About)
	}
	endings := 0
	for _, key := range []string{"output", "error", "never", "unreachable"} {
		if n.Get(key) != nil {
			endings++
		}
	}
	if n.Kind == document.Mapping && endings > 1 {
		r.Refuse(n, "an answer has one of output, error, never, unreachable")
	}
	return a
}

// frames reads the reports of a call, which must be in the order of their instants.
func (r *Reader) frames(n *document.Node) []Frame {
	if n.Kind != document.Sequence {
		r.WrongKind(n, "a list")
		return nil
	}
	list := make([]Frame, 0, n.Len())
	last := time.Duration(0)
	for _, item := range n.Items() {
		f := Frame{After: last}
		r.Object(item, Fields{
			"after":   func(v *document.Node) { f.After = r.Duration(v) },
			"kind":    func(v *document.Node) { f.Kind = r.Text(v) },
			"payload": func(v *document.Node) { f.Payload = v.Value() },
		})
		if f.After < last {
			r.Refuse(item, "the frames go back: "+duration.Format(f.After)+" after "+duration.Format(last))
		}
		if item.Kind == document.Mapping && item.Get("kind") == nil {
			r.Refuse(item, "kind is missing")
		}
		last = f.After
		list = append(list, f)
	}
	return list
}

// failure reads a scripted error. The call is not retried unless the error is marked as retryable.
func (r *Reader) failure(n *document.Node) *journal.Failure {
	f, kind := &journal.Failure{}, ""
	r.Object(n, Fields{
		"code":      func(v *document.Node) { f.Code = r.Text(v) },
		"message":   func(v *document.Node) { f.Message = r.Text(v) },
		"details":   func(v *document.Node) { f.Details = v.Value() },
		"retryable": func(v *document.Node) { f.Retryable = r.Boolean(v) },
		"kind":      func(v *document.Node) { kind = r.Text(v) },
	})
	if kind != "" {
		f.Details = withDetails(f.Details, map[string]any{"kind": kind})
	}
	if n.Kind == document.Mapping && n.Get("code") == nil {
		r.Refuse(n, "code is missing")
	}
	return f
}

// withDetails merges more into the details of an error. Details that are not an object become the member details.
func withDetails(details any, more map[string]any) any {
	object, ok := details.(map[string]any)
	if !ok && details != nil {
		object = map[string]any{"details": details}
	}
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, more)
	return out
}

// deliver reads the number of times that an answer arrives.
func (r *Reader) deliver(n *document.Node) int {
	times := r.Count(n)
	if times > DeliverMax {
		r.Refuse(n, fmt.Sprintf("an answer comes in %d times at most, not %d", DeliverMax, times))
		return DeliverMax
	}
	return times
}
