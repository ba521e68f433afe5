package runs

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// listLimit bounds the runs that a list shows by default.
const listLimit = 100

func newRunsList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List runs, newest first",
		Long: `List lists the runs of a journal with their status, including child runs, newest first. A run is parked if the process that works
on the journal cannot continue it; the end of its line has the reason. If no process works on the journal, a run is parked if this
version of Sluice cannot continue it. A run is held from its import until it is resumed. If a run waits, the end of its line has
the reason, the step and the time; if no worker takes its call, it has the operation without a worker, and the time since then.

--where selects runs: terms with spaces between them, which must all hold. A comma is OR, a minus before a term is NOT.
  status:failed,aborted   running waiting paused completed failed partial aborted deadline_exceeded step_timeout damaged
  workflow:order          the name; kind:playbook; hash:3f2a
  label.team:payments     a label; --label team=payments means the same
  label."the team":x      the same, for a name with spaces or signs
  waits:person            message person timer gate paused worker
  held:import             held since its import, until it is resumed
  started>2026-11-01      started updated ended due: < <= > >=, a date or an instant in UTC
  age>1h                  since the start: s m h d w
  code:timeout            of the failure with which the run has ended
  parent:none             or the id of the run that has started it
  run:01a2,01a3           whole ids
  01a2                    the beginning of an id, or a part of a workflow's name
Write a value with spaces, commas or quotes in double quotes. --explain-query shows the terms that use an index: the other terms
are checked for each run that the index returns, which is slow if few of many runs match.

If a list is longer than --limit, standard error has the command that continues it.

For programs, -o jsonl prints one object a line, and -o json one list of all objects:
  {"run":…,"workflow":…,"hash":…,"status":…,"finished":…,"parked":…,"held":…,"late":…,"started":…,"updated":…,"events":…,
   "labels":…,"kind":…,"waits":[{"kind":…,"name":…,"step":…,"until":…,"since":…}],"progress":{"done":…,"total":…,"failed":…},
   "code":…,"ended":…}`,
		Example: `  sluice runs list --data ./journal
  sluice runs list --data ./journal --where 'status:failed age<1d' -o json
  sluice runs list --data ./journal --label team=payments --limit 20`,
		Args: cli.Arguments,
	}
	q := newQuery(cmd)
	req := api.Request{}
	var labels []string
	var explain bool
	flags := cmd.Flags()
	flags.StringVarP(&req.Query, "where", "w", "", "only the runs that `QUERY` selects")
	flags.StringArrayVarP(&labels, "label", "l", nil, "only runs with the label `NAME=TEXT` (may be repeated)")
	flags.IntVar(&req.Limit, "limit", listLimit, "at most `N` runs; 0: all")
	flags.StringVar(&req.Cursor, "cursor", "", "continue after the last run of the list that printed `CURSOR`")
	flags.BoolVar(&explain, "explain-query", false, "list nothing, but say how the query is carried")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if req.Labels, err = cli.ParseLabels(labels); err != nil {
			return cli.Refuse(err)
		}
		return q.with(cmd, func(c *folder.Client) error {
			if explain {
				return q.explain(cmd, c, &req)
			}
			return q.list(cmd, c, req)
		})
	}
	return cmd
}

// list prints the runs that a request selects.
func (q *query) list(cmd *cobra.Command, c *folder.Client, req api.Request) error {
	p := q.objects(cmd)
	table := cli.NewTable(q.people(cmd))
	table.Row("RUN", "WORKFLOW", "STATUS", "STARTED", "UPDATED", "EVENTS", "REMARK")
	done, err := c.List(cmd.Context(), req, func(r *api.Run) error {
		p.Print(r)
		table.Row(cellsOf(q.dir, r)...)
		return nil
	})
	if err != nil {
		return err
	}
	table.End()
	if done.Next != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "there are more: go on with --cursor %s\n", done.Next)
	}
	return p.End()
}

// rootRun returns the topmost ancestor of a run, which no call has started; run itself if it has no parent.
func rootRun(run string) string {
	top, _, _ := strings.Cut(run, "/")
	return top
}

func cellsOf(dir string, r *api.Run) []string {
	status, remarks := r.Status, []string(nil)
	if r.Parked != "" {
		status, remarks = "parked", append(remarks, r.Parked)
	}
	switch {
	case r.Incomplete:
		status, remarks = "held", append(remarks, "incomplete; to go on: "+incompleteRemark(dir, r))
	case r.Held:
		status = "held"
		remarks = append(remarks, "since its import; to go on: "+cli.CommandLine(dir, []string{"resume", rootRun(r.Run)}))
	}
	if r.Late {
		remarks = append(remarks, lateRemark)
	}
	if r.Parked == "" && !r.Held && len(r.Waits) > 0 {
		remarks = append(remarks, waitsRemark(r.Waits))
	}
	if r.Code != "" {
		remarks = append(remarks, r.Code)
	}
	return []string{r.Run, r.Workflow, status, cli.Local(r.Started), cli.Local(r.Updated), fmt.Sprint(r.Events), strings.Join(remarks, "; ")}
}

// incompleteRemark returns the advice for a run with an import that is under way or was interrupted.
func incompleteRemark(dir string, r *api.Run) string {
	return "import the file again; to give it up: " + cli.CommandLine(dir, []string{"delete", rootRun(r.Run)})
}

// lateRemark explains a status of a run that differs from its journal.
const lateRemark = "timers have fallen due, and their events are not journaled yet"

// waitsRemark returns the waits of a run as text.
func waitsRemark(waits []api.Wait) string {
	texts := make([]string, len(waits))
	for i, w := range waits {
		texts[i] = strings.TrimSpace(w.Kind + " " + w.Name)
		switch w.Kind {
		case journal.WaitWorker:
			texts[i] = "a worker that serves " + w.Name
		case journal.WaitPaused:
			texts[i] = "a resume"
		}
		if w.Step != "" {
			texts[i] += " at " + w.Step
		}
		if !w.Until.IsZero() {
			texts[i] += " until " + cli.Local(w.Until)
		}
		if !w.Since.IsZero() {
			texts[i] += cli.NoneSince(w.Since)
		}
	}
	return "waits for " + strings.Join(texts, ", ")
}

// explain prints how the query of a request is executed.
func (q *query) explain(cmd *cobra.Command, c *folder.Client, req *api.Request) error {
	x, err := c.ExplainQuery(cmd.Context(), req.Query, req.Labels)
	if err != nil {
		return err
	}
	p := q.objects(cmd)
	p.Print(x)
	fmt.Fprintf(q.people(cmd), "runs are read from the index %s, newest first\n", x.Index)
	table := cli.NewTable(q.people(cmd))
	for _, t := range x.Terms {
		by := map[string]string{"index": "carried by the index", "filter": "checked for each of its runs"}[t.By]
		table.Row(t.Term, by)
	}
	table.End()
	return p.End()
}
