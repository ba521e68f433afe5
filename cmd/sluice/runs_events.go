package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

func newRunsEvents() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "events RUN",
		Short: "Print the journal of a run",
		Long: `Events prints what the journal of a run holds, a line for each event.

RUN is the id of a run, or as much of its beginning as tells it from others. --step leaves only what is about one step, its
items and step-runs included. What has changed nothing says why: an answer that came too late is marked as late, and what a
call reports again as repeated. For programs, -o jsonl prints one object a line, and -o json all of them in one list:
  {"seq":…,"at":…,"type":…,"step":…,"attempt":…,"value":…,"outcome":"late",…}

With --view it prints what has happened in the net of a playbook instead: admission, tasks, rules, arcs and tokens, which
follow from the journal and are not in it:
  {"seq":…,"at":…,"type":…,"step":…,"step_run_id":…,"task":…,"attempt":…,"token_id":…,"status":…,…}`,
		Example: `  sluice runs events tuesday --data ./journal
  sluice runs events tuesday --data ./journal --step publish
  sluice runs events tuesday --data ./journal --view
  sluice runs events tuesday --data ./journal --from 100 -o jsonl | jq 'select(.actor)'`,
		Args: cobra.ExactArgs(1),
	}
	l := newLook(cmd)
	from := cmd.Flags().Uint64("from", 1, "begin with the event number `SEQ`")
	step := cmd.Flags().String("step", "", "only what is about the step `KEY`")
	view := cmd.Flags().Bool("view", false, "what has happened in the net of a playbook, in place of the journal")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return l.with(cmd, func(c *control.Client) error {
			p := l.printer(cmd.OutOrStdout())
			lines := newEventLines(cmd.OutOrStdout(), l.table())
			if *view {
				for v, err := range c.Views(cmd.Context(), args[0], *from) {
					if err != nil {
						return errors.Join(err, lines.w.Flush())
					}
					if *step != "" && *step != v.Step && *step != v.StepRun {
						continue
					}
					p.print(v)
					lines.view(v)
				}
				return errors.Join(p.end(), lines.w.Flush())
			}
			for e, err := range c.Events(cmd.Context(), args[0], *step, *from) {
				if err != nil {
					return errors.Join(err, lines.w.Flush())
				}
				p.print(e)
				lines.event(e)
			}
			return errors.Join(p.end(), lines.w.Flush())
		})
	}
	return cmd
}

func newRunsWatch() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch RUN",
		Short: "Follow a run",
		Long: `Watch prints what has happened in a run, and what happens, until the run ends: each event, and how the statuses of
steps change. Where nobody works on the run, it waits until somebody does. Ctrl-C ends watching, not the run.

RUN is the id of a run, or as much of its beginning as tells it from others. For programs, -o jsonl prints one object a
line as things happen:
  {"event":…,"changes":[{"step":…,"from":…,"to":…},…],"status":…}`,
		Example: `  sluice runs watch tuesday --data ./journal
  sluice runs watch tuesday --data ./journal -o jsonl | jq -r .status`,
		Args: cobra.ExactArgs(1),
	}
	l := newLook(cmd)
	from := cmd.Flags().Uint64("from", 1, "begin with the event number `SEQ`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), stopSignals()...)
		defer stop()
		cmd.SetContext(ctx)
		w := &watcher{look: l, run: args[0], next: max(1, *from), stderr: cmd.ErrOrStderr()}
		l.hold(cmd)
		w.records, w.lines = l.printer(cmd.OutOrStdout()), newEventLines(cmd.OutOrStdout(), l.table())
		err := w.watch(cmd)
		return exitOf(errors.Join(err, w.records.end(), l.out.release()))
	}
	return cmd
}

// watcher follows a run through the processes that work on it.
type watcher struct {
	*look
	run      string
	next     uint64 // sequence of the event to be printed next
	finished bool
	told     bool // that nobody works on the run
	records  *recordPrinter
	lines    *eventLines
	stderr   io.Writer
}

func (w *watcher) watch(cmd *cobra.Command) error {
	ctx := cmd.Context()
	for {
		revision, _ := disk.Revision(w.dir) // where there is none, there is nothing to open either
		err := w.with(cmd, func(c *control.Client) error {
			if c.Held() {
				revision = nil // a process that ends may not have told all that it had journaled by then
			}
			return w.read(ctx, c)
		})
		gone := errors.Is(err, api.ErrHungUp) || errors.Is(err, api.ErrNotHeld)
		switch {
		case w.finished && gone: // all has been told by then
			return nil
		case w.finished, err != nil && !gone:
			return err
		}
		if revision != nil && !w.told {
			fmt.Fprintf(w.stderr, "nobody works on run %s; waiting (Ctrl-C ends this)\n", progress.Clean(w.run))
			w.told = true
		}
		if err := control.AwaitChanges(ctx, w.dir, revision); err != nil {
			return err
		}
	}
}

// read prints what a client has to tell. A journal that nobody holds is read only as far as it goes: who keeps it open
// would keep others from working on it.
func (w *watcher) read(ctx context.Context, c *control.Client) error {
	last := ^uint64(0)
	if !c.Held() {
		r, err := c.Show(ctx, w.run)
		if err != nil {
			return err
		}
		if last = r.Events; w.next > last {
			w.finished = r.Finished && !r.Late // else its last event is to come
			return nil
		}
	}
	for u, err := range c.Watch(ctx, w.run, w.next) {
		if err != nil {
			return err
		}
		w.next = u.Event.Seq + 1
		w.finished = u.Event.Type == journal.RunFinished.String()
		w.records.print(u)
		w.lines.update(u)
		if err := errors.Join(w.records.flush(), w.lines.w.Flush()); err != nil {
			return err
		}
		if u.Event.Seq >= last {
			break
		}
	}
	return nil
}

// eventLines prints events for people, a line each.
type eventLines struct{ w *bufio.Writer }

func newEventLines(w io.Writer, wanted bool) *eventLines {
	if !wanted {
		w = io.Discard
	}
	return &eventLines{bufio.NewWriter(w)}
}

// event prints one: its number, when, what, about which attempt of which step, and what there is to add.
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
	line := fmt.Sprintf("%4d  %s  %-18s", e.Seq, e.At.Local().Format(clock+".000"), e.Type)
	for _, text := range append([]string{about}, additions(e)...) {
		if text != "" {
			line += "  " + progress.Clean(text)
		}
	}
	fmt.Fprintln(l.w, strings.TrimRight(line, " "))
}

// view prints what has happened in a net: the number of the event that it follows from, when, what, where, and what there is to
// add.
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
	line := fmt.Sprintf("%4d  %s  %-27s", v.Seq, v.At.Local().Format(clock+".000"), v.Type)
	list := []string{about, v.Status}
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

// update prints an event, and below it what it has changed.
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
	for _, t := range u.Tasks {
		fmt.Fprintf(l.w, "      %s: task %s -> %s\n", progress.Clean(t.Step), t.From, t.To)
	}
}

// meant says of an event that has changed nothing why.
func meant(e *api.Event) string {
	switch {
	case e.Outcome == reactive.Duplicate.String() && e.Type == journal.CallReported.String():
		return "(repeated)"
	case e.Outcome != "":
		return "(" + e.Outcome + ")"
	}
	return ""
}

// additions are what an event says besides what it is about.
func additions(e *api.Event) (list []string) {
	add := func(name, text string) {
		if text != "" {
			list = append(list, name+text)
		}
	}
	if e.Start != nil {
		add("", e.Start.Name)
		add("by ", e.Start.Actor)
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
	add("", short(e.Value))
	add("", meant(e))
	return list
}
