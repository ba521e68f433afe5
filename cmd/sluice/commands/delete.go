package commands

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator/api"
)

func newDelete() *cobra.Command {
	cmd, c := newCommand(api.Delete, &cobra.Command{
		Use:   "delete RUN…",
		Short: "Delete runs that have ended, or are held",
		Long: `Delete removes runs that have ended, or are held, each with the runs that it has started: their events and places in lists.
They cannot be restored. The id stays taken for as long as the run would have been kept (see sluice keep), or forever if all runs
are kept forever; until then sluice runs show prints the time of the deletion. The next sluice gc deletes its definitions and
large values that no other run needs.

A run that has not ended is refused: cancel it first. Of several runs, those before a refused one are deleted.`,
		Example: `  sluice delete tuesday wednesday --data ./journal`,
		Args:    cli.Arguments,
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p := cli.NewObjects(cmd.OutOrStdout(), false)
		for _, run := range args {
			c.req.Run = run
			done, err := c.do(cmd)
			if err != nil {
				return errors.Join(p.End(), cli.ExitOf(err))
			}
			switch {
			case c.output.Value == "json":
				p.Print(&done)
			case done.Dry:
				printDryRun(cmd.OutOrStdout(), &done)
			default:
				fmt.Fprintf(cmd.OutOrStdout(), "deleted %s\n", progress.Clean(done.Run))
			}
		}
		return p.End()
	}
	return cmd
}
