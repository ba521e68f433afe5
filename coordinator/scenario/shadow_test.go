package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/shadow"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// recorded yields the runs of all scenarios except worlds.
func recorded(t *testing.T, yield func(name string, track *track)) {
	recordedWith(t, Options{}, yield)
}

// recordedWith is recorded with options.
func recordedWith(t *testing.T, opts Options, yield func(name string, track *track)) {
	all, err := Load("../../testdata/scenarios")
	require.NoError(t, err)
	for _, s := range all {
		g := newExecution(s, opts, program.NewLibrary())
		g.execute()
		for _, track := range g.tracks {
			if routing := track.program.Plan.Workflow.Routing; len(track.journal) > 0 && (routing == nil || routing.Kind() != machine.Kind) {
				yield(s.Name+", run "+track.path, track)
			}
		}
	}
}

// An equal workflow has the same shadow for every run.
func TestAnEqualWorkflowGoesTheSameWay(t *testing.T) {
	runs := 0
	same := func(name string, track *track) {
		runs++
		p := track.program.Plan
		s, err := shadow.New(p, p, track.journal[0].Detail.Start, func(root *reactive.Root) decide.Host { return track })
		require.NoError(t, err, name)
		for i := range track.journal {
			s.Add(&track.journal[i])
		}
		report, err := s.Report()
		require.NoError(t, err, name)
		for _, d := range report.Differences {
			t.Errorf("%s: %s: %s", name, d.Kind, d.String())
		}
		require.Equal(t, report.Status, report.Shadow, name)
		require.EqualValues(t, len(track.journal), report.Events, name)
	}
	recorded(t, same)
	require.Greater(t, runs, 300)
	if !testing.Short() {
		recordedWith(t, Options{Seed: 7}, same) // answers of one instant come in another order
		recordedWith(t, Options{Crash: true}, same)
	}
}

// changed returns the plan of a workflow after a change of its document, or nil if the changed document is refused.
func changed(t *testing.T, p *plan.Plan, change func(doc map[string]any)) *plan.Plan {
	data, err := value.JSON(p.Workflow.Document())
	require.NoError(t, err)
	doc, err := value.ParseJSON(data)
	require.NoError(t, err)
	change(doc.(map[string]any))
	data, err = value.JSON(doc)
	require.NoError(t, err)
	w, err := kinds.ParseStored(data)
	if err != nil {
		return nil
	}
	checked, err := template.Check(w, template.Known{Lenient: true})
	if err != nil {
		return nil
	}
	out, err := plan.Compile(checked)
	require.NoError(t, err)
	return out
}

// shadowOf follows a run under another workflow.
func shadowOf(t *testing.T, track *track, now *plan.Plan) *shadow.Report {
	start := decide.StartUnder(track.journal[0].Detail.Start, now)
	functions := struct{ decide.Host }{track} // the participants of a track are those of its own root
	s, err := shadow.New(track.program.Plan, now, start, func(*reactive.Root) decide.Host { return functions })
	require.NoError(t, err)
	for i := range track.journal {
		s.Add(&track.journal[i])
	}
	report, err := s.Report()
	require.NoError(t, err)
	return report
}

// The shadow of every run reports a new call, and no difference in calls that the run has begun, unless the run has ended.
func TestANewCallIsFoundInEveryRun(t *testing.T) {
	runs := 0
	recorded(t, func(name string, track *track) {
		p := track.program.Plan
		if p.Workflow.Routing != nil || p.Workflow.MaxConcurrency > 0 || len(p.Functions) > 0 {
			return
		}
		now := changed(t, p, func(doc map[string]any) {
			added := map[string]any{"id": "added-by-the-change", "operation": "added-by-the-change"}
			doc["steps"] = []any{map[string]any{"parallel": map[string]any{"steps": []any{
				map[string]any{"sequential": map[string]any{"steps": doc["steps"]}}, added,
			}}}}
		})
		require.NotNil(t, now, name)
		if track.journal[len(track.journal)-1].Type == journal.RunStarted {
			return
		}
		runs++
		found := 0
		report := shadowOf(t, track, now)
		for _, d := range report.Differences {
			switch d.Kind {
			case shadow.Unasked:
				require.Equal(t, "added-by-the-change", d.Step, name)
				require.False(t, d.Begun, name)
				found++
			case shadow.End: // the run has ended, and the call is open
				require.True(t, d.Begun, name)
			case shadow.Refused: // or it has not ended in between
				require.Contains(t, []string{"node.retried", "message.received", "run.cancelled"}, d.What, name)
			default:
				t.Errorf("%s: %s: %s", name, d.Kind, d.String())
			}
		}
		require.LessOrEqual(t, found, 1, name)
		if found == 0 { // the run was cancelled or paused before its first call
			runs--
		}
	})
	require.Greater(t, runs, 150)
}

// The shadow reports a call that is no longer made, with its requesting event, and the conditional that decides so.
func TestACallNoLongerAskedIsFound(t *testing.T) {
	runs := 0
	recorded(t, func(name string, track *track) {
		p := track.program.Plan
		i := slices.IndexFunc(track.journal, func(e journal.Event) bool { return e.Type == journal.CallRequested })
		if p.Workflow.Routing != nil || i < 0 {
			return
		}
		asked := track.journal[i].Node
		now := changed(t, p, func(doc map[string]any) {
			list, _ := doc["steps"].([]any)
			for k, one := range list {
				step, _ := one.(map[string]any)
				if step["id"] == asked || step["id"] == nil && step["operation"] == asked {
					list[k] = map[string]any{"conditional": map[string]any{"test": "{{ input == 'never seen' }}", "then": []any{step}}}
				}
			}
		})
		if now == nil || now.Hash == p.Hash {
			return
		}
		runs++
		report := shadowOf(t, track, now)
		require.NotNil(t, report.Past(), name)
		gone := slices.ContainsFunc(report.Differences, func(d shadow.Difference) bool {
			return d.Kind == shadow.Gone && d.Step == asked && d.Begun && d.Seq == track.journal[i].Seq
		})
		require.True(t, gone, "%s: %v", name, report.Differences)
	})
	require.Greater(t, runs, 60)
}

// For any change of the operation of a step, the shadow of a run that has called the operation reports the change. The changed step
// receives the outcome of the call.
func TestAnotherOperationIsFound(t *testing.T) {
	runs := 0
	recorded(t, func(name string, track *track) {
		i := slices.IndexFunc(track.journal, func(e journal.Event) bool { return e.Type == journal.CallRequested })
		if track.program.Plan.Workflow.Routing != nil || i < 0 {
			return
		}
		asked := track.journal[i].Node
		now := changed(t, track.program.Plan, func(doc map[string]any) {
			list, _ := doc["steps"].([]any)
			for _, one := range list {
				step, _ := one.(map[string]any)
				if name, _ := step["operation"].(string); step["id"] == asked || step["id"] == nil && name == asked {
					operations, _ := doc["operations"].(map[string]any)
					if operations[name] == nil && step["fulfillment"] == nil {
						step["id"], step["operation"] = asked, "another"
					}
				}
			}
		})
		if now == nil || now.Hash == track.program.Plan.Hash {
			return
		}
		runs++
		report := shadowOf(t, track, now)
		require.Equal(t, report.Status, report.Shadow, name)
		for _, d := range report.Differences {
			require.Equal(t, shadow.Operation, d.Kind, "%s: %s", name, d.String())
			require.Equal(t, asked, d.Step, name)
			require.Equal(t, "another", d.New, name)
		}
		require.NotEmpty(t, report.Differences, name)
	})
	require.Greater(t, runs, 60)
}

// In a playbook, a removed arc removes the step-runs and calls behind it.
func TestAnArcThatIsGoneIsFound(t *testing.T) {
	runs := 0
	recorded(t, func(name string, track *track) {
		p := track.program.Plan
		if p.Workflow.Routing == nil {
			return
		}
		first := ""
		now := changed(t, p, func(doc map[string]any) {
			step, _ := doc["workflow"].([]any)[0].(map[string]any)
			first, _ = step["step"].(string)
			delete(step, "next")
		})
		began := func(e journal.Event) bool {
			return e.Type == journal.StepScheduled && !strings.HasPrefix(e.Node, first+"@")
		}
		i := slices.IndexFunc(track.journal, began)
		if now == nil || now.Hash == p.Hash || i < 0 || !strings.HasPrefix(track.journal[1].Node, first+"@") {
			return
		}
		runs++
		report := shadowOf(t, track, now)
		gone := slices.ContainsFunc(report.Differences, func(d shadow.Difference) bool {
			return d.Kind == shadow.Gone && d.What == "step.scheduled" && d.Begun
		})
		require.True(t, gone, "%s: %v", name, report.Differences)
		require.NotNil(t, report.Past(), name)
	})
	require.Greater(t, runs, 40)
}

// The key of each call determines the row of its step or task.
func TestTheRowOfACallIsInItsKey(t *testing.T) {
	calls := 0
	recorded(t, func(name string, track *track) {
		p := track.program.Plan
		for i := range track.journal {
			e := &track.journal[i]
			if e.Type != journal.CallRequested {
				continue
			}
			calls++
			row, ok := p.RowOf(e.Node)
			require.True(t, ok, "%s: %s", name, e.Node)
			require.Equal(t, plan.Step, p.Nodes[row].Kind, "%s: %s", name, e.Node)
		}
	})
	require.Greater(t, calls, 300)
}
