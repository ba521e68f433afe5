package scenario_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sluiceflow/sluice/coordinator/scenario"
)

const order = `
kind: Scenario
name: a declined payment is apologised for
workflow:
  kind: Workflow
  name: order
  steps:
    - {operation: pay, timing: {retry: {max_attempts: 2, backoff: PT1M}}}
    - conditional: {test: pay, then: [{operation: ship}], else: [{operation: apologise}]}
operations:
  pay: [{after: PT2S, error: {code: busy, retryable: true}}, {after: PT2S, error: {code: declined}}]
  ship: {output: sent}
  apologise: {after: PT1S, output: sent}
timeline:
  - {at: PT10S, expect: {run: waiting, steps: {pay: failed}, attempts: {pay: 1}}}
expect: {run: completed, at: PT30S, steps: {ship: skipped, apologise: completed}}
`

// The report of a failed scenario lists the differences with the causing events.
func ExampleScenario_Run() {
	dir, err := os.MkdirTemp("", "scenario")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "order.yaml")
	if err := os.WriteFile(file, []byte(order), 0o600); err != nil {
		panic(err)
	}
	scenarios, err := scenario.Load(file)
	if err != nil {
		panic(err)
	}
	for _, s := range scenarios {
		report := s.Run(scenario.Options{})
		fmt.Println(report.Scenario, "passed:", report.Passed)
		for _, d := range report.Differences {
			fmt.Println(d.String())
		}
	}
	// Output:
	// a declined payment is apologised for passed: false
	// at
	//     want  PT30S
	//     got   PT1M5S
	//     by    #9 run.finished at PT1M5S
}
