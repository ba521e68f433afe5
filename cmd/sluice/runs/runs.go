// Package runs implements the verbs that read a journal: runs, with list, show, cells, events, watch and output below it, explain, and
// doctor.
//
// All except doctor read through a folder.Client: from the process that works on the folder, or, if there is none, from the journal
// itself, which is closed as soon as it has been read. They change nothing. Package api has the types of the data; this package prints
// the data as text for people or as JSON. Doctor locks the folder, see coordinator/doctor.
package runs

import (
	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// New returns the verbs. Each call returns new ones, since a cobra.Command keeps the flags it was run with.
func New() []*cobra.Command {
	return []*cobra.Command{newRuns(), newExplain(), newDoctor()}
}

func newRuns() *cobra.Command {
	list := newRunsList()
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List and show the runs of a journal",
		Long: `Runs shows the runs of a journal, even while another process works on them. It starts nothing and changes nothing.
Without a verb it lists the runs.

While no process works on a run, it does not go on, but its timers still fall due. Then the run and its steps are shown as if the
timer had fired, with the remark late. The events of the timer are journaled later, by the process that resumes the run or sends a
command to it; runs events and runs watch print them from then on.

It ends with 0 if it has shown the runs, with 1 if the journal cannot be read, and with 2 if there is no such run
or journal, or for wrong usage.`,
		Example: `  sluice runs --data ./journal
  sluice runs list --data ./journal -o jsonl | jq 'select(.status == "failed") | .run'
  sluice runs show tuesday --data ./journal
  sluice runs watch tuesday --data ./journal`,
		Args: cli.SuggestVerb,
		RunE: list.RunE, PreRunE: list.PreRunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, newRunsShow(), newRunsCells(), newRunsOutput(), newRunsEvents(), newRunsWatch())
	return cmd
}
