package scenario_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/scenario"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
)

// load reads the scenarios of a text.
func load(t testing.TB, text string) []*scenario.Scenario {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	all, err := scenario.Load(file)
	require.NoError(t, err)
	return all
}

// first runs the scenario of a text.
func first(t testing.TB, text string, o scenario.Options) *scenario.Report {
	t.Helper()
	return load(t, text)[0].Run(o)
}

// base is a run that completes at PT5S: a answers after 1 s, b fails twice and then answers, and the answer to its first attempt is
// late.
const base = `
kind: Scenario
name: base
workflow:
  kind: Workflow
  name: base
  steps:
    - {operation: a}
    - {operation: b, timing: {timeout: PT1S, retry: {max_attempts: 3, backoff: PT1S}}}
    - {operation: c, timing: {timeout: PT1S, on_timeout: skip}}
  output: {sum: "{{ steps.a.output + 1 }}"}
operations:
  a: {after: PT1S, output: 1}
  b: [{after: PT1.5S, output: late}, {output: fine}]
  c: {never: true}
`

func TestTheBaseScenarioPasses(t *testing.T) {
	r := first(t, base+`
timeline:
  - {at: PT2.2S, expect: {run: waiting, steps: {b: failed}, reasons: {b: timeout}}}
expect:
  run: completed
  at: PT4S
  steps: {a: completed, b: completed, c: skipped}
  reasons: {c: timeout}
  output: {sum: 2}
  outputs: {a: 1, b: fine, c: null}
  attempts: {a: 1, b: 2, c: 1}
  calls: [a, b, c]
  counts: {late: 1, call.requested: 4}
  events: [run.started, call.error, timer.fired, run.finished]
  dispatches: {a: []}
  fulfillment: {a: none}
`, scenario.Options{Crash: true})
	require.True(t, r.Passed, r)
	require.Equal(t, "PT4S", r.Duration)
	require.Positive(t, r.Crashes)
}

func TestEveryExpectationCanFail(t *testing.T) {
	for _, c := range []struct{ expect, key, want, got, by string }{
		{"run: failed", "run", "failed", "completed", "run.finished at PT4S"},
		{"reason: timeout", "reason", "timeout", "none", "run.finished"},
		{"at: PT5S", "at", "PT5S", "PT4S", "run.finished"},
		{"output: {sum: 3}", "output", `{"sum":3}`, `{"sum":2}`, "run.finished"},
		{"steps: {c: completed}", "steps.c", "completed", "skipped", "call.skipped c at PT4S"},
		{"steps: {zz: idle}", "steps.zz", "idle", `unknown step "zz"`, ""},
		{"steps: {a/b: idle}", "steps.a/b", "idle", `unknown step "a/b"`, ""},
		{"reasons: {c: busy}", "reasons.c", "busy", "timeout: no answer in time", "call.skipped c"},
		{"reasons: {a: busy}", "reasons.a", "busy", "none", "call.responded a at PT1S"},
		{"outputs: {b: late}", "outputs.b", `"late"`, `"fine"`, "call.responded b at PT3S"},
		{"outputs: {c: 1}", "outputs.c", "1", "null", "call.skipped c"},
		{"attempts: {b: 3}", "attempts.b", "3", "2", "call.requested b at PT3S"},
		{"calls: [a, c, b]", "calls", "[a, c, b]", "[a, b, c]", "call.requested b at PT1S"},
		{"calls: [a, b]", "calls", "[a, b]", "[a, b, c]", "call.requested c"},
		{"calls: [a, b, c, d]", "calls", "[a, b, c, d]", "[a, b, c]", ""},
		{"calls: [[a, c], b]", "calls", "[[a, c], b]", "[a, b, c]", "call.requested b at PT1S"},
		{"counts: {late: 0}", "counts.late", "0", "1", ""},
		{"counts: {call.requested: 3}", "counts.call.requested", "3", "4", "call.requested c"},
		{"counts: {lat: 0}", "counts.lat", "0", "no events are counted under that name", ""},
		{"events: [call.responded, run.started]", "events", "call.responded, run.started", "no run.started after call.responded", "call.responded a"},
		{"events: [call.request]", "events", "call.request", `no type of event is named "call.request"`, ""},
		{"dispatches: {a: [{participant: p, status: responded}]}", "dispatches.a", "[p responded]", "[]", ""},
		{"fulfillment: {a: fulfilled}", "fulfillment.a", "fulfilled", "none", ""},
		{"invalid: unknown step", "invalid", `"unknown step"`, "the document is accepted", ""},
		{"runs: [a]", "runs", "[a]", "only playbooks have runs", ""},
		{"ctx: {n: 1}", "ctx", `{"n":1}`, "only playbooks have ctx", ""},
	} {
		t.Run(c.expect, func(t *testing.T) {
			r := first(t, base+"expect: {"+c.expect+"}\n", scenario.Options{})
			require.False(t, r.Passed)
			require.Len(t, r.Differences, 1)
			d := r.Differences[0]
			require.Equal(t, []string{c.key, c.want, c.got}, []string{d.Key, d.Want, d.Got})
			if c.by == "" {
				return
			}
			require.NotNil(t, d.Event)
			require.Contains(t, d.Event.String(), c.by)
		})
	}
}

func TestExpectationsOfTheTimelineHoldAtTheirInstant(t *testing.T) {
	r := first(t, base+`
timeline:
  - {at: PT1S, expect: {steps: {b: running, c: ready}, at: PT1S, output: 1, outputs: {b: 1}, reason: x}}
  - {at: PT2S, expect: {steps: {b: running}}}
expect: {run: completed}
`, scenario.Options{})
	require.False(t, r.Passed)
	var got []string
	for _, d := range r.Differences {
		got = append(got, d.Where+" "+d.At+" "+d.Key+": "+d.Got)
	}
	require.ElementsMatch(t, []string{
		"timeline[0] PT1S steps.c: waiting",
		"timeline[0] PT1S at: never: the run is running",
		"timeline[0] PT1S output: none: the run is running",
		"timeline[0] PT1S outputs.b: none: the step is running",
		"timeline[0] PT1S reason: none: the run has not ended",
		"timeline[1] PT2S steps.b: failed (timeout: no answer in time)",
	}, got)
}

func TestAnErrorMustContainEachText(t *testing.T) {
	const misspelt = `
kind: Scenario
name: misspelt
workflow: {kind: Workflow, name: w, steps: [{operation: split}, {operation: screen, needs: [splt]}]}
operations: {split: {}, screen: {}}
`
	require.True(t, first(t, misspelt+`expect: {invalid: [unknown step "splt", 'did you mean "split"?']}`, scenario.Options{}).Passed)
	r := first(t, misspelt+`expect: {invalid: [unknown step "splt", duplicate]}`, scenario.Options{})
	require.Len(t, r.Differences, 1)
	require.Equal(t, `a refusal with "duplicate"`, r.Differences[0].Want)
	require.Contains(t, r.Differences[0].Got, "test.yaml:4:")
	r = first(t, misspelt+`expect: {run: completed}`, scenario.Options{})
	require.Len(t, r.Differences, 1)
	require.Equal(t, "a document that is accepted", r.Differences[0].Want)
}

func TestOperationsWithoutAScriptAreNamed(t *testing.T) {
	for _, c := range []struct{ name, workflow, operations, want string }{
		{"an unknown operation", `steps: [{operation: pay}]`, `{}`, `unknown operation "pay"`},
		{"a command", `operations: {pay: {command: {argv: [pay]}}}, steps: [{operation: pay}]`, `{}`,
			`operation "pay" of step "pay" is not scripted`},
		{"the second of two steps", `steps: [{operation: pay, id: one}, {operation: pay, id: two}]`, `{one: {}}`,
			`operation "pay" of step "two" is not scripted`},
		{"an item", `steps: [{map: {id: m, over: [1, 2], steps: [{operation: pay}]}}]`, `{"pay[0]": {}}`,
			`operation "pay" of step "pay[1]" is not scripted`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := first(t, `
kind: Scenario
name: s
workflow: {kind: Workflow, name: w, `+c.workflow+`}
operations: `+c.operations+`
expect: {run: completed}
`, scenario.Options{})
			require.Len(t, r.Differences, 1)
			require.Contains(t, r.Differences[0].Got, c.want)
		})
	}
}

// An operation that only the script names is not suggested: its name may be the misspelt one.
func TestASuggestedOperationIsCalledByTheWorkflow(t *testing.T) {
	for script, want := range map[string]string{
		`{greet: {}, gret: {}}`: `unknown operation "greett" (did you mean "greet"?)`,
		`{gret: {}}`:            `unknown operation "greet"`,
	} {
		r := first(t, `
kind: Scenario
name: s
workflow: {kind: Workflow, name: w, steps: [{operation: greet}, {operation: greett}]}
operations: `+script+`
expect: {run: completed}
`, scenario.Options{})
		require.Len(t, r.Differences, 1)
		require.Contains(t, r.Differences[0].Got, want)
		require.NotContains(t, r.Differences[0].Got, `"gret"`)
	}
}

// The engine itself would carry out a step with a misspelt name in the script.
func TestAScriptOfAMisspeltStepIsRefused(t *testing.T) {
	for operations, want := range map[string]string{
		`{chekc: {}}`:                   `no step has the name or operation "chekc" of the script (did you mean "check"?)`,
		`{"chekc[0]": {}}`:              `no step has the name or operation "chekc[0]" of the script (did you mean "check"?)`,
		`{check: {}, chekc: {}}`:        "",
		`{v: {}, other.workflow: {}}`:   "",
		`{"check[1]": {}, "check": {}}`: "",
	} {
		r := first(t, `
kind: Scenario
name: s
workflow: {kind: Workflow, name: w, operations: {v: {value: 1}}, steps: [{operation: v, id: check}]}
operations: `+operations+`
expect: {run: completed}
`, scenario.Options{})
		if want == "" {
			require.Empty(t, r.Differences, operations)
			continue
		}
		require.Len(t, r.Differences, 1, operations)
		require.Contains(t, r.Differences[0].Got, want)
	}
}

func TestScriptedBuiltInsAreAnsweredByTheScript(t *testing.T) {
	r := first(t, `
kind: Scenario
name: naps
workflow:
  kind: Workflow
  name: naps
  operations: {nap: {sleep: {for: PT1H}}, one: {value: 1}, stop: {fail: {code: stop}}}
  steps: [{operation: nap, id: short}, {operation: nap, id: long}, {operation: one}, {operation: stop}]
operations: {short: {after: PT1S, output: woken}, one: {output: 2}, stop: {output: gone on}}
expect: {run: completed, at: PT1H1S, outputs: {short: woken, one: 2, stop: gone on}, calls: [short, long, one, stop]}
`, scenario.Options{Crash: true})
	require.True(t, r.Passed, r)
}

func TestAListServesAllInstancesInTurnAndItsLastAnswerRepeats(t *testing.T) {
	r := first(t, `
kind: Scenario
name: turns
workflow:
  kind: Workflow
  name: turns
  steps: [{map: {id: m, over: [1, 2, 3, 4], steps: [{operation: ask}]}}]
operations: {ask: [{output: one}, {output: two}], "ask[1]": {output: own}}
expect: {run: completed, outputs: {m: [one, own, two, two]}, steps: {m: completed, "m[3]": completed}}
`, scenario.Options{Crash: true})
	require.True(t, r.Passed, r)
}

func TestRefusedCommandsAreReported(t *testing.T) {
	r := first(t, base+`
timeline:
  - {at: PT1S, abort: {step: a}}
  - {at: PT1S, abort: {step: zz}}
  - {at: PT1S, retry: {step: a/b}}
  - {at: PT9S, cancel: {}}
expect: {run: completed}
`, scenario.Options{})
	var got []string
	for _, d := range r.Differences {
		got = append(got, d.Where+" "+d.Key)
	}
	require.Equal(t, []string{"timeline[1] abort", "timeline[2] retry"}, got)
	require.Len(t, r.Refused, 2)
	require.Contains(t, r.Refused[0].Reason, `step "a" is completed`)
	require.Equal(t, "cancel", r.Refused[1].Command)
	require.Contains(t, r.String(), "abort at PT1S was refused")
	asJSON, err := json.Marshal(r.Refused[1])
	require.NoError(t, err)
	require.Contains(t, string(asJSON), `"command":"cancel"`)
}

func TestTimersOfACrashedEngineFireOnItsReturn(t *testing.T) {
	r := first(t, `
kind: Scenario
name: away
workflow:
  kind: Workflow
  name: away
  operations: {go: {wait: {message: go}}}
  steps:
    - parallel:
        steps:
          - {operation: answers}
          - {operation: times-out, timing: {timeout: PT15S, on_timeout: skip}}
          - {operation: go}
operations: {answers: {after: PT11S, output: 1}, times-out: {after: PT12S, output: 1}}
timeline:
  - {at: PT10S, crash: {down: PT10S}}
  - {at: PT11S, message: {name: go, payload: 1}}
  - {at: PT19S, expect: {run: running, steps: {answers: running, times-out: running, go: running}}}
  - {at: PT20S, expect: {steps: {answers: completed, times-out: skipped, go: completed}, counts: {late: 1}}}
expect: {run: completed, at: PT20S, attempts: {answers: 1, times-out: 1}}
`, scenario.Options{})
	require.True(t, r.Passed, r)
	require.Equal(t, 1, r.Crashes)
}

func TestAScenarioEndsIfNothingIsDue(t *testing.T) {
	r := first(t, `
kind: Scenario
name: stuck
workflow: {kind: Workflow, name: w, steps: [{operation: a}]}
operations: {a: {never: true}}
expect: {run: running, steps: {a: running}}
`, scenario.Options{})
	require.True(t, r.Passed, r)
}

func TestUntilEndsTheScenario(t *testing.T) {
	r := first(t, `
kind: Scenario
name: long
workflow: {kind: Workflow, name: w, steps: [{operation: a}]}
operations: {a: {after: PT2H, output: 1}}
until: PT1H
expect: {run: running, at: PT2H}
`, scenario.Options{})
	require.Len(t, r.Differences, 1)
	require.Equal(t, "never: the run is running", r.Differences[0].Got)
	require.Equal(t, "PT1H", r.Duration)
}

func TestAStepThatIsNotIdempotentIsRunWithoutCrashes(t *testing.T) {
	r := first(t, `
kind: Scenario
name: once
workflow: {kind: Workflow, name: w, steps: [{operation: a, idempotent: false}]}
operations: {a: {after: PT1S, output: 1}}
expect: {run: completed}
`, scenario.Options{Crash: true})
	require.True(t, r.Passed, r)
	require.Zero(t, r.Crashes)
}

func TestTheSeedShufflesAnswersOfOneInstant(t *testing.T) {
	s := load(t, `
kind: Scenario
name: both fail
workflow: {kind: Workflow, name: w, steps: [{parallel: {steps: [{operation: a}, {operation: b}]}}]}
operations: {a: {after: PT1S, error: {code: a}}, b: {after: PT1S, error: {code: b}}}
expect: {run: failed, reason: a}
`)[0]
	require.True(t, s.Run(scenario.Options{}).Passed)
	passed := map[bool]int{}
	for seed := int64(1); seed <= 20; seed++ {
		o := scenario.Options{Seed: seed, Crash: true}
		r := s.Run(o)
		require.Equal(t, r, s.Run(o), "the same seed gives the same order")
		passed[r.Passed]++
	}
	require.Positive(t, passed[true])
	require.Positive(t, passed[false], "the first failure fails the run")
}

func TestAnswersComeBeforeTimersForAnySeed(t *testing.T) {
	s := load(t, `
kind: Scenario
name: at the last moment
workflow:
  kind: Workflow
  name: w
  deadline: PT1S
  steps: [{parallel: {steps: [{operation: a}, {operation: b}, {operation: c, timing: {timeout: PT1S}}]}}]
operations: {a: {after: PT1S}, b: {after: PT1S}, c: {after: PT1S}}
expect: {run: completed, at: PT1S, steps: {c: completed}}
`)[0]
	for seed := range int64(20) {
		r := s.Run(scenario.Options{Seed: seed, Crash: true})
		require.True(t, r.Passed, r)
	}
}

func TestChildRunsAreNamedByThePathOfTheirSteps(t *testing.T) {
	dir := t.TempDir()
	write := func(file, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
		return filepath.Join(dir, file)
	}
	write("inner.yaml", "{kind: Workflow, name: inner, steps: [{operation: ask, input: '{{ input }}'}], output: '{{ steps.ask.output }}'}")
	write("middle.yaml", "{kind: Workflow, name: middle, operations: {inner: {workflow: {path: inner.yaml}}}, "+
		"steps: [{operation: inner, input: '{{ input }}'}], output: '{{ steps.inner.output }}'}")
	all, err := scenario.Load(write("test.yaml", `
kind: Scenario
name: nested
workflow:
  kind: Workflow
  name: outer
  operations: {middle: {workflow: {path: middle.yaml}}}
  steps: [{map: {id: m, over: [x, z], steps: [{operation: middle, input: "{{ item }}"}]}}]
  output: "{{ steps.m.output }}"
operations:
  ask: {after: PT1S, output: any}
  "middle[1]/inner/ask": {after: PT2S, output: own}
timeline:
  - {at: PT1S, expect: {steps: {"middle[0]/inner/ask": completed, "middle[1]/inner": running, "middle[1]/inner/ask": running}}}
expect: {run: completed, at: PT2S, output: [any, own], attempts: {"middle[1]/inner/ask": 1}}
---
kind: Scenario
name: scripted
workflow: middle.yaml
operations: {inner: {after: PT3S, output: scripted}}
expect: {run: completed, at: PT3S, output: scripted}
`))
	require.NoError(t, err)
	for _, s := range all {
		r := s.Run(scenario.Options{Crash: true})
		require.True(t, r.Passed, r)
	}
}

func TestAWorkflowThatStartsItselfEndsAtTheLimit(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "self.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
kind: Workflow
name: self
operations: {again: {workflow: {path: self.yaml}}}
steps: [{operation: again}]
---
kind: Scenario
name: self
workflow: self.yaml
expect: {run: failed, reason: child_failed}
`), 0o600))
	all, err := scenario.Load(file)
	require.NoError(t, err)
	r := all[0].Run(scenario.Options{})
	require.False(t, r.Passed, "a second document in the file")
	require.NoError(t, os.WriteFile(file, []byte(
		"{kind: Workflow, name: self, operations: {again: {workflow: {path: self.yaml}}}, steps: [{operation: again}]}"), 0o600))
	r = all[0].Run(scenario.Options{})
	require.True(t, r.Passed, r)
}

func TestAWorkflowBuiltInGoIsNamedInPlaceOfAFile(t *testing.T) {
	ask := operation.Define("ask", func(context.Context, any) (int, error) { panic("must not be called") })
	price := flow.Call("ask", ask, flow.Value[any](nil))
	cheap := flow.Func("cheap enough", func(n int) bool { return n < 10 }, price)
	w, err := flow.Define("built", price, flow.If(cheap, flow.Then(flow.Call("buy", ask, flow.Value[any](nil)))))
	require.NoError(t, err)
	s := load(t, `
kind: Scenario
name: built
workflow: built
operations: {ask: {after: PT1S, output: 9}, buy: {output: 1}}
expect: {run: completed, at: PT1S, steps: {buy: completed}, events: [branch.decided]}
`)[0]
	for range 2 {
		r := s.Run(scenario.Options{Crash: true, Workflows: map[string]*template.Workflow{"built": w}})
		require.True(t, r.Passed, r)
	}
	r := s.Run(scenario.Options{})
	require.False(t, r.Passed, "the file does not exist")
}

func TestAWorkflowBuiltInGoRunsTheWorkflowsItIncludes(t *testing.T) {
	ask := operation.Define("ask", func(context.Context, int) (int, error) { panic("must not be called") })
	double := flow.NewFunc("double", func(n int) int { return 2 * n })
	in := flow.Input[int]()
	asked := flow.Call("ask", ask, double.Of(in), flow.Retry(template.Retry{MaxAttempts: 2}))
	below := flow.MustNew("below", in, flow.Output(asked), asked)
	sub := flow.Sub("sub", below, in)
	w := flow.MustNew("built", in, flow.Output(sub), sub).Tree()
	all := load(t, `
kind: Scenario
name: the child is run
workflow: built
input: 3
operations: {sub/ask: [{after: PT1S, error: {code: busy, message: later, retryable: true}}, {after: PT1S, output: 9}]}
expect: {run: completed, at: PT2S, output: 9}
---
kind: Scenario
name: the child is scripted
workflow: built
operations: {sub: {after: PT1S, output: 8}}
expect: {run: completed, output: 8}
---
kind: Scenario
name: a name in a document
workflow: {kind: Workflow, name: w, operations: {below: {workflow: {name: below}}}, steps: [{operation: below}]}
operations: {}
expect: {run: completed}
`)
	options := scenario.Options{Crash: true, Workflows: map[string]*template.Workflow{"built": w}}
	for _, s := range all[:2] {
		r := s.Run(options)
		require.True(t, r.Passed, r)
	}
	r := all[2].Run(options)
	require.False(t, r.Passed)
	require.Contains(t, fmt.Sprint(r), "a scenario cannot find a workflow by its name")
}
