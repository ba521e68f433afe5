package runs

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/control"
)

func newRunsList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List all runs",
		Long: `List lists all runs of a journal with their status, those of child workflows included. A run is parked if the process that
works on the journal cannot go on with it; the end of its line says why. Where no process works on the journal, a run is
parked if this version of Sluice cannot go on with it.

For programs, -o jsonl prints one object a line, and -o json one list of all objects:
  {"run":…,"workflow":…,"hash":…,"status":…,"finished":…,"parked":…,"late":…,"started":…,"updated":…,"events":…}`,
		Example: `  sluice runs list --data ./journal
  sluice runs list --data ./journal -o json`,
		Args: cobra.NoArgs,
	}
	q := newQuery(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return q.with(cmd, func(c *control.Client) error {
			p := q.objects(cmd)
			table := cli.NewTable(q.people(cmd))
			table.Row("RUN", "WORKFLOW", "STATUS", "STARTED", "UPDATED", "EVENTS")
			for r, err := range c.Runs(cmd.Context()) {
				if err != nil {
					return err
				}
				p.Print(r)
				cells := []string{r.Run, r.Workflow, r.Status, cli.Local(r.Started), cli.Local(r.Updated), fmt.Sprint(r.Events)}
				if r.Parked != "" {
					cells[2] = "parked"
					cells = append(cells, r.Parked)
				}
				if r.Late {
					cells = append(cells, lateRemark)
				}
				table.Row(cells...)
			}
			table.End()
			return p.End()
		})
	}
	return cmd
}

// lateRemark explains why the status of a run is not that of its journal.
const lateRemark = "timers have fallen due, and it is not journaled yet what follows"
