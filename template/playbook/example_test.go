package playbook_test

import (
	"fmt"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/playbook"
)

func ExampleLoad() {
	checked, err := playbook.Load("pages.yaml", []byte(`
kind: Playbook
apiVersion: sluice/v1
metadata: {name: pages}
workflow:
  - step: fetch
    tool: {kind: http, url: "http://127.0.0.1:9001/rows?page={{ args.page ?? 1 }}"}
    next:
      arcs:
        - {step: fetch, when: '{{ event.name == "step.done" && event.result.more }}', args: {page: "{{ event.result.next }}"}}
        - {step: report, when: '{{ event.name == "step.done" }}'}
  - {step: report, tool: {kind: report.write}}
  - {step: tidy, tool: {kind: report.tidy}}
`), template.Known{Lenient: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	book, _ := playbook.Of(checked.Workflow)
	for _, site := range book.CallSites {
		fmt.Println(site.Call.ID, "calls", site.Kind)
	}
	for _, warning := range book.Warnings {
		fmt.Println(warning)
	}
	// Output:
	// fetch.fetch_task calls http
	// report.report_task calls report.write
	// tidy.tidy_task calls report.tidy
	// pages.yaml:13:5: workflow[2]: step "tidy" never runs: no arc leads to it
}

func ExampleLoad_refused() {
	_, err := playbook.Load("p.yaml", []byte(`
kind: Playbook
apiVersion: sluice/v1
metadata: {name: p}
workflow:
  - step: ask
    tool: {kind: noop}
    when: "{{ ctx.ok }}"
    next: {arcs: [{step: anser}]}
  - {step: answer, tool: {kind: wait, mesage: ok}}
`), template.Known{})
	fmt.Println(err)
	// Output:
	// p.yaml:8:5: workflow[0].when: unknown key "when": write the condition of a step in spec.policy.admit
	// p.yaml:9:26: workflow[0].next.arcs[0].step: unknown step "anser" (did you mean "answer"?)
	// p.yaml:10:39: workflow[1].tool.mesage: unknown key "mesage" of tool wait (did you mean "message"?)
}
