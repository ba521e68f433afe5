package commands

import (
	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/coordinator/api"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

func newCancel() *cobra.Command {
	cmd, c := newCommand(api.Cancel, &cobra.Command{
		Use:   "cancel RUN",
		Short: "Cancel a run",
		Long: `Cancel ends a run: each step that has not ended is aborted, and calls under way are stopped. It cannot be undone.

It also ends a world: no more events are delivered, no effect or timer is open, and cells keep their states, which can be read.`,
		Example: `  sluice cancel tuesday --reason 'ordered twice' --data ./journal`,
		Args:    cli.Arguments,
	})
	c.takesReason(cmd)
	return cmd
}
