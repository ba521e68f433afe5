package documents

import (
	"fmt"
	"strings"
)

// heavy returns small documents for which test or check once allocated much more than the limit for all verbs together.
func heavy() []string {
	each := func(n int, f func(i int) any) []any {
		list := make([]any, n)
		for i := range list {
			list[i] = f(i)
		}
		return list
	}
	names := func(n int) object {
		o := object{}
		for i := range n {
			o[fmt.Sprint("p", i)] = object{}
		}
		return o
	}
	workflow := func(operations object, steps ...any) object {
		return object{"kind": "Workflow", "name": "w", "operations": operations, "steps": steps}
	}
	over := func(n int, step object) object {
		return object{"map": object{"id": "m", "over": fmt.Sprintf("{{ 1..%d }}", n), "steps": []any{step}}}
	}
	playbook := func(steps ...any) object {
		return object{"apiVersion": "sluice/v1", "kind": "Playbook", "metadata": object{"name": "p"}, "workflow": steps}
	}
	rules := func(list ...any) object { return object{"policy": object{"rules": list}} }
	always := func(then object) object { return object{"else": object{"then": then}} }
	same := object{"value": "{{ input }}"}
	self := object{"workflow": object{"path": mainFile}}
	ask := object{"operation": "ask", "id": "s"}
	sets := object{}
	for i := range 400 {
		sets[fmt.Sprint("ctx.k", i)] = i
	}
	wide := workflow(object{"self": self}, over(20, object{"operation": "self", "id": "s", "input": object{}}))
	wide["input"] = object{"type": "object", "properties": names(500)}
	holders := workflow(object{}, over(100, object{"operation": "ask", "id": "s", "fan_in": object{"policy": "all"},
		"target": object{"resolve": "static", "participants": each(300, func(i int) any { return fmt.Sprint("p", i) })}}))
	holders["directory"] = object{"participants": names(300)}

	return []string{
		// One value is journaled again and again, which takes no work.
		scripted(workflow(object{"list": object{"value": "{{ 1..60000 }}"}, "same": same}, object{"operation": "list", "id": "a"},
			over(200, object{"operation": "same", "id": "b", "input": "{{ steps.a.output }}"})), object{}),
		scripted(workflow(object{"v": object{"value": each(800, func(int) any { return object{"a": 1} })}},
			over(300, object{"operation": "v", "id": "s"})), object{}),
		// One evaluation needs more than the rest of the budget for all evaluations.
		scripted(workflow(object{"v": object{"value": "{{ len(1..1000000) + len(1..1000000) }}"}}, object{"operation": "v", "id": "a"}), object{}),
		// Each of many evaluations takes little.
		scripted(playbook(object{"step": "s", "tool": []any{object{"name": "t", "kind": "noop", "spec": rules(append(
			each(340, func(i int) any {
				return object{"when": fmt.Sprintf("{{ ctx.a == %d }}", i), "then": object{"do": "continue"}}
			}), always(object{"do": "jump", "to": "t"}))...)}}}), object{}),
		// Each child run compiles its document and its schema.
		scripted(workflow(object{"self": self}, each(100, func(i int) any { return object{"operation": "self", "id": fmt.Sprint("s", i)} })...), object{}),
		scripted(wide, object{"input": object{}}),
		// Each call has many participants.
		scripted(holders, object{"operations": object{"ask": object{"output": 1, "after": "PT1S"}}}),
		// Each answer is preceded by many reports.
		scripted(workflow(object{}, over(300, ask)), object{"operations": object{"ask": object{"output": 1, "frames": each(300, func(int) any { return object{"kind": "k"} })}}}),
		// Each write copies the context, and each parallel iteration has a copy.
		scripted(playbook(object{"step": "a", "tool": []any{
			object{"name": "t0", "kind": "noop", "spec": rules(always(object{"do": "continue", "set": sets}))},
			object{"name": "t", "kind": "noop", "spec": rules(always(object{"do": "jump", "to": "t", "set": object{"ctx.k1": "{{ (ctx.k1 ?? 0) + 1 }}"}}))},
		}}), object{}),
		scripted(playbook(
			object{"step": "z", "tool": []any{object{"name": "t", "kind": "noop", "spec": rules(always(object{"do": "continue", "set": object{"ctx.a": "{{ 1..40000 }}"}}))}},
				"next": object{"arcs": []any{object{"step": "a"}}}},
			object{"step": "a", "loop": object{"in": "{{ 1..300 }}", "iterator": "i", "spec": object{"mode": "parallel", "max_in_flight": 300}},
				"tool": []any{object{"name": "t", "kind": "work", "x": "{{ ctx }}"}}}), object{"operations": object{"work": object{"output": 1}}}),
		// Each step-run makes many tokens, which wait at a gate.
		scripted(playbook(
			object{"step": "s", "tool": []any{object{"name": "t", "kind": "noop"}}, "next": object{"spec": object{"mode": "inclusive"},
				"arcs": append(each(200, func(int) any { return object{"step": "g"} }), object{"step": "s"})}},
			object{"step": "g", "tool": []any{object{"name": "t", "kind": "noop"}},
				"spec": object{"policy": object{"admit": object{"rules": []any{object{"when": "{{ ctx.a == 1 }}", "then": object{"allow": true}}}}}}},
		), object{}),
		// Each of many expectations shows a large value.
		scripted(workflow(object{"v": object{"value": "{{ repeat('x', 200000) }}"}}, object{"operation": "v", "id": "a"}), object{
			"timeline": each(100, func(i int) any {
				return object{"at": fmt.Sprintf("PT%dS", i+1), "expect": object{"outputs": object{"a": 1}}}
			})}),
	}
}

// scripted returns the files of a workflow and of three equal scenarios of it, as one text.
func scripted(workflow, keys object) string {
	keys["kind"], keys["name"], keys["workflow"] = "Scenario", "s", mainFile
	if keys["expect"] == nil {
		keys["expect"] = object{"run": "completed"}
	}
	d := &generator{}
	one := d.text(keys)
	return "-- " + mainFile + " --\n" + d.text(workflow) + "\n-- test.yaml --\n" + strings.Join([]string{one, one, one}, "\n---\n") + "\n"
}
