package commands

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/api"
)

func newDecide() *cobra.Command {
	cmd, c := newCommand(api.Decide, &cobra.Command{
		Use:   "decide RUN STEP fulfilled|not_fulfilled [PAYLOAD]",
		Short: "Decide whether a step's task is done",
		Long: `Decide records whether the task of a step is done, if a person must decide that: the step's fulfillment waits for a decision, or
its outcome has paused the run. 'sluice runs show RUN' marks the waiting steps. Of several decisions about the same step the first
counts, and the others are refused.

PAYLOAD is kept in the journal with the decision, as evidence: JSON, @FILE for a file with JSON in it, or - for standard input.`,
		Example: `  sluice decide tuesday approve fulfilled --reason 'within budget' --data ./journal
  sluice decide tuesday approve fulfilled '{"seen": "offer.pdf"}' --data ./journal
  sluice decide tuesday 'check[3]' not_fulfilled --reason 'torn' --actor ann --data ./journal`,
		Args: cli.Arguments,
	})
	c.takesReason(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		decision := cli.NewChoice(api.Fulfilled, api.NotFulfilled)
		if err := decision.Set(args[2]); err != nil {
			return cli.Refuse(fmt.Errorf("a decision cannot be %q: %w", args[2], err))
		}
		c.req.Run, c.req.Step, c.req.Decision = args[0], args[1], decision.Value
		if len(args) == 4 {
			payload, err := cli.ReadInput(args[3], cmd.InOrStdin())
			if err != nil {
				return cli.Refuse(fmt.Errorf("PAYLOAD: %w", err))
			}
			c.req.Payload = cli.ValueJSON(payload)
		}
		return c.send(cmd)
	}
	return cmd
}
