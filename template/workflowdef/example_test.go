package workflowdef_test

import (
	"fmt"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/workflowdef"
)

func ExampleLoad() {
	_, err := workflowdef.Load("blog.yaml", []byte(`
kind: WorkflowDefinition
name: blog
plan:
  steps:
    - {step_id: draft, service_type: text/draft}
    - {step_id: draw, service_type: image/draw, depends_on: [draft], input_from: draft}
    - {step_id: publish, service_type: text/publish, depends_on: [darw]}
`), template.Known{Lenient: true})
	fmt.Println(err)
	// Output: blog.yaml:8:67: plan.steps[2].depends_on[0]: unknown step "darw" (did you mean "draw"?)
}
