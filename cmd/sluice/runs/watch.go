package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

func newRunsWatch() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch RUN",
		Short: "Follow a run",
		Long: `Watch prints the events of a run, each with its changes to the status of steps: the events so far, and then each new one as it
happens, until the run ends. For each wait of the run it prints the deadline and the command that ends the wait. While no process
works on the run, it waits for one. Ctrl-C ends watching, not the run.

With --log it prints instead the output of the run's programs and workers, live, each line after the key of its
step; with --step, only the output of one step, its items and its step-runs. The process that works on the run keeps the newest
256 KiB; the end of a command's output stays with its result. -o jsonl prints one object for each part:
  {"at":…,"step":…,"attempt":…,"stream":"stdout","text":…}

RUN is the id of a run, or an unambiguous beginning of it. For programs, -o jsonl prints one object a line as things happen:
  {"event":…,"changes":[{"step":…,"from":…,"to":…},…],"status":…}`,
		Example: `  sluice runs watch tuesday --data ./journal
  sluice runs watch tuesday --data ./journal --log --step publish
  sluice runs watch tuesday --data ./journal -o jsonl | jq -r .status`,
		Args: cli.Arguments,
	}
	cli.Complete(cmd, cli.RunArgument)
	q := newQuery(cmd)
	from := cmd.Flags().Uint64("from", 1, "begin with the event number `SEQ`")
	log := cmd.Flags().Bool("log", false, "print the output of the run's programs and workers")
	step := cmd.Flags().String("step", "", "with --log, print only output of the step `KEY`")
	cli.Exclude(cmd, "log", "from")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), cli.StopSignals()...)
		defer stop()
		cmd.SetContext(ctx)
		if *step != "" && !*log {
			return cli.Refuse(errors.New("--step selects the step that --log prints: add --log"))
		}
		w := &watcher{query: q, run: args[0], step: *step, next: max(1, *from), stderr: cmd.ErrOrStderr()}
		q.delay(cmd)
		w.records, w.lines, w.log = q.objects(cmd), newEventLines(q.people(cmd)), newLogLines(q.people(cmd))
		w.each = w.read
		if *log {
			w.each = w.readLog
		}
		err := w.watch(cmd)
		return cli.ExitOf(errors.Join(err, w.records.End(), q.out.Release()))
	}
	return cmd
}

// watcher follows a run through the processes that work on it.
type watcher struct {
	*query
	run       string
	step      string                                      // of the log; "": all
	each      func(context.Context, *folder.Client) error // prints the events, or the log, from a client
	next      uint64                                      // sequence of the next event to be printed
	finished  bool
	announced bool     // it was printed that no process works on the run
	now       *api.Run // the run at its first wait, or as last read without a process; nil: not read yet
	records   *cli.Objects
	lines     *eventLines
	log       *logLines
	stderr    io.Writer
}

func (w *watcher) watch(cmd *cobra.Command) error {
	ctx := cmd.Context()
	for {
		revision, _ := disk.Revision(w.dir) // if this fails, with fails, too
		err := w.with(cmd, func(c *folder.Client) error {
			if c.Held() {
				revision = nil // the process may have journaled more than it has sent
			}
			return w.each(ctx, c)
		})
		gone := errors.Is(err, api.ErrHungUp) || errors.Is(err, api.ErrNotHeld)
		switch {
		case w.finished && gone: // everything has been printed
			return nil
		case w.finished, err != nil && !gone:
			return err
		}
		if revision != nil && !w.announced {
			fmt.Fprintf(w.stderr, "no process works on run %s; waiting (Ctrl-C ends this)\n", progress.Clean(w.run))
			w.announced = true
		}
		if err := folder.AwaitChanges(ctx, w.dir, revision); err != nil {
			return err
		}
	}
}

// readRun reads the run, with its current waits.
func (w *watcher) readRun(ctx context.Context, c *folder.Client) (err error) {
	w.now, err = c.Show(ctx, w.run)
	return err
}

// awaits prints the waits of the run after an update, unless the run had later events when it was read.
func (w *watcher) awaits(ctx context.Context, c *folder.Client, u *api.Update) error {
	sleeps := u.Status == string(reactive.RunWaiting) || u.Status == string(reactive.RunPaused) || slices.ContainsFunc(u.Awaits, forWorker)
	if w.now == nil && sleeps {
		if err := w.readRun(ctx, c); err != nil {
			return err
		}
	}
	switch {
	case w.now == nil || u.Event.Seq < w.now.Events:
	case u.Event.Seq == w.now.Events:
		w.lines.awaits(w.dir, w.now.Awaits)
	default:
		w.lines.awaits(w.dir, u.Awaits)
	}
	return nil
}

func forWorker(a api.Awaited) bool { return a.Kind == string(inspect.ForWorker) }

// read prints the events that a client yields. If this process has opened the journal itself, it reads only existing events, because it
// blocks other processes meanwhile.
func (w *watcher) read(ctx context.Context, c *folder.Client) error {
	last := ^uint64(0)
	if !c.Held() {
		if err := w.readRun(ctx, c); err != nil {
			return err
		}
		if last = w.now.Events; w.next > last {
			w.finished = w.now.Finished && !w.now.Late // if it is late, its last event is not journaled yet
			return nil
		}
	}
	c.Trimmed = reportTrimmed(w.stderr, w.lines)
	for u, err := range c.Watch(ctx, w.run, w.next) {
		if err != nil {
			return err
		}
		w.next = u.Event.Seq + 1
		w.finished = u.Event.Type == journal.RunFinished.String()
		w.records.Print(u)
		w.lines.update(u)
		if err := w.awaits(ctx, c, u); err != nil {
			return err
		}
		if err := errors.Join(w.records.Flush(), w.lines.w.Flush()); err != nil {
			return err
		}
		if u.Event.Seq >= last {
			break
		}
	}
	return nil
}
