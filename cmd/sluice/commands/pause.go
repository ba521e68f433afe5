package commands

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
)

func newPause() *cobra.Command {
	cmd, c := newCommand(api.Pause, &cobra.Command{
		Use:   "pause RUN [CELL]",
		Short: "Pause a run, or one cell of a world",
		Long: `Pause keeps new calls of a run from starting, until 'sluice resume'. Calls under way go on, and so do their timers and the
run's deadline.

With CELL, the address of a cell of a world such as order[a], it holds that cell: it queues its events until 'sluice resume',
and its calls and timers go on.`,
		Example: `  sluice pause tuesday --reason 'the shop is closed' --data ./journal
  sluice pause shop 'order[a]' --reason 'under review' --data ./journal`,
		Args: cli.Arguments,
	})
	c.takesReason(cmd)
	c.takesCell(cmd)
	return cmd
}

func newResume() *cobra.Command {
	cmd, c := newCommand(api.Resume, &cobra.Command{
		Use:   "resume RUN [CELL]",
		Short: "End the pause of a run, or of one cell of a world",
		Long: `Resume ends the pause of a run, or of one cell of a world, which then takes its queued events. It also releases a run that is
held since its import. Resume does not work on the run itself: a run without a process goes on with 'sluice run --resume'.`,
		Example: `  sluice resume tuesday --data ./journal
  sluice resume shop 'order[a]' --data ./journal`,
		Args: cli.Arguments,
	})
	c.takesCell(cmd)
	resume := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := resume(cmd, args)
		if exit, ok := errors.AsType[*cli.Exit](err); ok && len(args) == 1 && errors.Is(err, coordinator.ErrNotPossible) && !errors.Is(err, coordinator.ErrIncomplete) {
			exit.Err = fmt.Errorf("%w; resume ends a pause, or what holds an imported run; to work on a run that no process works on:\n  %s", exit.Err, cli.ResumeCommand(c.dir, args[0]))
		}
		return err
	}
	return cmd
}

// takesCell sets RUN [CELL] as the positional arguments.
func (c *command) takesCell(cmd *cobra.Command) {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if c.req.Run = args[0]; len(args) == 2 {
			c.req.Step = args[1]
		}
		return c.send(cmd)
	}
}

// resumeArguments returns the arguments of the command that ends the pause of a run, or of one of its cells if cell is not "".
func resumeArguments(run, cell string) []string {
	if cell == "" {
		return []string{"resume", run}
	}
	return []string{"resume", run, cell}
}
