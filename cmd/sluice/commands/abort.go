package commands

import (
	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/coordinator/api"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

func newAbort() *cobra.Command {
	cmd, c := newCommand(api.Abort, &cobra.Command{
		Use:   "abort RUN STEP",
		Short: "Stop one step of a run",
		Long: `Abort stops one step, map, item of a map or named conditional that has not ended, with its call if one is under way. Steps that
need it are aborted too, unless a conditional tests it; with a conditional its branches are aborted.

In a playbook it stops one step-run, such as fetch@2, which then counts as failed, or one of its calls.

In a world STEP is the address of a cell, such as order[a], or the key of one of its calls. An aborted cell has failed: it drops
its open effects and timers, keeps its state, and queues its events until 'sluice retry'.`,
		Example: `  sluice abort tuesday publish --data ./journal
  sluice abort shop 'order[a]' --reason 'ordered twice' --data ./journal
  sluice abort tuesday 'check[3]' --reason 'hangs' --data ./journal`,
		Args: cli.Arguments,
	})
	c.takesReason(cmd)
	c.takesStep(cmd)
	return cmd
}

func newRetry() *cobra.Command {
	cmd, c := newCommand(api.Retry, &cobra.Command{
		Use:   "retry RUN STEP",
		Short: "Attempt one step of a run again",
		Long: `Retry makes a new attempt of a step that has ended, or makes the next attempt of a step at once. The new attempt has the same
idempotency key as the attempts before, so an operation that honours keys does nothing twice. With --new-key this attempt and
later ones have a new key: the work is done once more. A step that starts a run starts another run, with other keys, at every
attempt.

If the work of the step is answered and the decision about it is open, its decision source is called again; if a person
decides, there is no source to call, and retry is refused. With --work the work itself is repeated.

In a playbook it retries only a call that waits for its next attempt, such as fetch@2.page: for a call that has failed for good,
the playbook itself has decided how to go on.

In a world STEP is the address of a cell that has failed. The cell takes the event at which it failed once more, and then the
queued events. Cells choose the keys of their calls, so --new-key is refused there.`,
		Example: `  sluice retry tuesday publish --data ./journal
  sluice retry tuesday publish --work --data ./journal
  sluice retry tuesday publish --new-key --data ./journal`,
		Args: cli.Arguments,
	})
	cmd.Flags().BoolVar(&c.req.Work, "work", false, "repeat the work of the step even if only the decision about it is open")
	cmd.Flags().BoolVar(&c.req.NewKey, "new-key", false, "use an idempotency key that no call had before: the work is done again")
	c.takesStep(cmd)
	return cmd
}

// takesStep sets RUN STEP as the positional arguments.
func (c *command) takesStep(cmd *cobra.Command) {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.req.Run, c.req.Step = args[0], args[1]
		return c.send(cmd)
	}
}
