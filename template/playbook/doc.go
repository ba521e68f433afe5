// Package playbook reads documents of kind Playbook: routed steps. A step is a transition of a net: it takes a token and runs
// the pipeline of its tool, and its arcs put new tokens at other steps, possibly at earlier ones.
//
//	kind: Playbook
//	apiVersion: sluice/v1
//	metadata: {name: pages}
//	workflow:
//	  - step: fetch
//	    tool: {kind: http, url: "{{ workload.api }}/rows?page={{ args.page ?? 1 }}"}
//	    next:
//	      arcs:
//	        - {step: fetch, when: '{{ event.name == "step.done" && event.result.more }}', args: {page: "{{ event.result.next }}"}}
//	        - {step: report, when: '{{ event.name == "step.done" }}'}
//	  - {step: report, tool: {kind: report.write}}
//
//	document ──ParseNode──▶ *Playbook, checked        the order of a run: tokens, gates, joins, rules
//	                  └───▶ *template.Workflow         its calls: one step for each task that makes any (a call site),
//	                                                   side by side; built-in tools as bindings
//	                                                   ──template.Check──▶ ──plan.Compile──▶ row i is call site i
//
// # Dialects
//
// The apiVersion selects the dialect of a document. In sluice/v1, expressions are those of package expr. Documents of
// noetl.io/v2 and noetl.io/v10 have Jinja's expressions, which search for a name without a prefix in these places, in order:
//
//	the loop's variable, and other values of iter    args    results of the pipeline's tasks, by label    ctx
//	the newest results of steps, by name             workload
//
// A step's result is available under the step's name as soon as its run ends, also in its own set. If the document shows that a
// name occurs in two of these places, a warning is reported where the name is read. In these documents the input of a step is
// rendered for each iteration of its loop, and passed to those of its tools that are operations or other workflows: the tool's
// own keys take precedence.
//
// Both dialects have synonyms:
//
//	tool: {…}                    tool: [{name: <step>_task, …}]
//	tool: [{label: {kind: …}}]   tool: [{name: label, kind: …}]; one without either is task_<index>, from 0
//	set_ctx: {k: v}              set: {ctx.k: v}, or set: {k: v}        set_iter: {k: v}   set: {iter.k: v}
//	outcome.result               output.data                             args of a tool     input
//	else: {then: {do: …}}        else: {do: …}, or else: null beside then: {…}, with a warning
//	backoff: none                backoff: fixed                          kind: command      kind: shell
//
// The order of a mapping, such as sets, has no meaning: sets are applied by scope and path.
//
// # Keys
//
// This document has most keys, with their defaults or typical values, and the other choices in comments:
//
//	kind: Playbook
//	apiVersion: sluice/v1
//	metadata: {name: keys}
//	workload: {rows: [1, 2], first: "{{ workload.rows[0] }}"} # the run's input is merged over it
//	executor:
//	  spec:
//	    entry_step: first                  # the first step in the list
//	    final_step: last                   # runs once, when nothing else moves; left out: none
//	    max_concurrency: 8                 # calls at once; left out: no limit
//	    no_next_is_error: false            # true: a step with arcs fails the run if none of them holds
//	    implicit_join: false               # true: a step to which arcs of several steps lead is a join of all
//	    limits: {max_step_runs: 100000, max_jumps: 250000, max_args_bytes: 65536}
//	    policy:
//	      completion: fail_on_any          # fail_fast: nothing starts after a failure; allow_partial: then the run is partial
//	      final_failure: fail              # partial
//	      on_blocked: wait                 # when only gates keep tokens back; fail, discard. Left out: the setting of the program
//	workflow:
//	  - step: first
//	    desc: for people
//	    loop:                              # left out: the tools run once
//	      in: "{{ workload.rows }}"
//	      iterator: row                    # iter.row, beside iter.index
//	      spec:
//	        mode: sequential               # parallel, with max_in_flight: 8
//	        policy: {on_conflict: reject_conflict} # of set_ctx in a parallel loop; append: to the list there, last_wins
//	    spec:
//	      timeout: PT1H                    # of a run of the step, retries included
//	      join: {mode: all, on_missing: skip} # any; count, with n: 2. fire: also when a branch has failed. Left out: no join
//	      policy:
//	        failure: {mode: fail_fast}     # of a loop; best_effort: it completes in spite of failures
//	        admit:                         # the gate; left out: every token is admitted
//	          on_deny: pending             # discard
//	          coalesce: false              # true: tokens that wait become one
//	          rules: [{when: "{{ ctx.open == true }}", then: {allow: true}}, {else: {then: {allow: false}}}]
//	    tool:                              # or one mapping; left out: only the arcs
//	      - name: ask
//	        kind: http
//	        url: "http://127.0.0.1:9001/{{ iter.row }}"
//	        timing: {timeout: PT10S, retry: {max_attempts: 3, backoff: PT1S, backoff_multiplier: 2}} # invisible to rules
//	        set: {ctx.asked: "{{ outcome.result }}"} # on success, before its rules are evaluated; also iter.key, step.key
//	        spec:
//	          policy:
//	            on_unmatched: continue     # fail: an error that no rule matches
//	            rules:                     # the first that holds; left out: an error fails the step
//	              - when: '{{ outcome.status == "error" }}'
//	                then: {do: retry, attempts: 3, backoff: none, delay: 1} # linear, exponential; the delay in seconds
//	              - {when: "{{ outcome.result.more }}", then: {do: jump, to: ask, set_iter: {page: 2}}} # to: previous
//	              - else: {then: {do: continue, set_ctx: {seen: true}}} # break: skips the other tools; fail
//	    set: {ctx.rows: "{{ outcome.result }}"} # after the last tool, also step.key
//	    next:
//	      spec: {mode: exclusive}          # the first arc that holds; inclusive: all that hold
//	      arcs:
//	        - {step: tell, when: '{{ event.name == "loop.done" }}', args: {n: "{{ event.loop.done }}"}, spec: {inherit_args: false}}
//	  - {step: tell, tool: {kind: command, argv: [echo, "{{ args.n }}"], output: text}}
//	  - {step: last, tool: {kind: noop}}
//
// # Joins
//
// A step whose router is inclusive and emits several tokens is a fan-out. A join merges the tokens of one fan-out into one
// token: its args are the merged args of all tokens, and args.joined has an entry for each (from, args, status, ref), in the
// order of the arcs from the router of the fan-out inwards. Among tokens from one arc, those of the nested fan-out that opened
// first come first, even if a nested join has merged tokens of several arcs before.
//
//	a ──▶ b ──▶ d ──▶ j        a and b are fan-outs. The join j belongs to a, the outermost open fan-out from which every arc
//	│     ├───▶ e ──▶ j        leads to j on some path that does not pass through a again. So it runs once, with entries
//	│     └───▶ x              for d, e and c, in this order. The arc from b to x changes nothing.
//	└───▶ c ────────▶ j
//
// The arcs of the document count, not those that hold in a run. If only one arc of b holds, its token still belongs to the
// fan-out of b for the joins that belong to b, and passes them alone; for all other joins, a router that emits one token opens
// no fan-out. If a join belongs to none of the fan-outs that a token is in, it merges the tokens of the innermost one, with a
// warning: in the example, if a also had an arc to x. A token outside all fan-outs is taken alone.
//
// A join of all waits until every branch of its fan-out has arrived or ended, including branches of nested fan-outs and tokens
// at gates. Then it fires if any branch has arrived and none has failed, or on_missing is fire. A nested fan-out counts as a
// failed branch if one of its branches failed and no join that belongs to it fired. A join of any fires with the first token,
// and a join of count with the n-th; both ignore later tokens.
//
// # Tools
//
// A tool's kind is the name of an operation or one of the built-in kinds: noop, which makes no call; http (method, url,
// headers, params, body, follow_redirects); command, also shell (argv or shell, stdin, env, dir, output); sleep (for); wait
// (message); workflow, also playbook (path or ref, or name if the tool is not in a list); result, also artifact or resolve
// (ref: the reference to a large result or to the result of a step); and workbook, which runs an entry of the workbook. The
// keys of a tool besides the common ones (name, spec, set, input, target, fan_in, timing, fulfillment, idempotent, output:
// {…}) and its input form the input of the call.
//
// # Secrets
//
// The keychain lists the sources of secrets: env (data: variables of the environment by key), file (data: paths by key,
// relative to the working directory of the engine), or http (endpoint, method, headers, data: sent as JSON; the answer is an
// object and, with auto_renew, is requested again when its expires_in is over). The expressions of tools and of inputs of steps
// refer to secrets as keychain.name.key, literally, and read a mark in place of the value. A call receives only the secrets
// that its own tool reads, directly or through the step's input; sleep, wait, workflow, playbook and result receive none. A
// secret written in the document itself, such as a password in data, is stored with the document. scope has no effect: every
// run resolves its own secrets.
//
// # Variables
//
// The variables that an expression may use depend on its place:
//
//	the workload           workload
//	everywhere else        workload ctx args execution_id
//	admission              event (of the router that made the token; null for the first)
//	input of a step        keychain
//	in, max_in_flight      input
//	a tool                 iter step input keychain _task _attempt _prev results
//	rules, set of a task   iter step input _task _attempt _prev results outcome (also output)
//	set of a step          step input results outcome (also output)
//	arcs                   step input results outcome (also output) event
//
// Expressions in the workload are evaluated once, when a run starts: each after the keys that it reads, if the run's input has
// no value in its place. They may read single keys of the workload and of the input, which is data: its texts are not evaluated.
// A key that an expression reads in its own place is missing. If an expression fails, the run does not start.
//
// # Their contents
//
//	outcome   status (ok, error), result, error (kind, code, message, retryable, details), meta (attempt, duration_ms, ts)
//	event     name (step.done, step.failed, loop.done), status (done, failed), step, step_run_id, result, error,
//	          loop (total, done, failed)
//
// error and loop are always present, and null if there is none. The outcome of a step that ran no task has status ok and is
// null otherwise.
//
// The error of a workflow or playbook that did not complete has details: run, status, code and message of the child. The result
// of http is the body; outcome.http has its status and headers, also for an error; the status is null if no answer has arrived.
// The result of a command is an object of exit_code, stdout and stderr, or the content of stdout if its output is text, json or
// lines. The result of a step is the result of its last task; the result of a loop is a list, with null for failed iterations.
//
// A guard that reads a missing value returns null, and does not hold; a member of null is null, so == of it is false and !=
// true (see Guards in package expr). A guard that returns a value other than true or false is an error. In Jinja's dialect
// every value has a truth value: a text that one expression returns holds unless it is empty or reads false, 0, no or none, and
// the operators not, and, or and if treat texts in the same way; a text around expressions holds if it reads true, 1 or yes.
//
// A value that a task sets in ctx is visible at once, to all steps. An iteration of a parallel loop sees the ctx at its
// beginning, and its own writes. It writes the value at the path, such as ctx.stats.one, and nothing beside it. If two
// iterations write different values to the same path, or to a path and to a path inside it, the loop's on_conflict applies.
// Under reject_conflict the later write fails its iteration; a value that another iteration has already written is not written
// again. Under append, a value is added to the current list at the path, even if another iteration wrote that list; writes to a
// path and to a path inside it conflict.
//
// A failure fails its branch, and the run as defined by completion, unless an arc with a when handles it: an arc without a when
// is also followed after a failure, but does not handle it.
//
// A guard, the list of a loop, its width and a delay are one expression; surrounding white space, such as the newline that
// YAML's | leaves, is ignored.
//
// # Faults and warnings
//
// All faults of a document are reported at once, as document.Errors, with the place, the text there and, for a misspelt name, a
// suggestion. Playbook.Warnings holds parts that are valid but probably mistakes. Some warnings concern the structure of the
// net (Playbook.Net): steps that never run, gates that never open, joins of more tokens than can arrive, cycles without an
// exit. Others concern joins that do not belong to a fan-out whose tokens can reach them.
//
// Reading is a pure function of the document; a Playbook is immutable and safe for concurrent use. Reading costs O(size of the
// document): including the check about 50 µs per step with five expressions (BenchmarkLoad, 2-core virtual machine), mostly for
// the expressions. To determine the fan-outs of joins, all steps are visited once for every 256 fan-outs, and more often if
// there are cycles: 0.2 µs per step of 1,000, and some µs per step of 100,000 if a quarter are fan-outs and another quarter
// joins (BenchmarkFanOuts).
package playbook
