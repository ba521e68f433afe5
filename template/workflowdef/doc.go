// Package workflowdef reads documents of kind WorkflowDefinition: a plan of step records in a list, each with its dependencies.
//
//	kind: WorkflowDefinition
//	name: blog
//	plan:
//	  steps:
//	    - {step_id: draft, service_type: text/draft, input: {topic: "{{ input.topic }}"}}
//	    - {step_id: draw, service_type: image/draw, depends_on: [draft], input_from: draft}
//	    - {step_id: review, service_type: text/review, depends_on: [draft], input_from: draft}
//	    - {step_id: publish, service_type: text/publish, depends_on: [draw, review], input_from: [draw, review]}
//
// It returns the same tree as the reader of kind Workflow, so all that follows is the same: checks, plan, run, journal, and the
// hash of a workflow written in either kind.
//
//	no depends_on:      draft ─▶ draw ─▶ review ─▶ publish        the list itself
//	with depends_on:    draft ─┬▶ draw ───┬▶ publish              a parallel of chains; depends_on becomes needs
//	                           └▶ review ─┘
//
// A step without depends_on follows the step before it. A step with depends_on waits only for the steps named there and for the
// steps whose output it reads: with an empty list, and without such reads, it starts at once.
//
// Besides kind, name and plan the root has the keys of a Workflow: version, input, deadline, failure_policy,
// max_concurrency, operations, directory, output. A step has step_id, service_type (the operation), input or input_from,
// depends_on, target, fan_in, timing, fulfillment and idempotent.
//
// All functions are pure. Cost is linear in the size of the document.
package workflowdef
