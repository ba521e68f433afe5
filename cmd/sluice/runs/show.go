package runs

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

func newRunsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show RUN [CELL]",
		Short: "Show the status of a run and of its steps, or of a cell of a world",
		Long: `Show prints the status of a run and of each step: the number of attempts, the duration of the newest attempt, the failure, output,
wait and participants, and whether the task is done. It prints the beginning of an output: runs output prints the whole output,
and runs events --step prints the events of a step. Of a parked run it prints the reason.

Timers that fell due while no process worked on the run count as fired; the line late means that their events are not yet in the
journal.

Of a world it prints the number of cells, and at most 100 cells, failed and paused ones first: runs cells lists all. With CELL,
the address of a cell such as order[a], it prints that cell: its status, state, failure and last event, the effects and timers
that it waits for, their deadlines, and the commands that let it go on.

With --at it prints the run as it was in the journal after an event, or at a time.

RUN is the id of a run, or an unambiguous beginning of it. With -o json or -o jsonl it prints one object:
  {"run":…,"workflow":…,"status":…,…,"steps":[{"step":…,"kind":…,"status":…,"attempts":…,"output":…,…}]}
An output of more than 1 KiB is left out, and "preview" holds its beginning. Of a world it has, in place of steps, the counts as
"world" and the first cells as "cells", where "state_preview" is the beginning of a state of more than 1 KiB; with CELL the object
is the cell:
  {"cell":…,"machine":…,"key":…,"status":…,"state":…,"intents":[{"key":…,"effect":…,"status":…,…}],"last_seq":…,…,
   "awaits":[{"kind":…,"step":…,"what":…,"until":…,"command":…}]}`,
		Example: `  sluice runs show tuesday --data ./journal
  sluice runs show tuesday --data ./journal -o json | jq '.steps[] | select(.decidable) | .step'
  sluice runs show tuesday --at 17 --data ./journal
  sluice runs show shop 'order[a]' --data ./journal`,
		Args: cli.Arguments,
	}
	cli.Complete(cmd, cli.RunArgument, cli.StepArgument)
	q, at := newQuery(cmd), cli.MomentFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return q.with(cmd, func(c *folder.Client) error {
			c = at.Of(c)
			if len(args) == 2 {
				cell, err := c.Cell(cmd.Context(), args[0], args[1])
				if err != nil {
					return err
				}
				return q.printObject(cmd, cell, func(w io.Writer) { showCell(w, q.dir, args[0], cell) })
			}
			r, err := c.Show(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return q.printObject(cmd, r, func(w io.Writer) { showRun(w, q.dir, r) })
		})
	}
	return cmd
}

// printObject prints a single object as JSON, or calls show to print text.
func (q *query) printObject(cmd *cobra.Command, object any, show func(io.Writer)) error {
	w := cmd.OutOrStdout()
	switch q.output.Value {
	case "json":
		enc := cli.NewJSON(w, w)
		enc.SetIndent("", "  ")
		return enc.Encode(object)
	case "jsonl":
		p := q.objects(cmd)
		p.Print(object)
		return p.End()
	}
	show(w)
	return nil
}

// showRun prints a run and its steps for people.
func showRun(w io.Writer, dir string, r *api.Run) {
	if !r.Held { // the run accepts none of the commands
		defer showCommands(w, dir, r.Run, r.Awaits)
	}
	about := cli.NewTable(w)
	fact := func(name, text string) {
		if text != "" {
			about.Row(name, text)
		}
	}
	fact("run", r.Run)
	fact("workflow", strings.TrimSpace(r.Workflow+" "+r.Version))
	showStatus(fact, dir, r)
	fact("parked", r.Parked)
	if r.Late {
		fact("late", lateRemark)
	}
	if r.From != nil && r.From.Seq > 0 {
		fact("repeats", fmt.Sprintf("run %s as of event %d", r.From.Run, r.From.Seq))
	}
	fact("started", strings.TrimSuffix(cli.Local(r.Started)+" by "+r.Actor, " by "))
	fact("updated", cli.Local(r.Updated))
	for i := range r.Awaits {
		if a := &r.Awaits[i]; a.Step == "" {
			fact("awaits", cli.WaitText(a))
		}
	}
	fact("due", cli.Local(r.Due))
	showData(fact, r)
	about.End()
	showWorld(w, dir, r)
	showSteps(w, r)
}

// showStatus prints the status of a run, and the command that releases a held run.
func showStatus(fact func(name, text string), dir string, r *api.Run) {
	status := r.Status
	switch {
	case r.Past:
		status += fmt.Sprintf(", after event %d", r.Events)
	case !r.Finished && !r.Driven:
		status += ", and no process works on it"
	}
	if r.Held {
		status = r.Status + ", and held since its import"
	}
	if r.Incomplete {
		status = r.Status + ", and incomplete"
	}
	if r.Parked != "" {
		status = r.Status + ", parked"
	}
	fact("status", status)
	switch {
	case r.Incomplete:
		fact("to go on", incompleteRemark(dir, r))
	case r.Held:
		fact("to go on", cli.CommandLine(dir, []string{"resume", rootRun(r.Run)}))
	}
}

// showData prints the labels, the input and the results of a run.
func showData(fact func(name, text string), r *api.Run) {
	var labels []string
	for name, text := range r.Labels {
		labels = append(labels, name+"="+text)
	}
	slices.Sort(labels)
	fact("labels", strings.Join(labels, " "))
	if c := r.Counts; c != nil {
		fact("step-runs", fmt.Sprintf("%d, %d failed", c.StepsRun, c.Failed))
		fact("branches", fmt.Sprintf("%d ended, %d failed, %d discarded", c.Branches.Normal, c.Branches.Failed, c.Branches.Discarded))
		if c.TokensPending > 0 {
			fact("at gates", fmt.Sprint(c.TokensPending))
		}
		fact("ctx", cli.Short(r.Context))
	}
	if r.World != nil {
		for _, f := range worldFacts(r.World) {
			fact(f[0], f[1])
		}
	}
	if r.Failure != nil {
		fact("failure", r.Failure.String())
	}
	if len(r.Output) > 0 {
		fact("output", cli.Short(r.Output))
	}
	fact("output", previewed(&api.Preview{Preview: r.Preview}))
}

// showSteps prints the steps of a run.
func showSteps(w io.Writer, r *api.Run) {
	if len(r.Steps) == 0 {
		return
	}
	fmt.Fprintln(w)
	steps := cli.NewTable(w)
	steps.Row("STEP", "STATUS", "ATTEMPTS", "TIME", "REMARK")
	awaits := awaitsByStep(r)
	now := time.Now()
	if r.Past {
		now = r.Updated
	}
	for i := range r.Steps {
		showStep(steps, &r.Steps[i], awaits[r.Steps[i].Step], now)
	}
	steps.End()
}

// showStep prints a step, and below it the participants that it has called.
func showStep(t *cli.Table, s *api.Step, awaits []*api.Awaited, now time.Time) {
	inside := strings.Repeat("  ", s.Depth)
	status, attempts := s.Status, ""
	if s.Pending {
		status = "retrying"
	}
	if s.Attempts > 0 {
		attempts = fmt.Sprint(s.Attempts)
	}
	t.Row(inside+s.Step, status, attempts, cli.Took(s.Began, s.Ended, now), strings.Join(remarks(s, awaits), "; "))
	for i := range s.Dispatches {
		d := &s.Dispatches[i]
		remark := ""
		switch {
		case d.Failure != nil:
			remark = d.Failure.String()
		default:
			remark = previewed(&d.Preview)
		}
		t.Row(inside+"  > "+d.Participant, d.State, fmt.Sprintf("#%d", d.Attempt), cli.Took(d.Asked, d.Ended, now), remark)
	}
}

// remarks returns remarks about a step besides its status.
func remarks(s *api.Step, awaits []*api.Awaited) (list []string) {
	switch s.Adopted {
	case "":
	case api.Set:
		list = append(list, "its result was set")
	default:
		list = append(list, "adopted from "+s.Adopted)
	}
	if s.Runs > 1 {
		list = append(list, fmt.Sprintf("%d runs", s.Runs))
	}
	if s.Live > 1 {
		list = append(list, fmt.Sprintf("%d at once", s.Live))
	}
	if s.Items > 0 {
		list = append(list, fmt.Sprintf("%d of %d items", s.ItemsDone, s.Items))
	}
	switch {
	case s.Tokens == 1:
		list = append(list, "1 token waits")
	case s.Tokens > 1:
		list = append(list, fmt.Sprintf("%d tokens wait", s.Tokens))
	}
	if s.Fulfillment != "" {
		list = append(list, "task "+s.Fulfillment)
	}
	for _, w := range awaits {
		list = append(list, "waits for "+cli.WaitText(w))
	}
	if s.Reports > 0 {
		list = append(list, fmt.Sprintf("%d reports, the last is %q", s.Reports, s.Report))
	}
	if s.Branch != "" {
		list = append(list, "chose "+s.Branch)
	}
	if s.Failure != nil {
		list = append(list, s.Failure.String())
	}
	if text := previewed(&s.Preview); text != "" {
		list = append(list, text)
	}
	return list
}

// previewed returns the beginning of a value, short enough for a line.
func previewed(p *api.Preview) string {
	if p.Preview != "" {
		return cli.Short([]byte(p.Preview + "…"))
	}
	return cli.Short(p.Output)
}
