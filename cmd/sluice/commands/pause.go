package commands

import (
	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/coordinator/api"
)

func newPause() *cobra.Command {
	cmd, c := newCommand(api.Pause, &cobra.Command{
		Use:   "pause RUN",
		Short: "Pause a run",
		Long: `Pause keeps new calls of a run from starting, until 'sluice resume'. Calls under way go on, and so do their timers and the
run's deadline.`,
		Example: `  sluice pause tuesday --reason 'the shop is closed' --data ./journal`,
		Args:    cobra.ExactArgs(1),
	})
	c.takesReason(cmd)
	return cmd
}

func newResume() *cobra.Command {
	cmd, _ := newCommand(api.Resume, &cobra.Command{
		Use:   "resume RUN",
		Short: "End the pause of a run",
		Long: `Resume ends the pause of a run. It does not work on the run itself: a run whose process has ended goes on with
'sluice run --resume'.`,
		Example: `  sluice resume tuesday --data ./journal`,
		Args:    cobra.ExactArgs(1),
	})
	return cmd
}
