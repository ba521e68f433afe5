package coordinator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// once returns a playbook of one step with that pipeline, whose rules can set variables of ctx.
func once(pipeline string) string { return "workflow:\n  - step: s\n    tool:\n" + pipeline }

// keep returns a rule that always continues, and sets a variable of ctx.
func keep(key, expression string) string {
	return fmt.Sprintf("spec: {policy: {rules: [{else: {then: {do: continue, set_ctx: {%s: %q}}}}]}}", key, expression)
}

// contextOf runs a playbook and returns its ctx, which is the output of the final step.
func contextOf(t *testing.T, e *coordinator.Engine, text string, input any) map[string]any {
	text = "executor: {spec: {final_step: tell}}\n" + text + "\n  - {step: tell, tool: {kind: echo, input: \"{{ ctx }}\"}}\n"
	result := wait(t, begin(t, e, text, input))
	require.NoError(t, result.Err())
	return result.Output.(map[string]any)
}

func TestAnHTTPTool(t *testing.T) {
	var busy atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		var body any
		_ = json.NewDecoder(r.Body).Decode(&body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Seen", "yes")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"method": r.Method, "query": r.URL.RawQuery, "x": r.Header.Get("X-A"), "body": body, "key": r.Header.Get("Idempotency-Key"),
		})
	})
	mux.HandleFunc("/busy", func(w http.ResponseWriter, _ *http.Request) {
		if busy.Add(1) < 3 {
			w.Header().Set("Retry-After", "0")
			http.Error(w, "slow down", http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, "at last")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	got := contextOf(t, e, once(`
      - name: post
        kind: http
        method: POST
        url: "{{ workload.url }}/echo"
        params: {page: "{{ workload.n }}", q: "a b"}
        headers: {X-A: "n={{ workload.n }}"}
        payload: {list: "{{ [workload.n, 2] }}"}
        `+keep("post", "{{ {result: outcome.result, status: outcome.http.status, seen: outcome.http.headers['x-seen'], ok: outcome.status} }}")+`
      - name: busy
        kind: http
        url: "{{ workload.url }}/busy"
        spec:
          policy:
            rules:
              - {when: '{{ outcome.http.status == 429 && outcome.error.retryable }}', then: {do: retry, attempts: 5, delay: 0.001}}
              - {else: {then: {do: continue, set_ctx: {busy: "{{ [outcome.result, _attempt] }}"}}}}
      - name: lost
        kind: http
        url: "{{ workload.url }}/nowhere"
        `+keep("lost", "{{ [outcome.status, outcome.http.status, outcome.error.code, outcome.error.retryable, outcome.result] }}")+`
      - name: dead
        kind: http
        url: "http://127.0.0.1:1/"
        `+keep("dead", "{{ [outcome.http.status, outcome.error.code, outcome.error.retryable] }}")),
		map[string]any{"url": server.URL, "n": 7})
	post := got["post"].(map[string]any)
	require.Regexp(t, `/s@1\.post$`, post["result"].(map[string]any)["key"])
	delete(post["result"].(map[string]any), "key")
	require.Equal(t, map[string]any{
		"post": map[string]any{
			"result": map[string]any{"method": "POST", "query": "page=7&q=a+b", "x": "n=7", "body": map[string]any{"list": []any{int64(7), int64(2)}}},
			"status": int64(201), "seen": "yes", "ok": "ok",
		},
		"busy": []any{"at last", int64(3)},
		"lost": []any{"error", int64(404), "http_404", false, nil},
		"dead": []any{nil, "transport", true},
	}, got)
}

func TestToolsThatRunPrograms(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	got := contextOf(t, e, once(`
      - {name: argv, kind: command, argv: [printf, "%s", "{{ workload.text }}"], `+keep("argv", "{{ outcome.result.stdout }}")+`}
      - {name: shell, kind: shell, shell: 'tr a-z A-Z; echo "$WHO"', stdin: "{{ workload.text }}", env: {WHO: "{{ workload.text }}!"}, output: lines, `+keep("shell", "{{ outcome.result }}")+`}
      - {name: fails, kind: command, argv: [sh, -c, "echo why >&2; exit 3"], `+keep("fails", "{{ [outcome.error.code, outcome.error.retryable, outcome.error.message] }}")+`}`),
		map[string]any{"text": `a "b" $c`})
	require.Equal(t, `a "b" $c`, got["argv"])
	require.Equal(t, []any{`A "B" $Ca "b" $c!`}, got["shell"])
	require.Equal(t, []any{"exit", true, "exit status 3: why"}, got["fails"])
}

func TestToolsThatTheEngineCarriesOutItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
		began := time.Now()
		r := begin(t, e, once(`
      - {name: rest, kind: sleep, for: "PT{{ workload.hours }}H"}
      - {name: hear, kind: wait, message: "for {{ execution_id }}"}
      - {name: say, kind: echo, input: {heard: "{{ _prev.n }}", rested: "{{ results.rest }}"}}`),
			map[string]any{"hours": 5}, coordinator.WithID("r"))
		s := until(t, r, reactive.RunWaiting)
		require.Equal(t, "s@1.rest", s.Steps[1].Step)
		time.Sleep(6 * time.Hour)
		require.NoError(t, r.Send(t.Context(), "for r", map[string]any{"n": 3}))
		result := wait(t, r)
		require.NoError(t, result.Err())
		require.Equal(t, map[string]any{"heard": int64(3), "rested": nil}, result.Output)
		require.Equal(t, 6*time.Hour, time.Since(began))
	})
}

func TestATaskOfTheWorkbook(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	got := wait(t, begin(t, e, `
workbook:
  - name: greet
    tool: {kind: echo, input: {greeting: hello, whom: nobody}}
workflow:
  - {step: s, tool: {kind: workbook, name: greet, input: {whom: "{{ workload.whom }}"}}}
`, map[string]any{"whom": "ann"}))
	require.NoError(t, got.Err())
	require.Equal(t, map[string]any{"greeting": "hello", "whom": "ann"}, got.Output)
}

func TestMetadataOfACall(t *testing.T) {
	query := operation.Define("query", func(_ context.Context, sql string) (operation.Reply, error) {
		if sql == "bad" {
			return operation.Reply{}, &operation.Error{Code: "sql", Permanent: true, Details: map[string]any{"pg": map[string]any{"code": "42601"}}}
		}
		return operation.Reply{Output: []int{1, 2}, About: map[string]any{"pg": map[string]any{"rows": 2}}}, nil
	})
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo, query}})
	got := contextOf(t, e, once(`
      - {name: good, kind: query, input: good, `+keep("good", "{{ [outcome.result, outcome.pg.rows] }}")+`}
      - {name: bad, kind: query, input: bad, `+keep("bad", "{{ [outcome.error.code, outcome.pg.code] }}")+`}`), nil)
	require.Equal(t, map[string]any{"good": []any{[]any{int64(1), int64(2)}, int64(2)}, "bad": []any{"sql", "42601"}}, got)
}

// Timing, targets and fulfillment apply to calls of tools in the same way as to calls of steps.
func TestToolsHaveTheTimingTargetsAndFulfillmentOfSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := operation.Define("slow", func(ctx context.Context, _ any) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		var tries atomic.Int32
		flaky := operation.Define("flaky", func(context.Context, any) (any, error) {
			if tries.Add(1) < 3 {
				return nil, &operation.Error{Code: "flaky"}
			}
			return "third", nil
		})
		e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo, quote, slow, flaky}})
		got := contextOf(t, e, `
directory: {participants: {abcd: {}, ab: {}, broken: {}}}
`+once(`
      - {name: slow, kind: slow, timing: {timeout: PT5S}, `+keep("slow", "{{ [outcome.error.kind, outcome.meta.duration_ms] }}")+`}
      - {name: flaky, kind: flaky, timing: {retry: {max_attempts: 5, backoff: PT1S}}, `+keep("flaky", "{{ [outcome.result, _attempt] }}")+`}
      - name: count
        kind: echo
        input: "{{ _attempt }}"
        spec:
          policy:
            rules:
              - {when: "{{ outcome.result < 3 }}", then: {do: retry, attempts: 5}}
              - {else: {then: {do: continue, set_ctx: {count: "{{ [outcome.result, _attempt] }}"}}}}
      - name: best
        kind: quote
        target: {resolve: static, participants: [abcd, broken, ab]}
        fan_in: {policy: best_of, score_field: /price, score_order: asc}
        timing: {timeout: PT1M}
        `+keep("best", "{{ outcome.result.by }}")+`
      - name: each
        kind: quote
        target: {resolve: static, participants: [abcd, ab]}
        fan_in: {policy: all}
        `+keep("each", "{{ outcome.result }}")), nil)
		require.Equal(t, []any{"timeout", int64(5000)}, got["slow"])
		require.Equal(t, []any{"third", int64(1)}, got["flaky"], "retries of the call count as one attempt for the rules")
		require.Equal(t, []any{int64(3), int64(3)}, got["count"], "a tool receives the number of the attempt")
		require.Equal(t, "ab", got["best"])
		require.Len(t, got["each"].(map[string]any)["responses"], 2)

		r := begin(t, e, once(`
      - {name: ask, kind: echo, input: ready, fulfillment: {policy: external_decision, decision_source: {kind: operator}}}
      - {name: say, kind: echo, input: "{{ _prev }}!"}`), nil)
		s := until(t, r, reactive.RunWaiting)
		require.True(t, s.Steps[1].Decidable)
		require.NoError(t, r.Decide(t.Context(), s.Steps[1].Step, true, "fine"))
		require.Equal(t, "ready!", wait(t, r).Output)
	})
}

func TestAnUnknownToolIsRefused(t *testing.T) {
	_, err := kinds.Load("p.yaml", []byte("apiVersion: sluice/v1\nkind: Playbook\nmetadata: {name: p}\nworkflow: [{step: s, tool: {kind: postgres, q: 1}}]\n"), template.Known{})
	require.ErrorContains(t, err, `unknown operation "postgres": the program must register one of that name, built in are artifact, command, http, `)
}

// household writes a playbook and its children to a folder, and reads the playbook.
func household(t *testing.T, files map[string]string) *template.Workflow {
	dir := t.TempDir()
	for name, text := range files {
		if !strings.HasPrefix(strings.TrimSpace(text), "kind: Workflow") {
			text = "apiVersion: sluice/v1\nkind: Playbook\nmetadata: {name: " + strings.TrimSuffix(name, ".yaml") + "}\n" + text
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return reread(t, filepath.Join(dir, "top.yaml"))
}

func reread(t *testing.T, file string) *template.Workflow {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	checked, err := kinds.Load(file, data, template.Known{Operation: func(name string) bool { return name == "echo" || name == "slow" }})
	require.NoError(t, err)
	return checked.Workflow
}

func TestChildrenOfAPlaybook(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	w := household(t, map[string]string{
		"top.yaml": `
workflow:
  - step: s
    tool:
      - {name: book, kind: playbook, path: child.yaml, input: {n: "{{ workload.n }}"}}
      - {name: flow, kind: workflow, path: flow.yaml, input: {n: "{{ _prev.n }}"}}
      - name: bad
        kind: playbook
        path: child.yaml
        input: {n: -1}
        ` + keep("bad", "{{ [outcome.status, outcome.error.code, outcome.error.message, outcome.error.details] }}") + `
    next: {arcs: [{step: end, args: {flow: "{{ results.flow }}"}}]}
  - {step: end, tool: {kind: echo, input: {flow: "{{ args.flow }}", bad: "{{ ctx.bad }}"}}}
`,
		"child.yaml": `
workload: {more: 1}
workflow:
  - step: check
    tool: {kind: noop, spec: {policy: {rules: [{when: "{{ workload.n < 0 }}", then: {do: fail}}, {else: {then: {do: continue}}}]}}}
    next: {arcs: [{step: give, when: '{{ event.name == "step.done" }}'}]}
  - {step: give, tool: {kind: echo, input: {n: "{{ workload.n + workload.more }}"}}}
`,
		"flow.yaml": `kind: Workflow
name: flow
operations: {twice: {value: "{{ input * 2 }}"}}
steps: [{operation: twice, input: "{{ input.n }}"}]
output: "{{ steps.twice.output }}"
`,
	})
	r, err := e.Start(t.Context(), w, map[string]any{"n": 4}, coordinator.WithID("top"))
	require.NoError(t, err)
	result := wait(t, r)
	require.NoError(t, result.Err())
	bad := result.Output.(map[string]any)["bad"].([]any)
	require.Equal(t, int64(10), result.Output.(map[string]any)["flow"])
	require.Equal(t, []any{"error", coordinator.CodeChildFailed}, bad[:2])
	require.Contains(t, bad[2], `a rule of task "check_task" has failed the step`)
	require.Equal(t, map[string]any{
		"run": "top/s@1.bad#1", "status": "failed", "code": "policy", "message": `a rule of task "check_task" has failed the step`,
	}, bad[3])

	child, err := e.Run(t.Context(), "top/s@1.book#1")
	require.NoError(t, err)
	s, err := child.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, "top/s@1.book#1", s.Start.Parent)
	require.Equal(t, []string{"check", "give"}, []string{s.Steps[0].Step, s.Steps[1].Step})
}

// A run goes on with the children with which it was started, also in another process, and if their files have changed or are gone.
func TestChildrenOfAPlaybookArePinnedAndCancelledWithIt(t *testing.T) {
	g := newGate()
	store := &kept{Store: memory.New()}
	config := coordinator.Config{Operations: []coordinator.Operation{echo, g.define("slow")}}
	e, err := coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	w := household(t, map[string]string{
		"top.yaml": `
workflow:
  - step: hold
    tool: {kind: wait, message: go}
    next: {arcs: [{step: s}]}
  - {step: s, tool: {kind: playbook, path: child.yaml}}
`,
		"child.yaml": "workflow: [{step: old, tool: {kind: slow}}]",
	})
	_, err = e.Start(t.Context(), w, nil, coordinator.WithID("top"))
	require.NoError(t, err)
	require.NoError(t, e.Shutdown(t.Context()))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(w.Pos.File), "child.yaml"), []byte("nothing that could be read: ["), 0o600))

	e, err = coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	r, err := e.Run(t.Context(), "top")
	require.NoError(t, err)
	require.NoError(t, r.Send(t.Context(), "go", nil))
	call := <-g.entered
	require.Equal(t, "old@1.old_task", call.Node)
	require.NoError(t, r.Cancel(t.Context(), "enough"))
	<-call.Done()
	require.Equal(t, reactive.RunAborted, wait(t, r).Status)
	child, err := e.Run(t.Context(), call.Run)
	require.NoError(t, err)
	require.Equal(t, reactive.RunAborted, wait(t, child).Status)
	require.NoError(t, e.Shutdown(t.Context()))
}

// Watch yields the progress of loops, from any sequence on, and the end of steps when the run is cancelled.
func TestWatchYieldsTheProgressOfLoops(t *testing.T) {
	g := newGate()
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{g.define("slow")}})
	r := begin(t, e, `
workflow:
  - step: fork
    next: {spec: {mode: inclusive}, arcs: [{step: each}, {step: shut}]}
  - step: each
    spec: {policy: {failure: {mode: best_effort}}}
    loop: {in: "{{ 1..4 }}", iterator: i}
    tool: {kind: slow}
  - {step: shut, spec: {policy: {admit: {rules: [{when: "{{ ctx.ok == true }}", then: {allow: true}}]}}}, tool: {kind: noop}}
`, nil)
	for _, err := range []error{nil, operation.Permanent(errors.New("no"))} {
		<-g.entered
		g.leave <- err
	}
	<-g.entered
	s, err := r.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 4}, []int{s.Steps[1].Live, s.Steps[1].ItemsDone, s.Steps[1].Items})
	g.leave <- nil
	<-g.entered
	require.NoError(t, r.Cancel(t.Context(), ""))
	all := func(from uint64) (loops []coordinator.LoopChange, last string) {
		for u, err := range r.Watch(t.Context(), from) {
			require.NoError(t, err)
			loops = append(loops, u.Loops...)
			for _, c := range u.Changes {
				if !strings.Contains(c.Step, ".") {
					last += c.Step + " " + c.From.String() + "-" + c.To.String() + ", "
				}
			}
		}
		return loops, last
	}
	at := func(done, failed int) coordinator.LoopChange {
		return coordinator.LoopChange{Step: "each@1", Done: done, Failed: failed, Items: 4}
	}
	loops, moves := all(1)
	require.Equal(t, []coordinator.LoopChange{at(0, 0), at(1, 0), at(1, 1), at(2, 1)}, loops)
	require.Equal(t, "fork@1 idle-running, fork@1 running-completed, shut idle-waiting, each@1 idle-running, each@1 running-aborted, shut waiting-idle, ", moves)
	loops, moves = all(s.Seq + 1)
	require.Equal(t, []coordinator.LoopChange{at(2, 1)}, loops)
	require.Equal(t, "each@1 running-aborted, shut waiting-idle, ", moves)
}
