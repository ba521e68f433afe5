package commands

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/api"
)

func newSend() *cobra.Command {
	cmd, c := newCommand(api.Send, &cobra.Command{
		Use:   "send RUN MESSAGE [PAYLOAD]",
		Short: "Send a message to a run",
		Long: `Send sends a message to a run. A step that waits for a message of this name takes it, now or when the run comes to that step.
PAYLOAD is JSON, @FILE for a file with JSON in it, or - for standard input; without it the payload is null.

A message that no step of the workflow waits for is journaled too. Then a warning names the message that was probably meant,
and the exit code is 0.`,
		Example: `  sluice send tuesday approved --data ./journal
  sluice send tuesday approved '{"by": "ann"}' --data ./journal
  sluice send tuesday order @order.json --data ./journal
  jq .order mail.json | sluice send tuesday order - --data ./journal`,
		Args: cobra.RangeArgs(2, 3),
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		c.req.Run, c.req.Message = args[0], args[1]
		if len(args) == 3 {
			payload, err := cli.ReadInput(args[2], cmd.InOrStdin())
			if err != nil {
				return cli.Refuse(fmt.Errorf("PAYLOAD: %w", err))
			}
			c.req.Payload = cli.ValueJSON(payload)
		}
		return c.send(cmd)
	}
	return cmd
}
