package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/cmd/sluice/view"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

// rerunFlags are the flags of the verb rerun.
type rerunFlags struct {
	data, id, input, workflow, actor string

	what       api.Rerun
	set, label []string
	dry        bool
}

func newRerun() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rerun RUN",
		Short: "Start a new run that keeps results of a run, and runs the other steps again",
		Long: `Rerun starts a new run of the workflow of RUN, with its input. Steps whose result is kept make no call; the others run again:

  --from STEP     STEP and all steps that follow it; STEP may be a map, a conditional, a step in an item of a map, such as
                  packit[2] for the step packit, or a step of a child run such as ship/book
  --only STEP     STEP alone; the steps that follow keep their results
  --failed        the steps that failed, and those that follow; of a map only the items that failed, and in child runs, too
  --changed       steps whose operation, or whose input once it is known, differs from that in RUN

Steps without a result to keep run in any case. --set steps.STEP.output=VALUE sets the result of a step, and without one of the
flags above the steps that follow run again; with steps.STEP.input=VALUE the step runs with that input. A path may follow, such
as steps.price.output.total=12. VALUE is JSON if it parses, and otherwise a string. Results set in RUN stay set unless the
step is named or, with --changed, its operation or input differs; inputs set in RUN stay set while the input in the document
is unchanged. --input and --workflow replace the input and the workflow, and imply --changed without one of the other flags.
With --at N, results count as of event N of RUN.

--dry-run starts nothing, and prints the steps that will run, that may run (if their input differs, their branch is taken, or
their map has the item) and that are kept. Steps with idempotent: false are marked, since a repetition may do their work twice.

A playbook is rerun from an event on, by --at N alone: the new run has the events of RUN up to there, and calls that were
under way then are made again. Its instants are shifted, so that timers have the same remaining time. sluice runs events shows
the events. Worlds are not rerun.

Kept results are journaled with the new run, so RUN may be deleted. If a process works on DIR, the new run is started there,
and its id is printed. If no process does, this process carries the run out and shows it, as sluice run does.

With -o json it prints {"run":…,"of":…,"driven":…}, and with --dry-run {"run":…,"seq":…,"will":[…],"may":[…],"kept":[…]},
where each step has step, operation and non_idempotent; if this process carries the run out, it prints the same as
sluice run -o json.

It ends with 0 if the run is durable and, if this process carries it out, has completed, with 1 if it has not completed or
cannot be rerun in this way, and with 2 if there is no such run or step, or for wrong usage.`,
		Example: `  sluice rerun tuesday --failed --dry-run --data ./journal
  sluice rerun tuesday --from publish --data ./journal
  sluice rerun tuesday --changed --workflow order.yaml --data ./journal
  sluice rerun tuesday --set steps.price.output.total=12 --data ./journal
  sluice rerun fetch-7 --at 41 --dry-run --data ./journal`,
		Args: cli.Arguments,
	}
	f := &rerunFlags{}
	cli.RunsFlag(cmd, &f.data)
	cli.Complete(cmd, cli.RunArgument)
	flags := cmd.Flags()
	flags.StringVar(&f.what.From, "from", "", "run `STEP` again, and all that follows it")
	flags.StringVar(&f.what.Only, "only", "", "run only `STEP` again")
	flags.BoolVar(&f.what.Failed, "failed", false, "rerun failed steps, and those that follow them")
	flags.BoolVar(&f.what.Changed, "changed", false, "run again the steps whose operation or input has changed")
	flags.Var((*eventNumber)(&f.what.At), "at", "results count as of event `N` of RUN (default: its last); of a playbook, the event from which on it runs again")
	flags.StringArrayVar(&f.set, "set", nil, "set `steps.STEP.output=VALUE` or steps.STEP.input=VALUE, or a part of it (may be repeated)")
	flags.StringVarP(&f.input, "input", "i", "", "the input of the new run: `JSON`, @FILE with JSON in it, or - for standard input (default: that of RUN)")
	flags.StringVar(&f.workflow, "workflow", "", "run the workflow of `FILE` (default: that of RUN)")
	flags.StringVar(&f.id, "id", "", "the id `NEW` of the new run (default: a random one)")
	flags.StringArrayVarP(&f.label, "label", "l", nil, "attach the label `NAME=TEXT` (may be repeated; default: those of RUN)")
	flags.BoolVar(&f.dry, "dry-run", false, "only print the steps that would run")
	flags.StringVar(&f.actor, "actor", "", "record `NAME` as the author of the rerun (default: the user's name)")
	output := cli.Choose(cmd, "output", "o", "what to print", "text", "json")
	cli.Before(cmd, func(cmd *cobra.Command) error { return refuseEmptyID(cmd, f.id) })
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req, err := f.request(cmd, args[0])
		if err != nil {
			return err
		}
		if f.dry {
			return f.preview(cmd, req, output.Value == "json")
		}
		return f.run(cmd, req, output.Value == "json")
	}
	return cmd
}

// request returns the request of a rerun.
func (f *rerunFlags) request(cmd *cobra.Command, run string) (req *api.Request, err error) {
	req = &api.Request{Verb: api.Repeat, Run: run, Rerun: &f.what, ID: f.id, Actor: f.actor, Dry: f.dry}
	req.Actor = cli.Actor(req.Actor, f.data)
	if len(f.label) > 0 {
		if req.Labels, err = (&runFlags{label: f.label}).labels(); err != nil {
			return nil, cli.Refuse(err)
		}
	}
	if f.what.Set, err = cli.Settings(f.set); err != nil {
		return nil, cli.Refuse(fmt.Errorf("--set: %w", err))
	}
	var a api.Attachment
	if cmd.Flags().Changed("input") {
		if a.Input, err = cli.NewInput(f.input, cmd.InOrStdin()); err != nil {
			return nil, err
		}
	}
	if f.workflow != "" {
		if a.Parcel, _, err = cli.LoadParcel(cmd.Context(), f.workflow); err != nil {
			return nil, cli.Refuse(err)
		}
		if req.Dir, err = os.Getwd(); err != nil {
			return nil, cli.Fail(err)
		}
	}
	if a.Parcel == nil && a.Input == nil {
		return req, nil
	}
	if req.Attachment, err = a.Encode(); err != nil {
		return nil, cli.Fail(err)
	}
	return req, nil
}

// run starts the new run. If no process works on the folder, this process carries the run out.
func (f *rerunFlags) run(cmd *cobra.Command, req *api.Request, asJSON bool) error {
	done, err := f.ask(cmd.Context(), req, nil)
	if err != nil {
		return f.refused(err)
	}
	if !done.Driven {
		printNote(cmd.ErrOrStderr(), "run %s repeats run %s", done.Run, done.Of)
		resumed := &runFlags{data: f.data, resume: done.Run, output: view.Tree}
		if asJSON {
			resumed.output = view.JSON
		}
		return resumed.run(cmd, nil)
	}
	if asJSON {
		p := cli.NewObjects(cmd.OutOrStdout(), false)
		p.Print(done)
		return p.End()
	}
	fmt.Fprintln(cmd.OutOrStdout(), progress.Clean(done.Run))
	return nil
}

func (f *rerunFlags) ask(ctx context.Context, req *api.Request, each func(*api.RerunStep) error) (done api.Done, err error) {
	err = folder.With(ctx, f.data, coordinator.Config{}, func(c *folder.Client) (err error) {
		done, err = c.Rerun(ctx, req, each)
		return err
	})
	return done, err
}

// refused returns the Exit for a rerun that was refused.
func (f *rerunFlags) refused(err error) error {
	if errors.Is(err, coordinator.ErrMissing) {
		err = fmt.Errorf("%w%s", err, remedy(err))
	}
	return (&runFlags{}).refused(err)
}

// previewJSON is the preview of a rerun as JSON.
type previewJSON struct {
	Run  string                  `json:"run"`
	Seq  uint64                  `json:"seq"`
	Will []coordinator.RerunStep `json:"will"`
	May  []coordinator.RerunStep `json:"may"`
	Kept []coordinator.RerunStep `json:"kept"`
}

// preview prints the steps that a rerun would run, may run, and would keep.
func (f *rerunFlags) preview(cmd *cobra.Command, req *api.Request, asJSON bool) error {
	p := previewJSON{Will: []coordinator.RerunStep{}, May: []coordinator.RerunStep{}, Kept: []coordinator.RerunStep{}}
	done, err := f.ask(cmd.Context(), req, func(s *api.RerunStep) error {
		list := map[string]*[]coordinator.RerunStep{api.WillRun: &p.Will, api.MayRun: &p.May, api.IsKept: &p.Kept}[s.Does]
		*list = append(*list, s.RerunStep)
		return nil
	})
	if err != nil {
		return f.refused(err)
	}
	p.Run, p.Seq = done.Run, done.Seq
	if asJSON {
		o := cli.NewObjects(cmd.OutOrStdout(), false)
		o.Print(p)
		return o.End()
	}
	out := cmd.OutOrStdout()
	switch w := &f.what; {
	case len(p.Will) > 0:
	case len(p.May) > 0:
		fmt.Fprintln(out, "nothing runs for certain")
	case w.At > 0 && w.From == "" && w.Only == "" && !w.Failed && !w.Changed: // a playbook, which may still wait
		fmt.Fprintln(out, "nothing will run")
	default:
		fmt.Fprintln(out, "nothing will run: the new run would end at once")
	}
	listSteps(out, "will run", p.Will)
	listSteps(out, "may run", p.May)
	listSteps(out, "kept", p.Kept)
	return nil
}

// eventNumber is the value of a flag that names an event of a run.
type eventNumber uint64

func (n *eventNumber) String() string { return strconv.FormatUint(uint64(*n), 10) }
func (n *eventNumber) Type() string   { return "uint" }

// Set implements pflag.Value.
func (n *eventNumber) Set(text string) error {
	seq, err := strconv.ParseUint(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return errors.New("no run has that many events")
	case err != nil:
		return errors.New("it is the number of an event, such as 41")
	case seq == 0:
		return errors.New("events begin at 1")
	}
	*n = eventNumber(seq)
	return nil
}

// namedMax bounds the steps that a line of a preview names, except that one more is named in place of "and 1 more".
const namedMax = 12

// group returns the group in which a preview counts a key, and the unit: the items of a step, or the calls of a playbook's task.
func group(key string) (id, of string) {
	if step, call, ok := strings.Cut(key, "@"); ok {
		task, _, _ := strings.Cut(call[strings.LastIndex(call, ".")+1:], "~")
		return step + "." + task, "calls"
	}
	for rest := key; rest != ""; {
		plain, index, _ := strings.Cut(rest, "[")
		id += plain
		_, rest, _ = strings.Cut(index, "]")
	}
	return id, "items"
}

// listSteps prints one line about steps; the steps of a group are counted together.
func listSteps(out io.Writer, title string, steps []coordinator.RerunStep) {
	if len(steps) == 0 {
		return
	}
	count, marked, key, unit, failed := map[string]int{}, map[string]bool{}, map[string]string{}, map[string]string{}, map[string]int{}
	var ids []string
	for _, s := range steps {
		id, of := group(s.Step)
		if count[id] == 0 {
			ids = append(ids, id)
		}
		count[id]++
		marked[id] = marked[id] || s.NonIdempotent
		if s.Failed {
			failed[id]++
		}
		key[id], unit[id] = s.Step, of
		if strings.Contains(s.Step, "@*") { // any call of the task
			key[id] = id
		}
	}
	var names []string
	for i, id := range ids {
		if i == namedMax && len(ids) > namedMax+1 {
			names = append(names, fmt.Sprintf("and %d more", len(ids)-namedMax))
			break
		}
		name := key[id]
		if count[id] > 1 {
			name = fmt.Sprintf("%s (%d %s)", id, count[id], unit[id])
		}
		if marked[id] {
			name += " (not idempotent)"
		}
		switch {
		case failed[id] > 0 && count[id] == 1:
			name += " (its failure, which was caught)"
		case failed[id] > 0:
			name += fmt.Sprintf(" (%d failures, which were caught)", failed[id])
		}
		names = append(names, progress.Clean(name))
	}
	fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-8s  %5d  %s", title, len(steps), strings.Join(names, ", ")), " "))
}
