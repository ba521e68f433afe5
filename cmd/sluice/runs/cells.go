package runs

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

func newRunsCells() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cells RUN [MACHINE]",
		Short: "List the cells of a world",
		Long: `Cells lists the cells of a world, or those of one machine, in the order of their addresses: status, queued events, open effects
and timers, and the beginning of their state, as of the newest durable event.

With --status it lists only cells of that status; paused means all paused cells, of any status. With --if it lists only cells for
which EXPR holds; EXPR reads state, key, status and cell, an object with machine, key, status and paused. Cells for which EXPR
cannot be evaluated are left out, and a warning has their number. With --index it lists only cells that have VALUE in the index
NAME of their machine, and reads no others; VALUE is a text or JSON.

RUN is the id of a run, or an unambiguous beginning of it. For programs, -o jsonl prints one object a line, and -o json one list
of all objects:
  {"cell":…,"machine":…,"key":…,"status":…,"state":…,"intents":[{"key":…,"effect":…,…}],"last_seq":…,…}`,
		Example: `  sluice runs cells shop --data ./journal
  sluice runs cells shop order --status failed --data ./journal
  sluice runs cells shop order --if '{{ state.cents > 100 }}' --limit 10 --data ./journal
  sluice runs cells shop order --index status=paying --data ./journal
  sluice runs cells shop order --data ./journal -o jsonl | jq -r .state.item`,
		Args: cli.Arguments,
	}
	cli.Complete(cmd, cli.RunArgument)
	q := newQuery(cmd)
	var req api.Request
	status := cli.NewChoice(api.CellStatuses...)
	cmd.Flags().Var(status, "status", "only cells of this status")
	if err := cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(api.CellStatuses, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag exists
	}
	cmd.Flags().StringVar(&req.If, "if", "", "only cells for which `EXPR` holds")
	cmd.Flags().StringVar(&req.Index, "index", "", "only cells that have a value in an index of their machine: `NAME=VALUE`")
	cmd.Flags().IntVar(&req.Limit, "limit", 0, "at most `N` cells; 0: all")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req.Run, req.Status = args[0], status.Value
		if len(args) == 2 {
			req.Machine = args[1]
		}
		return q.with(cmd, func(c *folder.Client) error {
			p := q.objects(cmd)
			table := cli.NewTable(q.people(cmd))
			cellsHeader(table)
			warning, err := c.Cells(cmd.Context(), req, func(cell *api.Cell) error {
				p.Print(cell)
				showCellRow(table, cell)
				return nil
			})
			if err != nil {
				return err
			}
			table.End()
			if warning != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", progress.Clean(warning))
			}
			return p.End()
		})
	}
	return cmd
}

func cellsHeader(t *cli.Table) { t.Row("CELL", "STATUS", "MAIL", "LAST", "REMARK") }

// showCellRow prints a cell in a row.
func showCellRow(t *cli.Table, c *api.Cell) {
	mail, last := "", ""
	if c.Mail > 0 {
		mail = fmt.Sprint(c.Mail)
	}
	if c.Last > 0 {
		last = fmt.Sprintf("#%d", c.Last)
	}
	var list []string
	if c.Failure != nil {
		list = append(list, c.Failure.String())
	}
	if waits := waitsFor(c.Intents); waits != "" {
		list = append(list, "waits for "+waits)
	}
	switch {
	case c.Preview != "":
		list = append(list, cli.Short([]byte(c.Preview+"…")))
	case c.State != nil:
		list = append(list, cli.Short(c.State))
	}
	t.Row(c.Cell, statusOf(c), mail, last, strings.Join(list, "; "))
}

// statusOf returns the status of a cell for people.
func statusOf(c *api.Cell) string {
	if c.Paused {
		return c.Status + ", paused"
	}
	return c.Status
}

// intentsShown bounds the intents that a row names.
const intentsShown = 3

// waitsFor returns the effects and timers that a cell waits for, as text.
func waitsFor(list []api.Intent) string {
	var names []string
	for i := range list {
		if i == intentsShown {
			names = append(names, fmt.Sprintf("%d more", len(list)-i))
			break
		}
		names = append(names, intentName(&list[i]))
	}
	return strings.Join(names, ", ")
}

func intentName(x *api.Intent) string {
	if x.Issuer == "" {
		return x.Effect
	}
	return x.Effect + "." + x.Issuer
}

// showCell prints one cell of a run for people.
func showCell(w io.Writer, dir, run string, c *api.Cell) {
	defer showCommands(w, dir, run, c.Awaits)
	about := cli.NewTable(w)
	fact := func(name, text string) {
		if text != "" {
			about.Row(name, text)
		}
	}
	fact("cell", c.Cell)
	fact("machine", c.Machine)
	fact("key", string(c.Key))
	fact("status", statusOf(c))
	if c.Failure != nil {
		fact("failure", c.Failure.String())
	}
	if c.Last > 0 {
		fact("last", fmt.Sprintf("#%d", c.Last))
	}
	fact("active", cli.Local(c.Active))
	switch {
	case c.Held > 0:
		fact("held", cli.Plural(c.Held, "item")+", queued until the cell goes on")
	case c.Mail > 0:
		fact("mail", cli.Plural(c.Mail, "item"))
	}
	awaits := map[string]string{} // by step
	for i := range c.Awaits {
		switch a := &c.Awaits[i]; {
		case a.Step == "":
			fact("the run", "waits for "+cli.WaitText(a))
		case a.Step == c.Cell && a.Kind != "timer": // the row of its intent has it
			fact("awaits", cli.WaitText(a))
		case a.Step != c.Cell && (a.Kind != "call" || !a.Until.IsZero()):
			awaits[a.Step] = cli.WaitText(a)
		}
	}
	about.Row("state", string(c.State))
	about.End()
	if len(c.Intents) == 0 {
		return
	}
	fmt.Fprintln(w)
	intents := cli.NewTable(w)
	intents.Row("INTENT", "STATUS", "ATTEMPTS", "REMARK")
	for i := range c.Intents {
		showIntent(intents, &c.Intents[i], awaits[c.Intents[i].Key])
	}
	intents.End()
}

// showIntent prints an effect or timer that a cell waits for. awaits describes the wait of its call; "": the status is enough.
func showIntent(t *cli.Table, x *api.Intent, awaits string) {
	if x.ID == "" {
		t.Row(x.Key, "armed", "", fmt.Sprintf("timer %s is due at %s", x.Issuer, cli.Local(x.Due)))
		return
	}
	status, attempts := x.Status, ""
	if x.Pending {
		status = "retrying"
	}
	if x.Attempts > 0 {
		attempts = fmt.Sprint(x.Attempts)
	}
	list := []string{intentName(x) + " " + cli.Short(x.Params)}
	if awaits != "" {
		list = append(list, "waits for "+awaits)
	}
	if x.Failure != nil {
		list = append(list, x.Failure.String())
	}
	t.Row(x.Key, status, attempts, strings.Join(list, "; "))
}

// showWorld prints the counts of a world, and its first cells.
func showWorld(w io.Writer, dir string, r *api.Run) {
	if len(r.Cells) == 0 {
		return
	}
	fmt.Fprintln(w)
	table := cli.NewTable(w)
	cellsHeader(table)
	for i := range r.Cells {
		showCellRow(table, &r.Cells[i])
	}
	table.End()
	if more := r.World.Cells - len(r.Cells); more > 0 {
		fmt.Fprintf(w, "and %d more: %s\n", more, cli.CommandLine(dir, []string{"runs", "cells", r.Run}))
	}
}

// worldFacts returns the counts of a world for people, by name.
func worldFacts(w *api.World) (facts [][2]string) {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{w.Failed, "failed"}, {w.Waiting, "waiting"}, {w.Running, "running"}, {w.Completed, "completed"}, {w.Paused, "paused"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	count := fmt.Sprint(w.Cells)
	if len(parts) > 0 {
		count += ": " + strings.Join(parts, ", ")
	}
	t := &w.Tally
	return [][2]string{
		{"cells", count},
		{"messages", fmt.Sprint(t.Messages)},
		{"steps", fmt.Sprintf("%d, %d ignored, %d failed", t.Stepped, t.Ignored, t.Failed)},
	}
}
