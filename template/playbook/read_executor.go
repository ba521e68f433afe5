package playbook

import (
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// Defaults of an executor's limits.
const (
	StepRunsMax  = 100_000
	JumpsMax     = 250_000
	ArgsBytesMax = 64 << 10
)

func defaultExecutor() Executor {
	return Executor{
		Final: -1, Completion: FailOnAny, FinalFailure: FinalFails,
		MaxStepRuns: StepRunsMax, MaxJumps: JumpsMax, MaxArgsBytes: ArgsBytesMax,
	}
}

// executor reads the settings of a run. They are read before the steps, which inherit them. The keys for the place of execution
// (profile, kind, version) are for other programs: the engine makes every call.
func (r *reader) executor(n *document.Node) {
	r.mapping(n, template.Fields{
		"profile": func(v *document.Node) { r.choice(v, "local", "distributed", "auto") },
		"kind":    func(v *document.Node) { r.choice(v, "distributed", "local", "hybrid") },
		"version": func(v *document.Node) { r.Text(v) },
		"requires": func(v *document.Node) {
			r.mapping(v, template.Fields{"tools": r.requiredTools, "features": func(v *document.Node) { r.Texts(v) }}, nil)
		},
		"spec": r.executorSpec,
	}, nil)
}

// requiredTools records the tools that must be known, except built-in ones. template.Check reports unknown ones.
func (r *reader) requiredTools(n *document.Node) {
	for _, item := range r.list(n) {
		if kind := r.Text(item); kind != "" && !builtin(kind) {
			r.book.requires = append(r.book.requires, template.Requirement{Operation: kind, Pos: item.Pos})
		}
	}
}

func (r *reader) executorSpec(n *document.Node) {
	x := &r.book.Executor
	known := r.defaults.fields(r)
	known["entry_step"] = func(v *document.Node) { x.Entry = max(0, r.stepNamed(v)) }
	known["final_step"] = func(v *document.Node) { x.Final = r.stepNamed(v) }
	known["no_next_is_error"] = func(v *document.Node) { x.NoNextIsError = r.Boolean(v) }
	known["implicit_join"] = func(v *document.Node) { x.ImplicitJoin = r.Boolean(v) }
	known["loop_mode"] = func(v *document.Node) { r.choice(v, "local", "fanout") }
	known["max_concurrency"] = func(v *document.Node) {
		x.MaxConcurrency = r.Count(v)
		r.Tree().MaxConcurrency = x.MaxConcurrency
	}
	known["policy"] = r.executorPolicy
	known["limits"] = r.limits
	known["results"] = func(v *document.Node) {
		r.mapping(v, template.Fields{"reference_first": r.noEffect("large results are stored as configured by result")}, nil)
	}
	r.mapping(n, known, nil)
	x.Store = r.defaults.store
}

func (r *reader) executorPolicy(n *document.Node) {
	x := &r.book.Executor
	r.mapping(n, template.Fields{
		"completion": func(v *document.Node) {
			x.Completion = Completion(r.choice(v, string(FailOnAny), string(FailFast), string(AllowPartial)))
		},
		"on_blocked": func(v *document.Node) {
			x.OnBlocked = OnBlocked(r.choice(v, string(template.BlockedWaits), string(template.BlockedFails), string(template.BlockedDiscards)))
		},
		"final_failure": func(v *document.Node) {
			x.FinalFailure = FinalFailure(r.choice(v, string(FinalFails), string(FinalPartial)))
		},
		"defaults":     r.noEffect("write each policy where it applies"),
		"on_unmatched": func(v *document.Node) { r.unmatched = r.choice(v, "continue", "fail") == "fail" },
	}, map[string]string{
		"admit": "only steps are admitted: write admit in the spec.policy of a step",
		"rules": "only tasks have rules: write rules in the spec.policy of a task",
	})
}

func (r *reader) limits(n *document.Node) {
	x := &r.book.Executor
	limit := func(field *int) func(*document.Node) {
		return func(v *document.Node) {
			if n := r.Count(v); n > 0 {
				*field = n
			}
		}
	}
	r.mapping(n, template.Fields{
		"max_step_runs":     limit(&x.MaxStepRuns),
		"max_jumps":         limit(&x.MaxJumps),
		"max_args_bytes":    limit(&x.MaxArgsBytes),
		"max_payload_bytes": r.noEffect("the engine limits the size of outputs"),
	}, nil)
}

// stepNamed returns the index of the step with the name at n. If there is none, it reports a fault and returns -1.
func (r *reader) stepNamed(n *document.Node) int {
	name := r.Text(n)
	if i, ok := r.book.steps[name]; ok {
		return i
	}
	if _, isText := n.Text(); isText {
		near := r.Nearest(name, slices.Values(r.names))
		r.Fault(&document.Error{Pos: n.Pos, Text: name, Msg: fmt.Sprintf("unknown step %q", name), Suggestion: near})
	}
	return -1
}
