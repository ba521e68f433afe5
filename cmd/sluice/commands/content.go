package commands

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/api"
)

func newSnapshot() *cobra.Command {
	cmd, c := newCommand(api.Keep, &cobra.Command{
		Use:   "snapshot RUN",
		Short: "Keep the state of a world, so that it opens quickly",
		Long: `Snapshot stores the state of a world beside its journal, and prints the number of the event that makes the snapshot valid. From
then on the world is opened from the snapshot and the later events. The engine makes snapshots by itself, every 10,000 events or
16 MiB; the world goes on meanwhile.`,
		Example: `  sluice snapshot shop --data ./journal`,
		Args:    cli.Arguments,
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.req.Run = args[0]
		done, err := c.do(cmd)
		if err == nil && c.output.Value != "json" && !done.Dry {
			fmt.Fprintf(cmd.OutOrStdout(), "#%d\n", done.Seq)
			return nil
		}
		return c.end(cmd, &done, err)
	}
	return cmd
}

// end prints the result of a command, or returns the Exit for its error.
func (c *command) end(cmd *cobra.Command, done *api.Done, err error) error {
	if err != nil {
		return cli.ExitOf(err)
	}
	return c.report(cmd, done)
}
