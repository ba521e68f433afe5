package scenario

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/coordinator/scenario/expected"
	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Expectations that only playbooks have. They are checked against the journals, like all expectations.

// netChange is a change of a net that an observer received, with the index of the event that caused it.
type netChange struct {
	routed.View
	by int
}

// netChangeBytes is the approximate size of a netChange in memory.
const netChangeBytes = 256

// observeNet makes the observer of a playbook's run record the changes of its net.
func (t *track) observeNet() {
	if steps := t.seen.Steps(); steps != nil {
		steps.Watch(func(v routed.View) {
			t.netChanges = append(t.netChanges, netChange{v, t.observed})
			t.execution.budget.bytes += netChangeBytes
		})
	}
}

// count counts the changes for which yes returns true, and returns the event of the last one.
func (t *track) count(yes func(v *routed.View) bool) (n int, by *Event) {
	for i := range t.netChanges {
		if yes(&t.netChanges[i].View) {
			n++
			by = t.event(t.netChanges[i].by)
		}
	}
	return n, by
}

// task returns the key of the oldest open call of a playbook that name means. name is one of the names under operations, except the
// kind of tool. If name is a step, run is the key of its step-run, else it equals key. task returns any other name unchanged.
func (t *track) task(name string) (key, run string) {
	if _, ok := t.seen.Node(name); ok || t.seen.Steps() == nil {
		return name, name
	}
	for i := range t.journal {
		p, ok := t.places[i]
		names := program.TaskNames("", p)
		if _, open := t.seen.Node(t.journal[i].Node); !ok || !open || !slices.Contains(names[:len(names)-1], name) {
			continue
		}
		if name == p.Step {
			return t.journal[i].Node, p.Run
		}
		return t.journal[i].Node, t.journal[i].Node
	}
	return name, name
}

// onlyInPlaybook returns a test that fails for runs of other workflows.
func onlyInPlaybook(key string, look func(t *track, steps reactive.Steps) (string, *Event, bool)) test {
	return func(g *execution) (string, *Event, bool) {
		steps := g.main().seen.Steps()
		if steps == nil {
			return "only playbooks have " + key, nil, false
		}
		return look(g.main(), steps)
	}
}

// inPlaybook returns a test that calls ofBody for a playbook's run, and other for any other run.
func inPlaybook(ofBody func(t *track, steps reactive.Steps) (string, *Event, bool), other test) test {
	return func(g *execution) (string, *Event, bool) {
		if steps := g.main().seen.Steps(); steps != nil {
			return ofBody(g.main(), steps)
		}
		return other(g)
	}
}

// wantRuns compares the order of scheduling of step-runs.
func wantRuns(want expected.Order) test {
	return onlyInPlaybook("runs", func(t *track, _ reactive.Steps) (string, *Event, bool) {
		var got []string
		var by []int
		for _, v := range t.netChanges {
			if v.Name == routed.StepScheduled {
				got, by = append(got, v.Step), append(by, v.by)
			}
		}
		return t.inOrder(want, got, by)
	})
}

// wantContext compares the given keys of the context, and each value as a whole.
func wantContext(want value.Value) test {
	return onlyInPlaybook("ctx", func(t *track, steps reactive.Steps) (string, *Event, bool) {
		got := steps.Context()
		named, ok := want.(map[string]any)
		for k, v := range named {
			have, there := got[k]
			ok = ok && there && value.Equal(have, v)
		}
		_, by := t.count(func(v *routed.View) bool { return v.Name == routed.ContextPatched })
		return expected.Show(got), by, ok
	})
}

func wantPlaybookStatus(name, want string) func(t *track, steps reactive.Steps) (string, *Event, bool) {
	return func(t *track, steps reactive.Steps) (string, *Event, bool) {
		s, ok := steps.StepNow(name)
		if !ok {
			return "unknown step " + quote(name), nil, false
		}
		_, by := t.count(func(v *routed.View) bool { return v.Step == name })
		return s.Status.String(), by, s.Status.String() == want
	}
}

func wantPlaybookReason(name, want string) func(t *track, steps reactive.Steps) (string, *Event, bool) {
	return func(t *track, steps reactive.Steps) (string, *Event, bool) {
		s, ok := steps.StepNow(name)
		if !ok {
			return "unknown step " + quote(name), nil, false
		}
		_, by := t.count(func(v *routed.View) bool { return v.Name == routed.StepFailed && v.Step == name })
		return textOf(s.Failure), by, codeOf(s.Failure) == want
	}
}

func wantPlaybookOutput(name string, want value.Value) func(t *track, steps reactive.Steps) (string, *Event, bool) {
	return func(t *track, steps reactive.Steps) (string, *Event, bool) {
		s, ok := steps.StepNow(name)
		_, by := t.count(func(v *routed.View) bool { return v.Name == routed.StepDone && v.Step == name })
		if !ok || s.Runs == 0 {
			return "none: no such step has run", nil, false
		}
		return expected.Show(s.Result), by, value.Equal(s.Result, want)
	}
}

// wantTries compares the number of runs of the tool of a task, or for a step the sum over its tasks.
func wantTries(name string, want int) func(t *track, steps reactive.Steps) (string, *Event, bool) {
	return func(t *track, steps reactive.Steps) (string, *Event, bool) {
		step, task, _ := strings.Cut(name, ".")
		_, ok := steps.StepNow(step)
		if !ok || task != "" && !slices.Contains(steps.Tasks(step), task) {
			return "unknown step or task " + quote(name), nil, false
		}
		got, by := t.count(func(v *routed.View) bool {
			return v.Name == routed.AttemptStarted && v.Step == step && (task == "" || v.Task == task)
		})
		return strconv.Itoa(got), by, got == want
	}
}

// viewNames holds the names of all changes of a net.
var viewNames = []routed.ViewName{
	routed.ExecutionRequested, routed.RequestEvaluated, routed.WorkflowStarted, routed.TokenEnqueued, routed.AdmitEvaluated, routed.StepScheduled,
	routed.StepStarted, routed.LoopStarted, routed.IterationScheduled, routed.IterationStarted, routed.TaskStarted, routed.AttemptStarted,
	routed.AttemptDone, routed.AttemptFailed, routed.PolicyEvaluated, routed.TaskDone, routed.TaskFailed, routed.ContextPatched,
	routed.IterationDone, routed.IterationFailed, routed.LoopDone, routed.StepDone, routed.StepFailed, routed.NextEvaluated,
	routed.ExecutionWaiting, routed.ExecutionCancelled, routed.WorkflowFinished, routed.PlaybookProcessed,
}

// wantPlaybookCount compares counts of step-runs, tokens and branches, or of changes of the net.
func wantPlaybookCount(name string, want int) func(t *track, steps reactive.Steps) (string, *Event, bool) {
	return func(t *track, steps reactive.Steps) (string, *Event, bool) {
		c := steps.Counts()
		totals := map[string]int{
			"steps_run": c.StepsRun, "succeeded": c.Succeeded, "failed": c.Failed,
			"discarded": c.Discarded, "tokens_pending": c.Pending,
			"branches.normal": c.NormalBranches, "branches.failed": c.BadBranches, "branches.discarded": c.Discarded,
		}
		got, ok := totals[name]
		var by *Event
		switch {
		case ok:
		case slices.Contains(viewNames, routed.ViewName(name)):
			got, by = t.count(func(v *routed.View) bool { return string(v.Name) == name })
		default:
			for _, o := range outcomes {
				if o.String() == name {
					got, ok = t.outcomes[o], true
				}
			}
			if !ok {
				return "no count has that name", nil, false
			}
		}
		return strconv.Itoa(got), by, got == want
	}
}

// wantViews searches for changes in this order. Other changes may occur in between.
func wantViews(want []string) func(t *track, steps reactive.Steps) (string, *Event, bool) {
	return func(t *track, steps reactive.Steps) (string, *Event, bool) {
		found, last := 0, -1
		for _, v := range t.netChanges {
			if found < len(want) && string(v.Name) == want[found] {
				found, last = found+1, v.by
			}
		}
		if found == len(want) {
			return "", nil, true
		}
		missing := "no " + want[found]
		if !slices.Contains(viewNames, routed.ViewName(want[found])) {
			missing = "no change of a playbook is named " + quote(want[found])
		} else if found > 0 {
			missing += " after " + strings.Join(want[:found], ", ")
		}
		return missing, t.event(last), false
	}
}

// withReports returns the item of a scripted answer with its metadata (About).
func (q question) withReports(a script.Answer) decide.Item {
	it := q.answered(a.Output)
	if len(a.About) == 0 {
		return it
	}
	it.Event.Detail = withAbout(it.Event.Detail, a.About)
	return it
}

func withAbout(d *journal.Detail, about map[string]any) *journal.Detail {
	if d == nil {
		d = &journal.Detail{}
	}
	d.About = about
	return d
}
