// Package wfformat reads workflow instances of the WfCommons format (WfFormat, schema 1.5, https://wfcommons.org/format)
// and makes workflows of them. An instance records a run that has taken place: its tasks, which task followed which, what
// each executed and how long that took. Hundreds of real ones are published, so they serve to try an engine on.
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
// Files, machines and measurements are left out: the edges of an instance are those it states, not those that could be
// guessed from the files that tasks share.
//
// All functions are pure: the same file and options give the same workflow, and so the same document. Cost is
// linear in the size of the file.
package wfformat
