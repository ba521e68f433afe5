package runs

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

func newRunsEvents() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "events RUN",
		Short: "Print the journal of a run",
		Long: `Events prints the events in the journal of a run, one a line.

RUN is the id of a run, or an unambiguous beginning of it. With --step it prints only the events of one step, its items and its
step-runs. An event without effect is marked with the reason: an answer that came too late as late, and a report that a
call has made before as repeated. For programs, -o jsonl prints one object a line, and -o json one list of all objects:
  {"seq":…,"at":…,"type":…,"step":…,"attempt":…,"value":…,"outcome":"late",…}

With --view it prints the history of a playbook's net: admission, tasks, rules, arcs and tokens. These are not in the journal, but
derive from its events:
  {"seq":…,"at":…,"type":…,"step":…,"step_run_id":…,"task":…,"attempt":…,"token_id":…,"status":…,…}

With --cell it prints the timeline of a cell of a world: the messages that it took, the events that other cells have raised for
it, its own steps, and the calls and timers that it has requested. In a world --view shows the results of each step: state,
raised events, requested and dropped intents, note:
  {"seq":…,"at":…,"type":"intent.emitted","cell":…,"cause":…,"call":…,"name":…,"intent":…,"value":…,…}

The oldest events of a world are trimmed. If some of the requested events have been trimmed, a line on standard error
has their numbers. Events before the last two snapshots are not marked as late or repeated.`,
		Example: `  sluice runs events tuesday --data ./journal
  sluice runs events tuesday --data ./journal --step publish
  sluice runs events tuesday --data ./journal --view
  sluice runs events shop --data ./journal --cell 'order[a]' --view
  sluice runs events tuesday --data ./journal --from 100 -o jsonl | jq 'select(.actor)'`,
		Args: cli.Arguments,
	}
	cli.Complete(cmd, cli.RunArgument)
	q := newQuery(cmd)
	from := cmd.Flags().Uint64("from", 1, "begin with the event number `SEQ`")
	step := cmd.Flags().String("step", "", "print only the events of the step `KEY`")
	cmd.Flags().StringVar(step, "cell", "", "print only the timeline of the cell `CELL` of a world")
	cli.Exclude(cmd, "step", "cell")
	view := cmd.Flags().Bool("view", false, "print the changes in the net of a playbook, or in the cells of a world")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return q.with(cmd, func(c *folder.Client) error {
			p := q.objects(cmd)
			lines := newEventLines(q.people(cmd))
			c.Trimmed = reportTrimmed(cmd.ErrOrStderr(), lines)
			if *view {
				for v, err := range c.Views(cmd.Context(), args[0], *step, *from) {
					if err != nil {
						return errors.Join(err, lines.w.Flush())
					}
					p.Print(v)
					lines.view(v)
				}
				return errors.Join(p.End(), lines.w.Flush())
			}
			for e, err := range c.Events(cmd.Context(), args[0], *step, *from) {
				if err != nil {
					return errors.Join(err, lines.w.Flush())
				}
				p.Print(e)
				lines.event(e)
			}
			return errors.Join(p.End(), lines.w.Flush())
		})
	}
	return cmd
}

// reportTrimmed returns a function that prints a sentence about trimmed events to to, after the lines so far.
func reportTrimmed(to io.Writer, lines *eventLines) func(string) {
	return func(sentence string) {
		_ = lines.w.Flush() // the next Flush returns the error again
		fmt.Fprintln(to, sentence)
	}
}

// eventLines prints events for people, one per line.
type eventLines struct{ w *bufio.Writer }

func newEventLines(w io.Writer) *eventLines {
	return &eventLines{bufio.NewWriter(w)}
}

// event prints an event: its number, instant and type, the step and the attempt, and details.
//
//	12  2026-01-02 15:04:05.678  call.error          pay#2  declined: no money
func (l *eventLines) event(e *api.Event) {
	about := e.Step
	if e.Attempt > 0 {
		about += fmt.Sprintf("#%d", e.Attempt)
	}
	if e.Participant != "" {
		about += "/" + e.Participant
	}
	line := fmt.Sprintf("%4d  %s  %-18s", e.Seq, e.At.Local().Format(cli.Clock+".000"), e.Type)
	for _, text := range append([]string{about}, eventDetails(e)...) {
		if text != "" {
			line += "  " + progress.Clean(text)
		}
	}
	fmt.Fprintln(l.w, strings.TrimRight(line, " "))
}

// view prints a change of a net: the number of the event that caused it, instant and type, the place, and details.
//
//	12  2026-01-02 15:04:05.678  policy.task.evaluated     fetch@3[2].page#1  retry
func (l *eventLines) view(v *api.View) {
	about := cmp.Or(v.StepRun, v.Step)
	if v.Iteration > 0 {
		about += fmt.Sprintf("[%d]", v.Iteration-1)
	}
	if v.Task != "" {
		about += "." + v.Task
	}
	if v.Attempt > 0 {
		about += fmt.Sprintf("#%d", v.Attempt)
	}
	line := fmt.Sprintf("%4d  %s  %-27s", v.Seq, v.At.Local().Format(cli.Clock+".000"), v.Type)
	list := []string{about, v.Status}
	if v.Cell != "" || v.Call != "" || v.Name != "" || v.Value != nil { // of a world
		list = viewDetails(v)
	}
	if v.Token > 0 {
		list = append(list, fmt.Sprintf("token %d", v.Token))
	}
	if v.Failure != nil {
		list = append(list, v.Failure.String())
	}
	for _, text := range list {
		if text != "" {
			line += "  " + progress.Clean(text)
		}
	}
	fmt.Fprintln(l.w, strings.TrimRight(line, " "))
}

// update prints an event, and below it the changes.
func (l *eventLines) update(u *api.Update) {
	l.event(&u.Event)
	for i := range u.Changes {
		c := &u.Changes[i]
		to := c.To
		if c.Pending {
			to = "retrying"
		}
		why := ""
		if c.Failure != nil && c.Failure.Step != "" {
			why = ", because of " + progress.Clean(c.Failure.Step)
		}
		fmt.Fprintf(l.w, "      %s: %s -> %s%s\n", progress.Clean(c.Step), c.From, to, why)
	}
	for i := range u.Cells {
		c := &u.Cells[i]
		fmt.Fprintf(l.w, "      %s: %s -> %s\n", progress.Clean(c.Cell), cmp.Or(c.From, "new"), cmp.Or(c.To, "deleted"))
	}
	for _, t := range u.Tasks {
		fmt.Fprintf(l.w, "      %s: task %s -> %s\n", progress.Clean(t.Step), t.From, t.To)
	}
}

// outcomeText returns the reason that an event had no effect; "" if it had an effect.
func outcomeText(e *api.Event) string {
	switch {
	case e.Outcome == reactive.Duplicate.String() && e.Type == journal.CallReported.String():
		return "(repeated)"
	case e.Outcome != "":
		return "(" + e.Outcome + ")"
	}
	return ""
}

// eventDetails returns the details of an event besides its subject.
func eventDetails(e *api.Event) (list []string) {
	add := func(name, text string) {
		if text != "" {
			list = append(list, name+text)
		}
	}
	if e.Start != nil {
		add("", e.Start.Name)
		if e.Actor == "" { // otherwise the event has the actor of a move, and the first event has the actor of the start
			add("by ", e.Start.Actor)
		}
	}
	add("", e.Name)
	add("", e.State)
	add("by ", e.Actor)
	add("because ", e.Reason)
	add("asks ", strings.Join(e.Participants, ", "))
	add("", e.Timer)
	if e.Failure != nil {
		add("", e.Failure.String())
	}
	switch e.Type {
	case journal.CellStepped.String():
		list = append(list, stepDetails(e.Value)...)
	case journal.CellFailed.String():
		add("took #", string(e.Value))
	default:
		add("", cli.Short(e.Value))
	}
	if e.Large != nil {
		add("", previewed(&api.Preview{Preview: e.Large.Preview}))
	}
	add("to ", strings.Join(e.Cells, ", "))
	add("", outcomeText(e))
	return list
}
