package explore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator/explore"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

func compile(t require.TestingT, text string) *plan.Plan {
	c, err := kinds.Load("test.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(t, err)
	p, err := plan.Compile(c)
	require.NoError(t, err)
	return p
}

func explored(t require.TestingT, text string, o explore.Options) *explore.Report {
	r, err := explore.Run(compile(t, text), o)
	require.NoError(t, err)
	return r
}

const head = "apiVersion: sluice/v1\nkind: Playbook\nmetadata: {name: p}\n"

// Each document has one fault, which is found with a shortest trace.
func TestWhatIsPlantedIsFound(t *testing.T) {
	tests := []struct {
		name, text string
		options    explore.Options
		kind, step string
		says       string
		trace      []string
	}{{
		name: "a dead end: a gate on what never changes",
		text: head + `
workflow:
  - step: work
    tool: {kind: call}
    next: {arcs: [{step: gate, when: '{{ event.name == "step.failed" }}', args: {n: 1}}]}
  - step: gate
    spec: {policy: {admit: {rules: [{when: "{{ args.n > 1 }}", then: {allow: true}}]}}}
    tool: {kind: noop}
`, kind: explore.NeverEnds, step: "gate", says: "which nothing opens", trace: []string{"work@1.work_task fails"},
	}, {
		name: "a gate that nobody opens",
		text: head + `
workflow:
  - {step: a, tool: {kind: noop}, next: {arcs: [{step: b}]}}
  - step: b
    spec: {policy: {admit: {rules: [{when: "{{ ctx.one == true && ctx.one == false }}", then: {allow: true}}]}}}
    tool: {kind: noop}
`, kind: explore.NeverEnds, step: "b", says: "a token waits at the gate of step b", trace: []string{},
	}, {
		name: "a gate that every run comes to and nobody opens",
		text: head + `
workflow:
  - {step: a, tool: {kind: call}, next: {arcs: [{step: b, args: {n: 1}}]}}
  - {step: b, spec: {policy: {admit: {rules: [{when: "{{ args.n == 2 }}", then: {allow: true}}]}}}, tool: {kind: noop}}
`, kind: explore.NeverEnds, step: "b", says: "a token waits at the gate of step b", trace: []string{},
	}, {
		name: "a step that never runs",
		text: `{kind: Workflow, name: w, steps: [{operation: a}, {conditional: {test: "{{ steps.a.status == 'skipped' }}", then: [{operation: b}]}}]}`,
		kind: explore.NeverRuns, step: "b",
	}, {
		name: "a final step that runs twice",
		text: head + `
executor: {spec: {final_step: sum}}
workflow:
  - step: a
    tool: {kind: call}
    next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: c, when: '{{ event.result.big == true }}'}]}
  - {step: b, tool: {kind: call}, next: {arcs: [{step: sum, when: '{{ event.name == "step.done" }}'}]}}
  - {step: c, tool: {kind: noop}, next: {arcs: [{step: sum}]}}
  - {step: sum, tool: {kind: noop}}
`, kind: explore.FinalTwice, step: "sum", trace: []string{`a@1.a_task answers {"big":true}`, "b@1.b_task answers"},
	}, {
		name: "a broken invariant",
		text: `
kind: Workflow
name: w
steps:
  - operation: price
  - conditional:
      test: "{{ steps.price.output.n < 10 }}"
      then: [{operation: pay, id: cheap}]
      else: [{operation: ship}]
`, options: explore.Options{Never: []string{`{{ steps.ship.status == "completed" && steps.cheap.status != "completed" }}`}},
		kind: explore.NeverHolds, says: "steps.ship.status", trace: []string{`price answers {"n":10}`, "ship answers"},
	}, {
		name:    "a broken invariant, without what happens beside it",
		text:    "{kind: Workflow, name: w, steps: [{parallel: {steps: [{operation: a}, {operation: b}, {operation: c}]}}]}",
		options: explore.Options{Never: []string{`{{ steps.c.status == "completed" }}`}},
		kind:    explore.NeverHolds, says: "steps.c.status", trace: []string{"c answers"},
	}, {
		name: "a broken invariant of a playbook",
		text: head + `
workflow:
  - {step: a, tool: {kind: call}, next: {arcs: [{step: a, when: '{{ event.name == "step.failed" }}'}, {step: b}]}}
  - {step: b, tool: {kind: noop}}
`, options: explore.Options{Never: []string{`{{ runs.a > 2 }}`}, DepthMax: 5},
		kind: explore.NeverHolds, trace: []string{"a@1.a_task fails", "a@2.a_task fails"},
	}, {
		name: "what only the results of earlier tasks tell",
		text: head + `
workflow:
  - step: a
    tool:
      - {name: p, kind: call, spec: {policy: {rules: [{else: {then: {do: continue}}}]}}}
      - {name: q, kind: call, spec: {policy: {rules: [{when: '{{ !("p" in results) }}', then: {do: continue, set_ctx: {bad: true}}}, {else: {then: {do: continue}}}]}}}
`, options: explore.Options{Never: []string{"{{ ctx.bad == true }}"}, Outputs: map[string][]value.Value{"a.p": {nil}}},
		kind: explore.NeverHolds, trace: []string{"a@1.p fails", "a@1.q answers"},
	}, {
		name: "what only the final step is told",
		text: head + `
executor: {spec: {final_step: sum}}
workflow:
  - step: a
    tool: {kind: call}
    next: {arcs: [{step: a, when: '{{ event.name != "" && len(args.n ?? []) < 2 }}', args: {n: "{{ concat(args.n ?? [], [1]) }}"}}]}
  - {step: sum, tool: {kind: noop}, set: {ctx.bad: "{{ args.counts.failed == 2 && args.counts.branches.failed == 0 }}"}}
`, options: explore.Options{Never: []string{"{{ ctx.bad == true }}"}, Outputs: map[string][]value.Value{"a": {nil}}},
		kind: explore.NeverHolds, trace: []string{"a@1.a_task fails", "a@2.a_task fails", "a@3.a_task answers"},
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := explored(t, tt.text, tt.options)
			var found []explore.Finding
			for _, f := range r.Findings {
				if f.Kind == tt.kind {
					found = append(found, f)
				}
			}
			require.Len(t, found, 1, "%+v", r)
			require.Equal(t, tt.step, found[0].Step)
			require.Contains(t, found[0].Text, tt.says)
			require.Equal(t, tt.trace, found[0].Trace)
		})
	}
}

func TestWhatIsInOrderPasses(t *testing.T) {
	for name, text := range map[string]string{
		"a wait that a message ends": `{kind: Workflow, name: w, operations: {m: {wait: {message: go}}}, steps: [{operation: m}, {operation: a}]}`,
		"a person's decision":        `{kind: Workflow, name: w, steps: [{operation: a, fulfillment: {policy: never}}, {operation: b}]}`,
		"retries and timeouts":       `{kind: Workflow, name: w, steps: [{operation: a, timing: {timeout: PT1S, retry: {max_attempts: 3, backoff: PT1M}}}, {operation: b}]}`,
		"a gate that a patch opens":  head + "workflow:\n  - {step: a, spec: {policy: {admit: {rules: [{when: '{{ ctx.by == \"ann\" }}', then: {allow: true}}]}}}, tool: {kind: call}}",
		"a map":                      `{kind: Workflow, name: w, steps: [{operation: a}, {map: {id: m, over: "{{ steps.a.output }}", steps: [{operation: b}]}}]}`,
		"a quorum":                   `{kind: Workflow, name: w, steps: [{operation: a, target: {resolve: static, participants: [p, q, r]}, fan_in: {policy: quorum, min_responses: 2}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := explored(t, text, explore.Options{})
			require.Empty(t, r.Findings)
			require.True(t, r.Complete)
			require.Contains(t, r.Ends, "completed")
		})
	}
}

// The exploration guesses the answer of a step that leads to success, in all forms in which a document can test for it.
func TestAnswersAreGuessedFromWhatIsReadOfThem(t *testing.T) {
	const jinja = "apiVersion: noetl.io/v10\nkind: Playbook\nmetadata: {name: p}\n"
	workflow := func(text string) string { return "{kind: Workflow, name: w, steps: [" + text + "]}" }
	playbook := func(a, more string) string {
		return head + "workflow:\n  - {step: a, tool: {kind: call}, " + a + "}\n" + more + "  - {step: good, tool: {kind: noop}}\n"
	}
	for name, text := range map[string]string{
		"a field beside something else":      playbook(`set: {ctx.n: 1}, next: {arcs: [{step: good, when: "{{ event.result.ok and ctx.n == 1 }}"}]}`, ""),
		"a message":                          head + "workflow:\n  - {step: a, tool: {kind: wait, message: m}, next: {arcs: [{step: good, when: '{{ event.result.ok }}'}]}}\n  - {step: good, tool: {kind: noop}}\n",
		"by way of args":                     playbook(`next: {arcs: [{step: b, args: {seen: {it: "{{ event.result }}"}}}]}`, `  - {step: b, tool: {kind: noop}, next: {arcs: [{step: good, when: "{{ args.seen.it.size > 100 }}"}]}}`+"\n"),
		"by way of the context":              playbook(`set: {ctx.it: "{{ outcome.result ?? {} }}"}, next: {arcs: [{step: b}]}`, `  - {step: b, tool: {kind: noop}, next: {arcs: [{step: good, when: "{{ ctx.it?.word == 'yes' }}"}]}}`+"\n"),
		"a list to go through":               playbook(`next: {arcs: [{step: b, args: {all: "{{ event.result.items }}"}}]}`, `  - {step: b, loop: {in: "{{ args.all }}", iterator: x}, tool: {kind: noop, spec: {policy: {rules: [{when: "{{ iter.x.price < 10 }}", then: {do: continue}}, {else: {then: {do: fail}}}]}}}, next: {arcs: [{step: good, when: '{{ event.name == "loop.done" }}'}]}}`+"\n"),
		"a length":                           playbook(`next: {arcs: [{step: good, when: "{{ len(event.result.items) == 3 }}"}]}`, ""),
		"one of several":                     playbook(`next: {arcs: [{step: good, when: "{{ event.result.kind in ['p', 'q'] and not event.result.bad }}"}]}`, ""),
		"every element":                      playbook(`next: {arcs: [{step: good, when: "{{ any(event.result.items, .ok) }}"}]}`, ""),
		"a part of a text":                   playbook(`next: {arcs: [{step: good, when: "{{ event.result.name startsWith 'ok:' }}"}]}`, ""),
		"two conditions at once":             playbook(`next: {arcs: [{step: good, when: "{{ event.result.a > 5 and event.result.b == 'x' }}"}]}`, ""),
		"a sum":                              playbook(`next: {arcs: [{step: good, when: "{{ event.result.n + 1 > ctx.least ?? 0 }}"}]}`, ""),
		"a kind of error":                    playbook(`next: {arcs: [{step: good, when: "{{ event.name == 'step.failed' and event.error.kind == 'busy' }}"}]}`, ""),
		"a status that is an error":          head + "workflow:\n  - {step: a, tool: {kind: http, url: 'http://x', spec: {policy: {rules: [{when: '{{ outcome.status == \"error\" and outcome.http.status == 404 }}', then: {do: continue, set_ctx: {gone: true}}}]}}}, next: {arcs: [{step: good, when: '{{ ctx.gone == true }}'}]}}\n  - {step: good, tool: {kind: noop}}\n",
		"a status that is none":              head + "workflow:\n  - {step: a, tool: {kind: http, url: 'http://x', spec: {policy: {rules: [{when: '{{ outcome.http.status == 200 }}', then: {do: continue}}, {else: {then: {do: fail}}}]}}}, next: {arcs: [{step: good, when: '{{ event.name == \"step.done\" }}'}]}}\n  - {step: good, tool: {kind: noop}}\n",
		"a gate on a field":                  playbook(`next: {arcs: [{step: b}]}`, `  - {step: b, spec: {policy: {admit: {rules: [{when: "{{ ctx.stock.count >= 3 }}", then: {allow: true}}]}}}, tool: {kind: noop}, next: {arcs: [{step: good}]}}`+"\n"),
		"a gate on the event":                playbook(`next: {arcs: [{step: b}]}`, `  - {step: b, spec: {policy: {admit: {on_deny: discard, rules: [{when: "{{ event.result.ok == true }}", then: {allow: true}}]}}}, tool: {kind: noop}, next: {arcs: [{step: good}]}}`+"\n"),
		"Jinja: by the step's name":          jinja + "workflow:\n  - {step: a, tool: {kind: call}, next: {arcs: [{step: b}]}}\n  - {step: b, tool: {kind: noop}, next: {arcs: [{step: good, when: '{{ 2 < a.data.n <= 4 and a.word | length > 1 }}'}]}}\n  - {step: good, tool: {kind: noop}}\n",
		"Jinja: a gate without a prefix":     jinja + "workflow:\n  - {step: a, tool: {kind: noop}, next: {arcs: [{step: b}]}}\n  - {step: b, spec: {policy: {admit: {rules: [{when: '{{ approved == 7 }}', then: {allow: true}}]}}}, tool: {kind: noop}, next: {arcs: [{step: good}]}}\n  - {step: good, tool: {kind: noop}}\n",
		"Jinja: what was set, by its name":   jinja + "workflow:\n  - {step: a, tool: {kind: call}, set: {n: '{{ a.n }}'}, next: {arcs: [{step: good, when: '{{ n > 5 }}'}]}}\n  - {step: good, tool: {kind: noop}}\n",
		"Jinja: what a tool sets":            jinja + "workflow:\n  - {step: a, tool: {kind: call, set: {ctx.n: '{{ output.data.n }}'}}, next: {arcs: [{step: good, when: '{{ n > 5 }}'}]}}\n  - {step: good, tool: {kind: noop}}\n",
		"Jinja: the loop's variable by name": jinja + "workflow:\n  - {step: a, tool: {kind: call}, next: {arcs: [{step: b}]}}\n  - {step: b, loop: {in: '{{ a.items }}', iterator: x}, tool: {kind: noop, spec: {policy: {rules: [{when: '{{ x.price < 10 }}', then: {do: continue}}, {else: {then: {do: fail}}}]}}}, next: {arcs: [{step: good, when: '{{ event.name == \"loop.done\" }}'}]}}\n  - {step: good, tool: {kind: noop}}\n",
		"Jinja: args by their names":         jinja + "workflow:\n  - {step: a, tool: {kind: call}, next: {arcs: [{step: b, args: {n: '{{ a.n }}'}}]}}\n  - {step: b, tool: {kind: noop}, next: {arcs: [{step: good, when: '{{ n > 5 }}'}]}}\n  - {step: good, tool: {kind: noop}}\n",
		"Jinja: with a default":              jinja + "workflow:\n  - {step: a, tool: {kind: call}, next: {arcs: [{step: good, when: '{{ (event.result.n | default(0)) > 7 }}'}]}}\n  - {step: good, tool: {kind: noop}}\n",
		"a workflow's conditional":           workflow(`{operation: a}, {conditional: {test: "{{ steps.a.output.x.y == 2 }}", then: [{operation: good}]}}`),
		"the input, by its schema":           `{kind: Workflow, name: w, input: {type: object, required: [n, tags], properties: {n: {type: integer}, tags: {type: array, items: {type: string}}}}, steps: [{conditional: {test: "{{ input.n > 9 and len(input.tags) > 0 }}", then: [{operation: good}]}}]}`,
		"the input of a binding":             `{kind: Workflow, name: w, operations: {good: {value: "{{ input.x + 1 }}"}}, steps: [{operation: good, input: {x: "{{ input.deep.x }}"}}]}`,
		"an error that may not be there":     workflow(`{operation: a}, {conditional: {test: "{{ steps.a.error.code == 'declined' }}", then: [{operation: good}]}}`),
		"the code of an error":               workflow(`{operation: a}, {conditional: {test: "{{ steps.a.error?.code == 'declined' }}", then: [{operation: good}]}}`),
		"its own fulfillment":                workflow(`{operation: a, fulfillment: {policy: output_match, result_match: {path: /state, fulfilled_values: [done], not_fulfilled_values: [lost]}}}, {operation: good}`),
		"a decision in an envelope":          workflow(`{operation: a, fulfillment: {policy: external_decision, decision_source: {kind: capability, capability_id: judge}}}, {operation: good}`),
		"who holds a capability":             workflow(`{operation: a, target: {resolve: capability, capability_id: c}, fan_in: {policy: best_of, score_field: /price}, timing: {timeout: PT1M}}, {operation: good}`),
		"a summary of what came before":      head + "executor: {spec: {final_step: good}}\nworkflow:\n  - {step: a, tool: {kind: call}}\n  - {step: good, tool: {kind: call, input: {first: '{{ args.results[0].step }}'}}}\n",
		"Jinja: a text in other words":       jinja + "workflow:\n  - {step: a, tool: {kind: call}, next: {arcs: [{step: good, when: \"{{ event.result.up | string | lower == 'true' }}\"}]}}\n  - {step: good, tool: {kind: noop}}\n",
		"an item of a map":                   workflow(`{operation: a}, {map: {id: m, over: "{{ steps.a.output.list }}", steps: [{conditional: {test: "{{ item.ok }}", then: [{operation: good}]}}]}}`),
	} {
		t.Run(name, func(t *testing.T) {
			r := explored(t, text, explore.Options{})
			require.True(t, r.Complete)
			for _, f := range r.Findings {
				require.NotEqual(t, explore.NeverRuns, f.Kind, "%+v", f)
			}
			require.Contains(t, r.Ends, "completed")
		})
	}
}

func TestTheExamplesPass(t *testing.T) {
	for _, name := range []string{"archive/archive.yaml", "fetch/playbook.yaml", "procure/procure.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../examples", name))
		require.NoError(t, err)
		r := explored(t, string(text), explore.Options{StatesMax: 2000})
		require.Empty(t, r.Findings, name)
		require.Contains(t, r.Ends, "completed", name)
	}
}

// Twelve steps are explored completely, even in parallel; a larger exploration ends at the bound and reports that.
func TestTwelveStepsAreExplored(t *testing.T) {
	steps := func(timing string) (list []string) {
		for i := range 12 {
			list = append(list, fmt.Sprintf("{operation: a, id: s%d%s}", i, fmt.Sprintf(timing, i/3+1)))
		}
		return list
	}
	parallel := func(list []string) string { return "{parallel: {steps: [" + strings.Join(list, ", ") + "]}}" }
	workflow := func(list ...string) string {
		return "{kind: Workflow, name: w, steps: [" + strings.Join(list, ", ") + "]}"
	}
	r := explored(t, workflow(parallel(steps("%.0d"))), explore.Options{})
	require.True(t, r.Complete)
	require.Empty(t, r.Findings)
	require.Less(t, r.States, 9_000, "two outcomes each: 8,191 and the start")

	timed := steps(", timing: {timeout: PT%dS, retry: {max_attempts: 2}}")
	r = explored(t, workflow(parallel(timed[:3]), parallel(timed[3:6]), parallel(timed[6:9]), parallel(timed[9:])), explore.Options{})
	require.True(t, r.Complete)
	require.Empty(t, r.Findings)
	require.Less(t, r.States, 7_000)
	require.Less(t, explored(t, workflow(timed...), explore.Options{}).States, 200)

	r = explored(t, workflow(parallel(timed)), explore.Options{StatesMax: 5_000})
	require.False(t, r.Complete)
	require.Empty(t, r.Findings)
}

func TestABoundThatWasMetIsAdmitted(t *testing.T) {
	text := head + "workflow:\n  - {step: a, tool: {kind: call}, next: {arcs: [{step: a}]}}\n  - {step: never, tool: {kind: noop}}"
	r := explored(t, text, explore.Options{DepthMax: 4})
	require.False(t, r.Complete)
	require.Empty(t, r.Findings, "what was not seen may still come")
	r = explored(t, text, explore.Options{StatesMax: 3})
	require.False(t, r.Complete)
}

func TestGivenOutputsReplaceGuesses(t *testing.T) {
	text := `{kind: Workflow, name: w, steps: [{operation: a}, {conditional: {test: "{{ steps.a.output.kind == 'x' }}", then: [{operation: b}], else: [{operation: c}]}}]}`
	require.Empty(t, explored(t, text, explore.Options{}).Findings)
	r := explored(t, text, explore.Options{Outputs: map[string][]value.Value{"a": {map[string]any{"kind": "y"}}}})
	require.Equal(t, []explore.Finding{{Kind: explore.NeverRuns, Step: "b", Text: "step b never runs"}}, r.Findings)
	_, err := explore.Run(compile(t, text), explore.Options{Outputs: map[string][]value.Value{"bb": {nil}}})
	require.EqualError(t, err, `answer: unknown step "bb" (did you mean "b"?)`)
	_, err = explore.Run(compile(t, text), explore.Options{Never: []string{"{{ nobody }}"}})
	require.ErrorContains(t, err, `unknown name "nobody"`)
}

// Taking one of several independent calls first loses nothing: the findings, and the ends of runs, are the same in all orders.
func TestTheOrderOfIndependentCallsMakesNoDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "steps")
		var steps []string
		for i := range n {
			step := fmt.Sprintf("{operation: a, id: s%d", i)
			if i > 0 && rapid.Bool().Draw(t, "needs") {
				step += fmt.Sprintf(", needs: [s%d]", rapid.IntRange(0, i-1).Draw(t, "on"))
			}
			if rapid.Bool().Draw(t, "timed") {
				step += fmt.Sprintf(", timing: {timeout: PT%dS, on_timeout: %s, retry: {max_attempts: %d}}", rapid.IntRange(1, 2).Draw(t, "timeout"),
					rapid.SampledFrom([]string{"fail", "skip"}).Draw(t, "then"), rapid.IntRange(1, 2).Draw(t, "attempts"))
			}
			steps = append(steps, step+"}")
		}
		text := "kind: Workflow\nname: w\nsteps:\n  - parallel: {steps: [" + strings.Join(steps, ", ") + "]}\n"
		if rapid.Bool().Draw(t, "catch") {
			status := func(name string) string {
				return rapid.SampledFrom([]string{"completed", "failed", "skipped", "aborted"}).Draw(t, name)
			}
			text += fmt.Sprintf("  - {conditional: {test: \"{{ steps.s0.status == '%s' && steps.s%d.status == '%s' }}\", then: [{operation: mend}], else: [{operation: go}]}}\n",
				status("first"), n-1, status("last"))
		}
		all := explored(t, text, explore.Options{AllOrders: true})
		some := explored(t, text, explore.Options{})
		require.Equal(t, kindsOf(all), kindsOf(some), text)
		require.Equal(t, all.Ends, some.Ends, text)
		require.LessOrEqual(t, some.States, all.States)
	})
}

func kindsOf(r *explore.Report) (list []string) {
	for _, f := range r.Findings {
		list = append(list, f.Kind+" "+f.Step)
	}
	return list
}

func ExampleRun() {
	checked, err := kinds.Load("order.yaml", []byte(`
kind: Workflow
name: order
steps:
  - operation: pay
  - conditional:
      test: "{{ steps.pay.output.paid == true }}"
      then: [{operation: ship}]
`), template.Known{Lenient: true})
	if err != nil {
		panic(err)
	}
	p, err := plan.Compile(checked)
	if err != nil {
		panic(err)
	}
	report, err := explore.Run(p, explore.Options{Never: []string{`{{ run.status == "completed" && steps.ship.status == "skipped" }}`}})
	if err != nil {
		panic(err)
	}
	for _, f := range report.Findings {
		fmt.Println(f.Kind, f.Trace)
	}
	// Output: never_holds [pay answers {"paid":false}]
}

func BenchmarkRun(b *testing.B) {
	var steps []string
	for i := range 12 {
		steps = append(steps, fmt.Sprintf("{operation: a, id: s%d}", i))
	}
	p := compile(b, "{kind: Workflow, name: w, steps: [{parallel: {steps: ["+strings.Join(steps, ", ")+"]}}]}")
	states := 0
	for b.Loop() {
		r, err := explore.Run(p, explore.Options{})
		require.NoError(b, err)
		states = r.States
	}
	b.ReportMetric(float64(states)*float64(b.N)/b.Elapsed().Seconds(), "states/s")
}

// An order that makes no difference to the end of a run may make one to a condition, or decide which of two calls times out.
func TestOrdersThatMatterAreAllTaken(t *testing.T) {
	two := `{kind: Workflow, name: w, steps: [{parallel: {steps: [{operation: a}, {operation: b}]}}]}`
	r := explored(t, two, explore.Options{Never: []string{`{{ steps.b.status == "completed" && steps.a.status == "running" }}`}})
	require.Equal(t, []string{explore.NeverHolds + " "}, kindsOf(r))
	require.Equal(t, []string{"b answers"}, r.Findings[0].Trace)

	timed := `
kind: Workflow
name: w
steps:
  - parallel:
      steps:
        - {operation: a, timing: {timeout: PT1S, on_timeout: skip}}
        - {operation: b, timing: {timeout: PT1S, on_timeout: skip}}
  - conditional: {test: "{{ steps.a.status == 'skipped' && steps.b.status == 'completed' }}", then: [{operation: c}]}
`
	require.Empty(t, explored(t, timed, explore.Options{}).Findings, "b may answer before the time of both is over")

	named := `{kind: Workflow, name: w, steps: [{parallel: {steps: [{operation: a}, {sequential: {steps: [{operation: b}, {operation: c, timing: {timeout: PT1S}}]}}]}}]}`
	require.Equal(t, []string{"completed", "failed", "step_timeout"}, explored(t, named, explore.Options{}).Ends, "the first failure names the run")
}

// States are merged only if they do not differ in any value that an expression can still read.
func TestStatesThatDifferInWhatIsReadLaterAreTwo(t *testing.T) {
	tests := map[string]string{
		"the input of a step-run": `
workflow:
  - step: a
    input: {k: "{{ ctx.k }}"}
    spec: {policy: {admit: {rules: [{when: "{{ ctx.k == 1 || ctx.k == 2 }}", then: {allow: true}}]}}}
    tool:
      - {name: t1, kind: call, spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {k: 0}}}}]}}}
      - {name: t2, kind: call}
    next: {arcs: [{step: b, when: '{{ event.name == "step.failed" }}'}, {step: b, when: "{{ input.k == 1 }}"}, {step: c}]}
  - {step: b, tool: {kind: noop}}
  - {step: c, tool: {kind: noop}}
`,
		"what a final step is told": `
executor: {spec: {final_step: last}}
workflow:
  - {step: a, tool: {kind: noop}, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: c}]}}
  - {step: b, tool: {kind: call}, next: {arcs: [{step: d, when: '{{ event.name == "step.failed" }}'}]}}
  - {step: c, tool: {kind: call}, next: {arcs: [{step: d, when: '{{ event.name == "step.failed" }}'}]}}
  - {step: d, spec: {join: {mode: all}}, tool: {kind: call}}
  - step: last
    tool:
      - {name: t, kind: noop, spec: {policy: {rules: [{when: "{{ len(args.failures) > 1 && args.failures[0].step == 'c' && args.failures[1].step == 'b' }}", then: {do: fail}}]}}}
`,
	}
	want := map[string][]string{"the input of a step-run": {"{{ runs.c > 0 }}"}, "what a final step is told": {"{{ steps.last.status == 'failed' }}"}}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			r := explored(t, head+body, explore.Options{Never: want[name]})
			require.Equal(t, []string{explore.NeverHolds + " "}, kindsOf(r))
		})
	}
}
