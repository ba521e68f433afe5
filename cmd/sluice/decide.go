package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/coordinator/api"
)

func newDecide() *cobra.Command {
	cmd, w := newWish(api.Decide, &cobra.Command{
		Use:   "decide RUN STEP fulfilled|not_fulfilled",
		Short: "Say whether a step's task is done",
		Long: `Decide says whether the task of a step is done, where a person is to say so: the step's fulfillment waits for a
decision, or its outcome has paused the run. 'sluice runs show RUN' says which steps wait. Of several who decide the same
step, one decides and the others are refused.`,
		Example: `  sluice decide tuesday approve fulfilled --reason 'within budget' --data ./journal
  sluice decide tuesday 'check[3]' not_fulfilled --reason 'torn' --actor ann --data ./journal`,
		Args: cobra.ExactArgs(3),
	})
	w.reasoned(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		decision := &choice{"", []string{api.Fulfilled, api.NotFulfilled}}
		if err := decision.Set(args[2]); err != nil {
			return refuse(fmt.Errorf("a decision cannot be %q: %w", args[2], err))
		}
		w.req.Run, w.req.Step, w.req.Decision = args[0], args[1], decision.value
		return w.make(cmd)
	}
	return cmd
}
