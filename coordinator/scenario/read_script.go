package scenario

import (
	"fmt"
	"maps"
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
)

// script reads what is answered under each name.
func (r *reader) script(n *document.Node) map[string]answers {
	m := make(map[string]answers, n.Len())
	r.each(n, func(name string, v *document.Node) { m[name] = r.answers(v) })
	return m
}

// answers reads the answers of one name: one, a list of them, or those of each participant.
func (r *reader) answers(n *document.Node) answers {
	participants := n.Get("participants")
	if participants == nil {
		return answers{list: r.list(n)}
	}
	a := answers{participants: make(map[string][]answer, participants.Len())}
	r.object(n, fields{"participants": func(v *document.Node) {
		r.each(v, func(id string, v *document.Node) { a.participants[id] = r.list(v) })
	}})
	return a
}

// list reads one answer, or several that are taken in turn.
func (r *reader) list(n *document.Node) []answer {
	if n.Kind != document.Sequence {
		return []answer{r.answer(n)}
	}
	if n.Len() == 0 {
		r.fault(n, "a list of answers must not be empty")
	}
	list := make([]answer, 0, n.Len())
	for _, item := range n.Items() {
		list = append(list, r.answer(item))
	}
	return list
}

func (r *reader) answer(n *document.Node) answer {
	a := answer{deliver: 1}
	about := func(key string) func(*document.Node) {
		return func(v *document.Node) {
			if a.about == nil {
				a.about = map[string]any{}
			}
			a.about[key] = v.Value()
		}
	}
	r.object(n, fields{
		"http": about("http"), "pg": about("pg"), "py": about("py"),
		"deliver":     func(v *document.Node) { a.deliver = r.deliver(v) },
		"after":       func(v *document.Node) { a.after = r.duration(v) },
		"output":      func(v *document.Node) { a.output = v.Value() },
		"error":       func(v *document.Node) { a.failure = r.failure(v) },
		"never":       func(v *document.Node) { a.never = r.flag(v) },
		"unreachable": func(v *document.Node) { a.unreachable = r.flag(v) },
		"frames":      func(v *document.Node) { a.frames = r.frames(v) },
	})
	if a.failure != nil && len(a.about) > 0 {
		a.failure.Details = withDetails(a.failure.Details, a.about)
	}
	endings := 0
	for _, key := range []string{"output", "error", "never", "unreachable"} {
		if n.Get(key) != nil {
			endings++
		}
	}
	if n.Kind == document.Mapping && endings > 1 {
		r.fault(n, "an answer has one of output, error, never, unreachable")
	}
	return a
}

// frames reads the reports of a call, in the order of their instants.
func (r *reader) frames(n *document.Node) []frame {
	if n.Kind != document.Sequence {
		r.wrongKind(n, "a list")
		return nil
	}
	list := make([]frame, 0, n.Len())
	last := time.Duration(0)
	for _, item := range n.Items() {
		f := frame{after: last}
		r.object(item, fields{
			"after":   func(v *document.Node) { f.after = r.duration(v) },
			"kind":    func(v *document.Node) { f.kind = r.text(v) },
			"payload": func(v *document.Node) { f.payload = v.Value() },
		})
		if f.after < last {
			r.fault(item, "the frames go back: "+duration.Format(f.after)+" after "+duration.Format(last))
		}
		if item.Kind == document.Mapping && item.Get("kind") == nil {
			r.fault(item, "kind is missing")
		}
		last = f.after
		list = append(list, f)
	}
	return list
}

// failure reads a scripted error; it is final unless it says that it may be retried.
func (r *reader) failure(n *document.Node) *journal.Failure {
	f, kind := &journal.Failure{}, ""
	r.object(n, fields{
		"code":      func(v *document.Node) { f.Code = r.text(v) },
		"message":   func(v *document.Node) { f.Message = r.text(v) },
		"details":   func(v *document.Node) { f.Details = v.Value() },
		"retryable": func(v *document.Node) { f.Retryable = r.flag(v) },
		"kind":      func(v *document.Node) { kind = r.text(v) },
	})
	if kind != "" {
		f.Details = withDetails(f.Details, map[string]any{"kind": kind})
	}
	if n.Kind == document.Mapping && n.Get("code") == nil {
		r.fault(n, "code is missing")
	}
	return f
}

// withDetails lays more over the details of an error. Details that are no object are kept beside it.
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

// deliver reads how often an answer comes in.
func (r *reader) deliver(n *document.Node) int {
	times := r.count(n)
	if times > DeliverMax {
		r.fault(n, fmt.Sprintf("an answer comes in %d times at most, not %d", DeliverMax, times))
		return DeliverMax
	}
	return times
}
