package template_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// requireRoundTrip checks that a workflow's document, written as JSON and read again, yields the same tree and identity.
func requireRoundTrip(t require.TestingT, w *template.Workflow) {
	text, err := json.Marshal(w)
	require.NoError(t, err)
	back, err := template.Parse("back.json", text)
	require.NoError(t, err, "%s", text)
	require.Equal(t, comparable(w), comparable(back), "%s", text)

	hash, err := w.Hash()
	require.NoError(t, err)
	again, err := back.Hash()
	require.NoError(t, err)
	require.Equal(t, hash, again)
}

// comparable returns the exported fields of a tree, without places, as generic values.
func comparable(v any) any { return exported(reflect.ValueOf(v)) }

func exported(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		inner := exported(v.Elem())
		if v.Kind() == reflect.Interface && v.Elem().Kind() == reflect.Pointer {
			return []any{v.Elem().Type().String(), inner} // the kind of the node
		}
		return inner
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			return at.UTC().Format(time.RFC3339Nano)
		}
		m := map[string]any{}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type != reflect.TypeFor[document.Pos]() {
				m[f.Name] = exported(v.Field(i))
			}
		}
		return m
	case reflect.Slice:
		list := []any{} // an empty list and nil are the same
		for i := range v.Len() {
			list = append(list, exported(v.Index(i)))
		}
		return list
	case reflect.Map:
		m := map[string]any{}
		for it := v.MapRange(); it.Next(); {
			m[it.Key().String()] = exported(it.Value())
		}
		return m
	default:
		return v.Interface()
	}
}

// everything uses every key of a Workflow document once, with values other than the defaults.
const everything = `
kind: Workflow
name: procure
version: "3"
input: {type: object, required: [lines]}
deadline: PT5M
failure_policy: abort-all
max_concurrency: 64
operations:
  order.split: {command: {argv: [jq, -c, .lines, 5], stdin: "{{ input }}", env: {A: "{{ run.id }}", N: 1}, dir: /tmp, output: json}}
  order.hash: {command: {shell: "sha256sum \"$FILE\"", env: {FILE: "{{ input }}"}}}
  rfq.solicit: {http: {method: PUT, url: "{{ participant.endpoint }}/quote", headers: {X-Try: "{{ attempt }}"}, body: {a: ["{{ input }}"]}, follow_redirects: any}}
  ping: {http: {url: "http://localhost"}}
  pause: {sleep: {for: "{{ input.delay }}"}}
  approval: {wait: {message: "approve-{{ run.id }}"}}
  child: {workflow: {path: child.yaml}}
  other: {workflow: {name: other}}
  constant: {value: {from: /input/x}}
  nothing: {value: null}
  broken: {fail: {code: broken, message: "{{ input }} is broken"}}
directory:
  participants: {provider-a: {endpoint: "http://127.0.0.1:9001"}, provider-b: null}
  capabilities:
    offer-catalog:
      - {participant: provider-a, valid_from: 2026-01-01T00:00:00+01:00, valid_until: 2027-01-01T00:00:00Z, attributes: {tier: 1}}
      - {participant: provider-b, revoked: true}
x-note: anything
steps:
  - operation: order.split
    id: split
    input: {lines: "{{ input.lines }}", who: {from: /input/who}}
    idempotent: false
    x-note: anything
  - parallel:
      max_concurrency: 2
      steps:
        - map:
            id: check
            over: "{{ steps.split.output }}"
            as: line
            max_concurrency: 8
            steps:
              - {operation: constant, id: screen, input: "{{ line }} {{ index }}"}
              - sequential: {steps: [{operation: order.hash, needs: [screen]}]}
        - map: {id: twice, func: {name: pairs, args: ["{{ steps.split.output }}", 2]}, steps: [{operation: ping, id: ping-one, func: {name: both, args: ["{{ item }}"]}}]}
        - {operation: pause}
  - operation: rfq.solicit
    id: solicit
    input: [1, 1.5, true, null, text]
    target: {resolve: capability, capability_id: offer-catalog, filter: {tier: 1}, limit: 8}
    fan_in: {policy: best_of, min_responses: 2, score_field: "$.offers[0].price", score_order: asc}
    timing:
      timeout: PT30S
      total_timeout: PT10M
      on_timeout: skip
      retry: {max_attempts: 3, backoff: PT0.5S, backoff_multiplier: 1.5, max_backoff: PT1M, jitter: 0.1, on: [busy], never: [denied], scope: all}
  - {operation: ping, target: {resolve: static, participants: [p1, p2]}, fan_in: {hedge_after: PT2S}}
  - {operation: ping, id: voted, target: {resolve: static, participants: [p1, p2]}, fan_in: {policy: quorum, min_responses: 2}}
  - {operation: ping, id: single, target: {resolve: task_type}}
  - conditional:
      id: decide
      test: "{{ steps.solicit.status == 'completed' }}"
      then:
        - operation: child
          id: contract
          fulfillment:
            policy: external_decision
            decision_source: {kind: capability, capability_id: verify, operation: other, input: {id: {from: /steps/contract/output/id}}, timing: {timeout: PT5S}}
            result_match: {path: /verification/status, fulfilled_values: [fulfilled, 1], not_fulfilled_values: [rejected]}
            on_not_fulfilled: pause
            on_error: retry
      else:
        - {operation: broken}
  - conditional: {func: {name: cheap enough, args: ["{{ steps.solicit.output }}"]}, then: [{operation: approval}]}
  - conditional: {test: decide, then: []}
output: {contract: "{{ steps.contract.output ?? null }}", all: {from: /steps/check/output}}
`

func TestEveryKeyOfADocumentIsRead(t *testing.T) {
	checked, err := template.Load("w.yaml", []byte(everything), template.Known{})
	require.NoError(t, err)
	requireRoundTrip(t, checked.Workflow)

	w := checked.Workflow
	require.Equal(t, template.AbortAll, w.FailurePolicy)
	require.Equal(t, []string{"jq", "-c", ".lines", "5"}, w.Operations["order.split"].Command.Argv)
	require.Equal(t, "POST", (&template.Workflow{Operations: map[string]template.Binding{"x": {HTTP: &template.HTTP{URL: "u", Body: 1}}}}).Completed().Operations["x"].HTTP.Method)
	require.Equal(t, time.Date(2025, 12, 31, 23, 0, 0, 0, time.UTC), w.Directory.Capabilities["offer-catalog"][0].ValidFrom)
	solicit := w.Steps[2].(*template.Step)
	require.Equal(t, "/offers/0/price", solicit.FanIn.ScoreField)
	require.Equal(t, []value.Value{int64(1), 1.5, true, nil, "text"}, solicit.Input)
	require.Equal(t, 500*time.Millisecond, solicit.Timing.Retry.Backoff)
	require.True(t, w.Steps[0].(*template.Step).NonIdempotent)
	require.Equal(t, document.Pos{File: "w.yaml", Line: 29, Col: 5, Path: "steps[0]"}, w.Steps[0].(*template.Step).Pos)
}

func TestTheHashIsOfWhatIsMeantNotOfHowItIsWritten(t *testing.T) {
	hash := func(text string) string {
		w, err := template.Parse("w.yaml", []byte(text))
		require.NoError(t, err)
		h, err := w.Hash()
		require.NoError(t, err)
		return h
	}
	plain := hash("kind: Workflow\nname: w\nsteps: [{operation: a, timing: {timeout: PT90S}}]\n")
	for _, same := range []string{
		"# a comment\nname: w\nkind: Workflow\nsteps:\n  - id: a\n    operation: a\n    timing:\n      timeout: PT1.5M\n",
		`{"name": "w", "kind": "Workflow", "failure_policy": "continue-running", "steps": [{"operation": "a", "idempotent": true, "needs": [], "timing": {"on_timeout": "fail", "timeout": "PT1M30S"}}]}`,
		"kind: Workflow\nname: w\nx-owner: ann\nsteps: [{operation: a, x-note: 1, timing: {timeout: PT90S}}]\n",
	} {
		require.Equal(t, plain, hash(same), same)
	}
	for _, other := range []string{
		"kind: Workflow\nname: w\nsteps: [{operation: a, timing: {timeout: PT91S}}]\n",
		"kind: Workflow\nname: w\nsteps: [{operation: a, id: b, timing: {timeout: PT90S}}]\n",
		"kind: Workflow\nname: w\nsteps: [{operation: a, timing: {timeout: PT90S}}]\noutput: null\n",
		"kind: Workflow\nname: w\nversion: \"2\"\nsteps: [{operation: a, timing: {timeout: PT90S}}]\n",
	} {
		require.NotEqual(t, plain, hash(other), other)
	}
}

func TestWhatNoDocumentCanHoldHasNoHash(t *testing.T) {
	w := &template.Workflow{Name: "w", Steps: []template.Node{&template.Step{Operation: "a", Input: func() {}}}}
	_, err := w.Hash()
	require.ErrorContains(t, err, `hash workflow "w"`)
	_, err = json.Marshal(w)
	require.ErrorContains(t, err, `encode workflow "w"`)
}

func TestUnmarshalReportsWhatTheReaderReports(t *testing.T) {
	var w template.Workflow
	require.ErrorContains(t, json.Unmarshal([]byte(`{"kind": "Workflow", "name": "w", "stepz": []}`), &w), `unknown key "stepz"`)
	require.NoError(t, json.Unmarshal([]byte(`{"kind": "Workflow", "name": "w", "steps": []}`), &w))
	require.Equal(t, "w", w.Name)
}

func TestAnyTreeIsReadBackFromItsDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := workflows().Draw(t, "w").Completed()
		requireRoundTrip(t, w)
	})
}

// workflows generates trees that a document can express, valid or not.
func workflows() *rapid.Generator[*template.Workflow] {
	return rapid.Custom(func(t *rapid.T) *template.Workflow {
		g := &generator{t}
		w := &template.Workflow{
			Name: g.word(), Version: g.optionalWord(), Deadline: g.duration(), MaxConcurrency: g.count(),
			FailurePolicy: template.FailurePolicy(g.optionalWord()), Steps: g.steps(3),
			Operations: rapid.MapOfN(g.words(), rapid.Custom(func(t *rapid.T) template.Binding { return (&generator{t}).binding() }), 0, 3).Draw(t, "operations"),
		}
		if w.HasOutput = g.bool(); w.HasOutput {
			w.Output = g.value()
		}
		if g.bool() {
			w.Input = map[string]any{"type": g.word()}
		}
		if g.bool() {
			w.Directory = g.directory()
		}
		return w
	})
}

type generator struct{ *rapid.T }

func (g *generator) words() *rapid.Generator[string] {
	return rapid.StringMatching(`[a-z][a-z0-9.-]{0,5}`)
}
func (g *generator) word() string { return g.words().Draw(g.T, "word") }
func (g *generator) optionalWord() string {
	return rapid.OneOf(rapid.Just(""), g.words()).Draw(g.T, "optional word")
}
func (g *generator) wordList() []string {
	return rapid.SliceOfN(g.words(), 0, 3).Draw(g.T, "words")
}
func (g *generator) bool() bool { return rapid.Bool().Draw(g.T, "bool") }
func (g *generator) count() int { return rapid.IntRange(0, 9).Draw(g.T, "count") }
func (g *generator) duration() time.Duration {
	return time.Duration(rapid.Int64Range(0, 1e15).Draw(g.T, "duration"))
}
func (g *generator) instant() time.Time {
	if g.bool() {
		return time.Time{}
	}
	return time.Unix(rapid.Int64Range(0, 4e9).Draw(g.T, "second"), rapid.Int64Range(0, 999999999).Draw(g.T, "nano")).UTC()
}

func (g *generator) value() value.Value {
	return rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Int64(), func(i int64) any { return i }),
		rapid.Map(rapid.StringMatching(`[ -~é]{0,10}`), func(s string) any { return s }),
		rapid.Map(rapid.SliceOfN(rapid.Int64(), 0, 2), func(l []int64) any {
			list := []any{}
			for _, i := range l {
				list = append(list, i)
			}
			return list
		}),
		rapid.Map(rapid.MapOfN(rapid.String(), rapid.Bool(), 0, 2), func(m map[string]bool) any {
			object := map[string]any{}
			for k, v := range m {
				object[k] = v
			}
			return object
		}),
	).Draw(g.T, "value")
}

func (g *generator) object() map[string]value.Value {
	m := map[string]value.Value{}
	for _, key := range g.wordList() {
		m[key] = g.value()
	}
	return m
}

func (g *generator) function() *template.Func {
	f := &template.Func{Name: g.word()}
	for range g.count() % 3 {
		f.Args = append(f.Args, g.value())
	}
	return f
}

func (g *generator) steps(depth int) []template.Node {
	steps := []template.Node{}
	for range rapid.IntRange(0, 3).Draw(g.T, "steps") {
		steps = append(steps, g.node(depth))
	}
	return steps
}

func (g *generator) node(depth int) template.Node {
	if depth == 0 {
		return g.step()
	}
	switch rapid.IntRange(0, 4).Draw(g.T, "node") {
	case 0:
		return &template.Sequential{Steps: g.steps(depth - 1)}
	case 1:
		return &template.Parallel{Steps: g.steps(depth - 1), MaxConcurrency: g.count()}
	case 2:
		c := &template.Conditional{ID: g.optionalWord(), Then: g.steps(depth - 1), Else: g.steps(depth - 1)}
		if g.bool() {
			c.Func = g.function()
		} else {
			c.Test = g.word()
		}
		return c
	case 3:
		m := &template.Map{ID: g.word(), As: g.optionalWord(), Steps: g.steps(depth - 1), MaxConcurrency: g.count()}
		if g.bool() {
			m.Func = g.function()
		} else {
			m.Over = g.value()
		}
		return m
	default:
		return g.step()
	}
}

func (g *generator) step() *template.Step {
	s := &template.Step{Operation: g.word(), ID: g.optionalWord(), Needs: g.wordList(), NonIdempotent: g.bool()}
	if g.bool() {
		s.Func = g.function()
	} else {
		s.Input = g.value()
	}
	if g.bool() {
		s.Target = &template.Target{Resolve: g.word(), Participants: g.wordList(), CapabilityID: g.optionalWord(), Filter: g.object(), Limit: g.count()}
	}
	if g.bool() {
		s.FanIn = &template.FanIn{
			Policy:     rapid.SampledFrom([]string{"", template.All, template.Quorum, template.BestOf}).Draw(g.T, "policy"),
			ScoreField: "/" + g.word(), HedgeAfter: g.duration(),
		}
		if s.FanIn.Policy != "" {
			s.FanIn.MinResponses = g.count()
		}
	}
	if g.bool() {
		s.Timing = g.timing()
	}
	if g.bool() {
		s.Fulfillment = g.fulfillment()
	}
	return s
}

func (g *generator) timing() *template.Timing {
	t := &template.Timing{Timeout: g.duration(), OnTimeout: template.OnTimeout(g.optionalWord()), TotalTimeout: g.duration()}
	if g.bool() {
		t.Retry = &template.Retry{
			MaxAttempts: 1 + g.count(), Backoff: g.duration(), Multiplier: rapid.Float64Range(0, 9).Draw(g.T, "multiplier"), MaxBackoff: g.duration(),
			Jitter: rapid.Float64Range(0, 1).Draw(g.T, "jitter"), On: g.wordList(), Never: g.wordList(), Scope: g.optionalWord(),
		}
	}
	return t
}

func (g *generator) fulfillment() *template.Fulfillment {
	f := &template.Fulfillment{Policy: g.word(), OnNotFulfilled: g.optionalWord(), OnError: g.optionalWord()}
	if g.bool() {
		f.Source = &template.DecisionSource{Kind: g.word(), CapabilityID: g.optionalWord(), Operation: g.optionalWord(), Input: g.value()}
		if g.bool() {
			f.Source.Timing = g.timing()
		}
	}
	if g.bool() {
		f.ResultMatch = &template.ResultMatch{Path: g.word(), FulfilledValues: []any{g.value()}}
	}
	return f
}

func (g *generator) directory() *template.Directory {
	d := &template.Directory{Participants: g.object(), Capabilities: map[string][]template.Passport{}}
	for _, id := range g.wordList() {
		d.Capabilities[id] = []template.Passport{{
			Participant: g.word(), ValidFrom: g.instant(), ValidUntil: g.instant(), Revoked: g.bool(), Attributes: g.object(),
		}}
	}
	return d
}

func (g *generator) binding() template.Binding {
	texts := map[string]string{}
	for _, key := range g.wordList() {
		texts[key] = g.word()
	}
	switch rapid.IntRange(0, 6).Draw(g.T, "binding") {
	case 0:
		return template.Binding{Command: &template.Command{Argv: g.wordList(), Shell: g.optionalWord(), Stdin: g.value(), Env: texts, Dir: g.optionalWord(), Output: g.optionalWord()}}
	case 1:
		return template.Binding{HTTP: &template.HTTP{Method: g.optionalWord(), URL: g.word(), Headers: texts, Body: g.value()}}
	case 2:
		return template.Binding{Sleep: &template.Sleep{For: g.word()}}
	case 3:
		return template.Binding{Wait: &template.Wait{Message: g.word()}}
	case 4:
		return template.Binding{Workflow: &template.Child{Path: g.optionalWord(), Name: g.optionalWord()}}
	case 5:
		return template.Binding{Value: &template.Constant{Value: g.value()}}
	default:
		return template.Binding{Fail: &template.Fail{Code: g.word(), Message: g.optionalWord()}}
	}
}

func ExampleWorkflow_MarshalJSON() {
	w := &template.Workflow{Name: "greet", Steps: []template.Node{
		&template.Step{Operation: "ask", Timing: &template.Timing{Timeout: 90 * time.Second, Retry: &template.Retry{MaxAttempts: 3}}},
		&template.Step{Operation: "greet", Input: "Hello {{ steps.ask.output.name }}"},
	}}
	text, _ := json.MarshalIndent(w, "", "  ")
	fmt.Println(strings.TrimSpace(string(text)))
	// Output:
	// {
	//   "kind": "Workflow",
	//   "name": "greet",
	//   "steps": [
	//     {
	//       "operation": "ask",
	//       "timing": {
	//         "retry": {
	//           "max_attempts": 3
	//         },
	//         "timeout": "PT1M30S"
	//       }
	//     },
	//     {
	//       "input": "Hello {{ steps.ask.output.name }}",
	//       "operation": "greet"
	//     }
	//   ]
	// }
}
