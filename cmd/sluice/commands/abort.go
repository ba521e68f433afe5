package commands

import (
	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/coordinator/api"
)

func newAbort() *cobra.Command {
	cmd, c := newCommand(api.Abort, &cobra.Command{
		Use:   "abort RUN STEP",
		Short: "Stop one step of a run",
		Long: `Abort stops one step, map, item of a map or named conditional that has not ended; its call, if it is under way, is
stopped. What needs it is aborted too, unless a conditional tests it; a conditional takes its branches with it.

Of a playbook it stops a run of a step, such as fetch@2, which then has failed, or one of its calls.`,
		Example: `  sluice abort tuesday publish --data ./journal
  sluice abort tuesday 'check[3]' --reason 'hangs' --data ./journal`,
		Args: cobra.ExactArgs(2),
	})
	c.takesReason(cmd)
	c.takesStep(cmd)
	return cmd
}

func newRetry() *cobra.Command {
	cmd, c := newCommand(api.Retry, &cobra.Command{
		Use:   "retry RUN STEP",
		Short: "Attempt one step of a run again",
		Long: `Retry attempts a step again that has ended, or at once one that waits for its retry. The new attempt has the
idempotency key of those before.

Where the work of the step is answered and the decision about it is open, its decision source is asked again; where a
person decides there is nothing to ask again, and retry is refused. With --work the work itself is repeated.

Of a playbook only a call that waits for its next attempt is one, such as fetch@2.page: what failed there has gone its way.`,
		Example: `  sluice retry tuesday publish --data ./journal
  sluice retry tuesday publish --work --data ./journal`,
		Args: cobra.ExactArgs(2),
	})
	cmd.Flags().BoolVar(&c.req.Work, "work", false, "repeat the work of the step also where only the decision about it is open")
	c.takesStep(cmd)
	return cmd
}

// takesStep makes the positional arguments RUN STEP.
func (c *command) takesStep(cmd *cobra.Command) {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.req.Run, c.req.Step = args[0], args[1]
		return c.send(cmd)
	}
}
