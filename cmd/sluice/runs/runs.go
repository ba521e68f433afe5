// Package runs holds the verbs that look at a journal: runs, with list, show, events, watch and output below it, explain, and
// doctor.
//
// All but doctor read as a control.Client does: from the process that works on the folder, or, where there is none, from the
// journal itself, which is closed again as soon as it has been read. They change nothing. What they show is api's data; this
// package only prints it, as text for people or as JSON. Doctor takes the folder for itself, see coordinator/doctor.
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
		Short: "Look at the runs of a journal",
		Long: `Runs looks at the runs of a journal, whether somebody works on them or not. Nothing is started and nothing is changed.
Without a further word it lists them.

A run that nobody works on stands still, but its timers do not. Where they have fallen due, its status and its steps are
those that follow, and late says so; its events, which runs events and runs watch print, are journaled by who goes on with
the run, or wishes something for it.

It ends with 0 if it has shown what was asked for, with 1 if the journal cannot be read, and with 2 if there is no such run
or journal, or for wrong usage.`,
		Example: `  sluice runs --data ./journal
  sluice runs list --data ./journal -o jsonl | jq 'select(.status == "failed") | .run'
  sluice runs show tuesday --data ./journal
  sluice runs watch tuesday --data ./journal`,
		Args: cli.SuggestVerb,
		RunE: list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, newRunsShow(), newRunsOutput(), newRunsEvents(), newRunsWatch())
	return cmd
}
