package documents

import (
	"encoding/json"
	"fmt"
)

// generator makes files from a byte string: each byte chooses the next element; after the last byte, the simplest is chosen. Thus nearly
// all files are valid, and a change of one byte changes a document in one place.
type generator struct {
	choices []byte
	steps   int // so far, of the current document
	dialect bool
}

type object = map[string]any

// generate returns the files of a byte string, by name: the scenarios in test.yaml, their workflow in main.yaml, and its child in
// child.yaml.
func generate(choices []byte) map[string]string {
	d := &generator{choices: choices}
	return map[string]string{"test.yaml": d.scenarios(), "main.yaml": d.text(d.document()), "child.yaml": d.text(d.document())}
}

// pick returns a number below n.
func (d *generator) pick(n int) int {
	if len(d.choices) == 0 {
		return 0
	}
	b := d.choices[0]
	d.choices = d.choices[1:]
	return int(b) % n
}

// rarely returns true in one of n cases.
func (d *generator) rarely(n int) bool { return d.pick(n) == n-1 }

func one[T any](d *generator, of ...T) T { return of[d.pick(len(of))] }

// either returns one of several values, which may have different types.
func either(d *generator, of ...any) any { return one(d, of...) }

func (d *generator) text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func (d *generator) document() object {
	d.steps = 0
	if d.pick(2) == 0 {
		return d.workflow()
	}
	return d.playbook()
}

// with sets a key in one of n cases.
func (d *generator) with(o object, key string, n int, v func() any) {
	if d.rarely(n) {
		o[key] = v()
	}
}

func (d *generator) workflow() object {
	w := object{"kind": "Workflow", "name": "w", "operations": object{
		"v": object{"value": d.constant()}, "grow": object{"value": "{{ [input, input] }}"}, "same": object{"value": "{{ input }}"},
		"nap":   object{"sleep": object{"for": d.duration()}},
		"mail":  object{"wait": object{"message": one(d, "m", "m-{{ run.id }}")}},
		"boom":  object{"fail": object{"code": "boom", "message": one(d, "text", "{{ input }}", "{{ repeat('ab', 200000) }}")}},
		"self":  object{"workflow": object{"path": "main.yaml"}},
		"child": object{"workflow": object{"path": "child.yaml"}},
		"web":   object{"http": object{"url": "http://127.0.0.1/{{ input }}"}},
	}, "directory": object{
		"participants": object{"p": object{}, "q": object{}, "r": object{}},
		"capabilities": object{"c": []any{object{"participant": "p"}, object{"participant": "q"}}},
	}}
	w["steps"] = d.nodes(0)
	d.with(w, "input", 4, func() any { return d.schema(0) })
	d.with(w, "deadline", 6, func() any { return d.duration() })
	d.with(w, "failure_policy", 3, func() any { return one(d, "continue-running", "abort-all", "abort-dependents") })
	d.with(w, "max_concurrency", 4, func() any { return 1 + d.pick(4) })
	d.with(w, "output", 2, func() any { return d.value() })
	return w
}

func (d *generator) nodes(depth int) []any {
	list := make([]any, 1+d.pick(4))
	for i := range list {
		list[i] = d.node(depth)
	}
	return list
}

func (d *generator) node(depth int) any {
	kind := d.pick(8)
	if depth > 4 || d.steps > 60 {
		kind = 0
	}
	switch kind {
	case 4:
		return object{"sequential": object{"steps": d.nodes(depth + 1)}}
	case 5:
		p := object{"steps": d.nodes(depth + 1)}
		d.with(p, "max_concurrency", 3, func() any { return 1 + d.pick(3) })
		return object{"parallel": p}
	case 6:
		c := object{"test": d.guard(), "then": d.nodes(depth + 1)}
		d.with(c, "else", 2, func() any { return d.nodes(depth + 1) })
		return object{"conditional": c}
	case 7:
		m := object{"id": d.id(), "over": d.list(), "steps": d.nodes(depth + 1)}
		d.with(m, "max_concurrency", 3, func() any { return 1 + d.pick(3) })
		return object{"map": m}
	}
	return d.step()
}

func (d *generator) id() string {
	d.steps++
	return fmt.Sprint("s", d.steps)
}

// other returns the id of a step, mostly of an earlier one.
func (d *generator) other() string { return fmt.Sprint("s", 1+d.pick(max(1, d.steps))) }

func (d *generator) step() object {
	s := object{"operation": one(d, "v", "ask", "same", "grow", "nap", "boom", "child", "self", "mail", "web")}
	d.with(s, "input", 2, d.value)
	d.with(s, "needs", 8, func() any { return []any{d.other()} })
	d.with(s, "idempotent", 16, func() any { return false })
	s["id"] = d.id()
	d.with(s, "timing", 3, func() any {
		t := object{}
		d.with(t, "timeout", 2, func() any { return d.duration() })
		d.with(t, "total_timeout", 3, func() any { return d.duration() })
		d.with(t, "on_timeout", 3, func() any { return one(d, "skip", "fail", "abort_workflow") })
		d.with(t, "retry", 2, func() any {
			return object{"max_attempts": one(d, 2, 5, 100, 1_000_000), "backoff": d.duration(), "backoff_multiplier": one(d, 1.0, 2, 1e9)}
		})
		return t
	})
	d.with(s, "target", 5, func() any {
		s["operation"] = one(d, "ask", "web")
		s["fan_in"] = one(d, object{"policy": "any_one"}, object{"policy": "all"}, object{"policy": "quorum", "min_responses": 2},
			object{"policy": "best_of", "score_field": "/a"}, object{"hedge_after": "PT1S"})
		return one(d, object{"resolve": "static", "participants": []any{"p", "q", "r"}}, object{"resolve": "capability", "capability_id": "c"})
	})
	d.with(s, "fulfillment", 8, func() any {
		return object{"policy": "external_decision", "decision_source": object{"kind": "operator", "timing": object{"timeout": d.duration()}},
			"on_not_fulfilled": one(d, "fail", "skip", "pause", "abort_workflow"), "on_error": one(d, "fail", "retry", "pause")}
	})
	return s
}

func (d *generator) duration() string {
	return one(d, "PT1S", "PT0.001S", "PT1M", "P30D", "P365D", "P100000D", "P106751D", "PT0.000000001S", "PT2S")
}

// list returns the list of a map or loop.
func (d *generator) list() any {
	return either(d, "{{ [1, 2] }}", "{{ 1..8 }}", "{{ 1..40 }}", "{{ 1..300 }}", "{{ 1..3000 }}", "{{ 1..100000 }}", []any{1, "a"}, "{{ [] }}",
		"{{ steps."+d.other()+".output }}", "{{ flatten(map(1..100, [#, #])) }}", "{{ input }}", "{{ map(1..30, 1..30) }}", "{{ index }}", "{{ item }}")
}

func (d *generator) guard() string {
	return one(d, "{{ true }}", "{{ false }}", "{{ steps."+d.other()+".output == 1 }}", "{{ steps."+d.other()+".status == 'completed' }}", d.other(),
		"{{ any(1..100000, # == steps."+d.other()+".output) }}", "{{ index % 2 == 0 }}", "{{ len(steps."+d.other()+".output) > 3 }}")
}

// constant returns a value that reads no step.
func (d *generator) constant() any {
	return either(d, 1, "text", "{{ input }}", "{{ [input, 1] }}", "{{ repeat('ab', 1000) }}", "{{ 1..1000 }}", nil, "{{ repeat('ab', 200000) }}", "{{ map(1..300, repeat('x', #)) }}")
}

// value returns an input or output; some values grow with each step, and some are much work for few bytes.
func (d *generator) value() any {
	s := "steps." + d.other() + ".output"
	return either(d, 1, "text", "{{ "+s+" }}", "{{ ["+s+", "+s+"] }}", "{{ "+s+" }}{{ "+s+" }}", "{{ input }}", "{{ repeat('ab', 1000) }}",
		"{{ repeat('ab', 200000) }}", "{{ 1..10000 }}", "{{ map(1..1000, repeat('x', #)) }}", "{{ map(1..100, map(1..100, #)) }}",
		"{{ count(1..100000, # % 3 == 0) }}", "{{ {a: "+s+", b: "+s+"} }}", "{{ item }}", object{"from": "/steps/" + d.other() + "/output"}, nil,
		[]any{object{"a": 1.5}, "{{ run.id }}"}, "{{ toJSON("+s+") }}", "{{ sort(map(1..2000, -#)) }}", "{{ reduce(1..30, [#acc, #acc], 1) }}",
		"{{ len(uniq(map(1..2000, [#]))) }}", "{{ repeat('a', 40) matches '^(a|aa)+$' }}")
}

func (d *generator) schema(depth int) any {
	if depth > 3 {
		return object{}
	}
	sub := func() any { return d.schema(depth + 1) }
	return one(d, func() any { return object{"type": "object"} }, func() any { return object{} }, func() any { return true },
		func() any { return object{"type": "array", "items": sub(), "minItems": one(d, 1, 100, 1_000_000_000)} },
		func() any {
			return object{"type": "object", "properties": object{"a": sub(), "b": sub()}, "required": []any{"a"}}
		},
		func() any { return object{"oneOf": []any{sub(), sub(), sub()}} }, func() any { return object{"allOf": []any{sub(), sub()}} },
		func() any {
			return object{"$defs": object{"x": object{"anyOf": []any{object{"$ref": "#/$defs/x"}, sub()}}}, "$ref": "#/$defs/x"}
		},
		func() any {
			return object{"type": "string", "minLength": one(d, 1, 1_000_000, 1<<40), "pattern": "^(a+)+$"}
		},
		func() any { return object{"enum": []any{1, "a", nil}} }, func() any { return object{"$ref": "#"} })()
}

func (d *generator) playbook() object {
	d.dialect = d.pick(3) == 2
	p := object{"apiVersion": "sluice/v1", "kind": "Playbook", "metadata": object{"name": "p"}, "workload": object{"list": []any{1, 2, 3}, "n": 2}}
	if d.dialect {
		p["apiVersion"] = "noetl.io/v2"
	}
	steps := make([]any, 1+d.pick(6))
	for i := range steps {
		steps[i] = d.stop(i, len(steps))
	}
	p["workflow"] = steps
	d.with(p, "executor", 3, func() any {
		spec := object{}
		d.with(spec, "final_step", 3, func() any { return fmt.Sprint("s", d.pick(len(steps))) })
		d.with(spec, "max_concurrency", 3, func() any { return 1 + d.pick(4) })
		d.with(spec, "policy", 3, func() any {
			return object{"completion": one(d, "allow_partial", "fail_fast"), "on_blocked": one(d, "fail", "discard", "wait"), "on_unmatched": one(d, "fail", "continue")}
		})
		d.with(spec, "limits", 3, func() any { return object{"max_step_runs": one(d, 10, 1000), "max_jumps": one(d, 10, 1000)} })
		return object{"spec": spec}
	})
	return p
}

// stop returns a step of a playbook.
func (d *generator) stop(i, n int) object {
	s := object{"step": fmt.Sprint("s", i)}
	d.with(s, "loop", 3, func() any {
		return object{"in": d.items(), "iterator": "it", "spec": object{"mode": one(d, "parallel", "sequential"), "max_in_flight": either(d, 1, 3, 100, "{{ workload.n }}")}}
	})
	d.with(s, "tool", 1, func() any {
		tasks := make([]any, 1+d.pick(3))
		for k := range tasks {
			tasks[k] = d.task(k, len(tasks))
		}
		return tasks
	})
	if arcs := d.pick(4); arcs > 0 {
		list := make([]any, arcs)
		for k := range list {
			arc := object{"step": fmt.Sprint("s", one(d, min(i+1, n-1), d.pick(n)))}
			d.with(arc, "when", 3, func() any { return d.condition("arc") })
			d.with(arc, "args", 3, func() any { return object{"x": d.write("arc")} })
			list[k] = arc
		}
		s["next"] = object{"spec": object{"mode": one(d, "inclusive", "exclusive")}, "arcs": list}
	}
	spec := object{}
	d.with(spec, "join", 5, func() any {
		return one(d, object{"mode": "all"}, object{"mode": "any"}, object{"mode": "count", "n": 2})
	})
	d.with(spec, "timeout", 8, func() any { return one(d, "30s", "1s", "1000h") })
	d.with(spec, "policy", 5, func() any {
		return one(d, object{"failure": object{"mode": "best_effort"}},
			object{"admit": object{"rules": []any{object{"when": d.condition("gate"), "then": object{"allow": true}}}}})
	})
	s["spec"] = spec
	return s
}

func (d *generator) task(i, n int) object {
	t := object{"name": fmt.Sprint("t", i), "kind": one(d, "noop", "work", "ask", "sleep", "workflow", "noop")}
	switch t["kind"] {
	case "sleep":
		t["for"] = d.duration()
	case "workflow":
		t["path"] = one(d, "main.yaml", "child.yaml")
	case "work":
		t["x"] = d.write("tool")
	}
	d.with(t, "spec", 2, func() any {
		var rules []any
		for range d.pick(3) {
			rules = append(rules, object{"when": d.condition("rule"), "then": d.verdict(n)})
		}
		return object{"policy": object{"rules": append(rules, object{"else": object{"then": d.verdict(n)}})}}
	})
	return t
}

func (d *generator) verdict(tasks int) object {
	v := object{"do": one(d, "continue", "retry", "jump", "break", "fail")}
	switch v["do"] {
	case "retry":
		v["attempts"], v["delay"], v["backoff"] = one(d, 2, 10, 1000, 1_000_000_000), either(d, 1, 0, 1e9, "{{ workload.n }}"), one(d, "none", "fixed", "exponential")
	case "jump":
		v["to"] = fmt.Sprint("t", d.pick(tasks))
	}
	d.with(v, "set", 2, func() any { return object{one(d, "ctx.a", "ctx.b.c", "ctx.l", "step.y", "iter.z"): d.write("rule")} })
	return v
}

func (d *generator) items() any {
	if d.dialect {
		return one(d, "{{ workload.list }}", "{{ range(10) }}", "{{ range(1000) }}", "{{ range(100000) }}", "{{ ctx.l }}", "{{ 'ab' * 5000 }}")
	}
	return one(d, "{{ workload.list }}", "{{ 1..10 }}", "{{ 1..1000 }}", "{{ 1..100000 }}", "{{ ctx.l }}", "{{ map(1..30, 1..30) }}")
}

// condition and write return expressions over the names that are visible at a place: all in a rule, fewer in a tool, on an arc and at
// a gate.
func (d *generator) condition(place string) any {
	own := map[string]any{"rule": "{{ iter.z == 2 }}", "arc": "{{ outcome.status == 'error' }}", "gate": "{{ event.x == 1 }}"}[place]
	if place == "rule" && d.pick(2) == 1 {
		return either(d, "{{ outcome.status == 'error' }}", "{{ _attempt > 2 }}", "{{ iter.it == 3 }}")
	}
	return either(d, true, false, "{{ ctx.a == 1 }}", "{{ ctx.b.c > 3 }}", "{{ args.x == 1 }}", "{{ ctx.l == ctx.a }}", own)
}

func (d *generator) write(place string) any {
	if d.rarely(4) && place != "arc" {
		return either(d, "{{ iter.it }}", "{{ iter.z }}")
	}
	if d.rarely(4) && place != "tool" {
		return either(d, "{{ outcome.result }}", "{{ [outcome.result, ctx.a] }}")
	}
	if d.dialect {
		return either(d, 1, "{{ ctx.a ~ ctx.a }}", "{{ [ctx.a, ctx.a] }}", "{{ (ctx.a | default('ab')) * 2 }}", "{{ 'ab' * 100000 }}", "{{ range(10000) | list }}",
			"{{ ctx | tojson }}", "{{ range(3000) | map('string') | join }}", "{{ '%1000d' | format(1) }}", "{{ range(2000) | sort(reverse=true) | list }}")
	}
	return either(d, 1, "{{ [ctx.a, ctx.a] }}", "{{ ctx.a ?? 'x' }}{{ ctx.a ?? 'x' }}", "{{ repeat('ab', 100000) }}", "{{ 1..10000 }}", "{{ ctx }}", "{{ args.x }}", "{{ map(1..1000, repeat('x', #)) }}", "{{ (ctx.a ?? 0) + 1 }}")
}

// scenarios returns a file of one or two scenarios.
func (d *generator) scenarios() string {
	text := d.text(d.scenario())
	if d.rarely(8) {
		text += "\n---\n" + d.text(d.scenario())
	}
	return text
}

func (d *generator) scenario() object {
	s := object{"kind": "Scenario", "name": "s", "workflow": "main.yaml", "expect": object{"run": "completed"}, "operations": object{
		"ask": d.answers(), "web": d.answers(), "work": d.answers(),
	}, "decisions": object{"s1": []any{object{"output": object{"status": one(d, "fulfilled", "not_fulfilled")}}}}}
	d.with(s, "input", 3, func() any { return either(d, 1, []any{1, 2, 3}, object{"a": "b"}, "text") })
	d.with(s, "until", 6, func() any { return one(d, "PT1S", "P1D", "P365D", "P3650D") })
	d.with(s, "start", 16, func() any { return one(d, "2250-01-01T00:00:00Z", "1970-02-01T00:00:01Z") })
	d.with(s, "timeline", 3, func() any {
		var list []any
		for i := range 1 + d.pick(3) {
			list = append(list, d.entry(i))
		}
		return list
	})
	return s
}

func (d *generator) answers() any {
	list := make([]any, 1+d.pick(2))
	for i := range list {
		list[i] = one(d, object{"output": 1}, object{"output": []any{1, object{"a": 2}}}, object{"error": object{"code": "c", "retryable": true}}, object{"never": true},
			object{"output": object{"a": 1}, "deliver": one(d, 2, 100, 1000)}, object{"error": object{"code": "c"}},
			object{"output": "x", "frames": []any{object{"kind": "k", "payload": 1}}})
		d.with(list[i].(object), "after", 2, func() any { return d.duration() })
	}
	return list
}

func (d *generator) entry(i int) object {
	e := object{"at": one(d, fmt.Sprintf("PT%dS", i), fmt.Sprintf("P%dD", i+1))}
	switch d.pick(8) {
	case 0:
		e["message"] = object{"name": one(d, "m", "m-run"), "payload": 1}
	case 1:
		e["pause"] = object{}
	case 2:
		e["resume"] = object{}
	case 3:
		e["patch"] = object{"ctx": object{"a": 1}}
	case 4:
		e["cancel"] = object{}
	case 5:
		e["crash"] = either(d, true, object{"down": "P1D"})
	case 6:
		e["retry"] = object{"step": d.other()}
	case 7:
		e["abort"] = object{"step": d.other(), "reason": "r"}
	}
	return e
}
