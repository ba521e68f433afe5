package playbook

import (
	"regexp"
	"strconv"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

var iteratorForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// loop reads the loop of a step, and returns the settings for its tasks.
func (r *reader) loop(s *Step, n *document.Node) layer {
	var inherited layer
	l := &Loop{Conflict: ConflictRejected, Pos: n.Pos}
	s.Loop = l
	r.mapping(n, template.Fields{
		"in":       func(v *document.Node) { l.In = r.loopIn(v) },
		"iterator": func(v *document.Node) { l.Iterator = r.iterator(v) },
		"spec": func(v *document.Node) {
			known := inherited.fields(r)
			known["mode"] = func(v *document.Node) { l.Parallel = r.choice(v, "sequential", "parallel") == "parallel" }
			known["max_in_flight"] = func(v *document.Node) { l.MaxInFlight = r.maxInFlight(v) }
			known["policy"] = func(v *document.Node) { r.loopPolicy(l, v) }
			r.mapping(v, known, nil)
			if width := v.Get("max_in_flight"); width != nil && !l.Parallel {
				r.warn(width.Pos, "max_in_flight has no effect: a sequential loop runs one iteration at a time")
			}
		},
	}, nil)
	r.Required(n, "in", "iterator")
	return inherited
}

// loopIn compiles the list. A constant must be a list; the value of an expression is checked at run time.
func (r *reader) loopIn(n *document.Node) Expr {
	e := r.singleExpression(n, seenByLoop, "a list")
	if e == nil {
		return nil
	}
	if v, fixed := constant(e); fixed {
		if _, isList := v.([]any); !isList {
			r.Refuse(n, "in must be a list")
		}
	}
	return e
}

func (r *reader) iterator(n *document.Node) string {
	name := r.Text(n)
	if _, isText := n.Text(); isText && (!iteratorForm.MatchString(name) || name == "index" || name == "parent") {
		r.Refuse(n, "iterator cannot be "+document.Quote(name)+": expressions must be able to read iter.<iterator>, beside iter.index and iter.parent")
	}
	return name
}

// maxInFlight compiles the maximum number of concurrent iterations. A number is checked here, an expression when the loop begins.
func (r *reader) maxInFlight(n *document.Node) Expr {
	if n.Kind != document.String && r.Count(n) == 0 {
		return nil
	}
	e := r.singleExpression(n, seenByLoop, "a whole number")
	if v, fixed := constant(e); fixed {
		if width, err := strconv.ParseInt(value.Text(v), 10, 64); err != nil || width < 1 {
			r.warn(n.Pos, "max_in_flight is never a whole number of at least 1: the step always fails")
		}
	}
	return e
}

func (r *reader) loopPolicy(l *Loop, n *document.Node) {
	r.mapping(n, template.Fields{
		"exec": func(v *document.Node) { r.choice(v, "local", "distributed") },
		"on_conflict": func(v *document.Node) {
			l.Conflict = Conflict(r.choice(v, string(ConflictRejected), string(ConflictAppends), string(ConflictLast)))
		},
	}, map[string]string{"failure": "write the effect of a failed iteration in spec.policy.failure of the step"})
}
