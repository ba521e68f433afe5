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
		Long: `Snapshot keeps the state of a world beside its journal, and prints the number of the event that makes the snapshot count. The
world is then opened from there and from the events that follow. The engine makes snapshots by itself, every 10,000 events or 16
MiB; the world goes on meanwhile.`,
		Example: `  sluice snapshot shop --data ./journal`,
		Args:    cobra.ExactArgs(1),
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.req.Run = args[0]
		done, err := c.do(cmd)
		if err == nil && c.output.Value != "json" {
			fmt.Fprintf(cmd.OutOrStdout(), "#%d\n", done.Seq)
			return nil
		}
		return c.end(cmd, &done, err)
	}
	return cmd
}

func newGC() *cobra.Command {
	cmd, c := newCommand(api.Sweep, &cobra.Command{
		Use:   "gc RUN",
		Short: "Delete what the last two snapshots of a world do not need any more",
		Long: `Gc deletes the content of a world that its last two snapshots do not need, and prints how much it has kept and deleted. It also
trims the journal: it deletes the events that the two have replaced, but for the first and the newest. How many of the newest stay
is what the process was told that works on the world (sluice run --keep-events); if none does, all stay, unless --keep-events is
given here. The engine does both by itself from time to time; the world goes on meanwhile.`,
		Example: `  sluice gc shop --data ./journal
  sluice gc shop --dry-run --data ./journal
  sluice gc shop --keep-events 100000 --data ./journal`,
		Args: cobra.ExactArgs(1),
	})
	cmd.Flags().BoolVar(&c.req.Dry, "dry-run", false, "delete nothing, only say what would be")
	cmd.Flags().IntVar(&c.req.Events, "keep-events", 0, "keep at least the newest `N` events; -1: all (default: as the process that works on the world does, or all)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.req.Run = args[0]
		done, err := c.do(cmd)
		if err == nil && c.output.Value != "json" {
			what, gone := "deleted", "trimmed"
			if c.req.Dry {
				what, gone = "to be deleted", "to be trimmed"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d blobs kept, %d %s\n", done.Kept, done.Deleted, what)
			if done.TrimmedTo > 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "events %d to %d %s\n", done.TrimmedFrom, done.TrimmedTo, gone)
			}
			return nil
		}
		return c.end(cmd, &done, err)
	}
	return cmd
}

// end prints the result of a command that does not depend on whether a process works on the run, or returns its error.
func (c *command) end(cmd *cobra.Command, done *api.Done, err error) error {
	if err != nil {
		return cli.ExitOf(err)
	}
	return c.report(cmd, done)
}
