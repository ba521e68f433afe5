package commands

import (
	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/coordinator/api"
)

func newPause() *cobra.Command {
	cmd, c := newCommand(api.Pause, &cobra.Command{
		Use:   "pause RUN",
		Short: "Let nothing new start in a run",
		Long: `Pause lets nothing new start in a run until 'sluice resume'. Calls under way go on, and so do their timers and the
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
		Long: `Resume ends the pause of a run. It works on no run itself: a run that was suspended, because its process has ended,
goes on with 'sluice run --resume'.`,
		Example: `  sluice resume tuesday --data ./journal`,
		Args:    cobra.ExactArgs(1),
	})
	return cmd
}
