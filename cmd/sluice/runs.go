package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/control"
)

// clock is how tables give an instant.
const clock = "2006-01-02 15:04:05"

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
		Args: suggestVerb,
		RunE: list.RunE,
	}
	cmd.Flags().AddFlagSet(list.Flags())
	cmd.AddCommand(list, newRunsShow(), newRunsOutput(), newRunsEvents(), newRunsWatch())
	return cmd
}

func newRunsList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List all runs",
		Long: `List lists all runs of a journal with where they stand, those of child workflows included. A run that the process that
works on the journal cannot go on with is parked, and at the end of its line it is said why. Where no process works on the
journal, this is so for runs that no process of this version could go on with.

For programs, -o jsonl prints one object a line, and -o json all of them in one list:
  {"run":…,"workflow":…,"hash":…,"status":…,"finished":…,"parked":…,"late":…,"started":…,"updated":…,"events":…}`,
		Example: `  sluice runs list --data ./journal
  sluice runs list --data ./journal -o json`,
		Args: cobra.NoArgs,
	}
	l := newLook(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return l.with(cmd, func(c *control.Client) error {
			p := l.printer(cmd.OutOrStdout())
			table := newTable(cmd.OutOrStdout(), l.table())
			table.row("RUN", "WORKFLOW", "STATUS", "STARTED", "UPDATED", "EVENTS")
			for r, err := range c.Runs(cmd.Context()) {
				if err != nil {
					return err
				}
				p.print(r)
				cells := []string{r.Run, r.Workflow, r.Status, local(r.Started), local(r.Updated), fmt.Sprint(r.Events)}
				if r.Parked != "" {
					cells[2] = "parked"
					cells = append(cells, r.Parked)
				}
				if r.Late {
					cells = append(cells, lateRemark)
				}
				table.row(cells...)
			}
			table.end()
			return p.end()
		})
	}
	return cmd
}

// lateRemark says why the status of a run is not that of its journal.
const lateRemark = "timers have fallen due, and it is not journaled yet what follows"

// look is a verb that only reads.
type look struct {
	dir    string
	output *choice
	out    *heldBack
}

func newLook(cmd *cobra.Command) *look {
	l := &look{output: choose(cmd, "output", "o", "what to print", "table", "json", "jsonl")}
	journalFlag(cmd, &l.dir)
	return l
}

func (l *look) table() bool { return l.output.value == "table" }

func (l *look) printer(w io.Writer) *recordPrinter {
	if l.table() {
		w = io.Discard
	}
	return newRecordPrinter(w, l.output.value == "json")
}

// hold has what the command prints wait while a journal is open here.
func (l *look) hold(cmd *cobra.Command) {
	if l.out == nil {
		l.out = &heldBack{to: cmd.OutOrStdout()}
		cmd.SetOut(l.out)
	}
}

// with reads with a client.
func (l *look) with(cmd *cobra.Command, use func(*control.Client) error) error {
	l.hold(cmd)
	err := control.With(cmd.Context(), l.dir, coordinator.Config{}, func(c *control.Client) error {
		l.out.waits = !c.Held()
		return use(c)
	})
	return exitOf(errors.Join(err, l.out.release()))
}

// table aligns columns. One that is not wanted takes rows and prints nothing.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer, wanted bool) *table {
	if !wanted {
		w = io.Discard
	}
	return &table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
}

// row prints cells. Text from outside cannot break the line, nor the space before a name that is inside another.
func (t *table) row(cells ...string) {
	for i, cell := range cells {
		inside := len(cell) - len(strings.TrimLeft(cell, " "))
		cells[i] = cell[:inside] + progress.Clean(cell)
	}
	fmt.Fprintln(t.w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

func (t *table) end() { t.w.Flush() }

// local is an instant for people; "" for none.
func local(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(clock)
}
