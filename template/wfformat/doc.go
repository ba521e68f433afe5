// Package wfformat reads workflow instances of the WfCommons format (WfFormat, schema 1.5, https://wfcommons.org/format) and
// converts them to workflows. An instance records a past run: its tasks, their order, the programs that they
// executed, and their runtimes. Hundreds of real ones are published, so they are good test data for an engine.
//
//	instance, err := wfformat.Parse(data)
//	w, err := instance.Workflow(wfformat.Options{Speed: 100})
//
// The workflow is one parallel that holds every task as a step, in the order of the file, with its parents as `needs`:
//
//	steps:
//	  - parallel:
//	      steps:
//	        - id: split
//	          operation: sleep
//	          input: PT1.5S
//	        - id: merge
//	          operation: sleep
//	          input: PT0.25S
//	          needs: [split]
//
// Files, machines and measurements are omitted: the edges are those that the instance states, not those that could be
// inferred from files that tasks share.
//
// All functions are pure: the same file and options yield the same workflow, and so the same document. Cost is linear in the
// size of the file.
package wfformat
