// Package run implements the verbs that carry out runs. run starts a workflow or resumes a run in its own engine, shows the progress, and
// ends with the run or when it is interrupted; start leaves the run to the process that works on the folder; rerun starts a new run that
// keeps results of another; serve is a process that works on all runs of a folder.
//
// run.go parses flags and decides the exit code; session.go has the engine with its one run, held.go a run in another process, and all.go
// an engine with all runs; interrupts.go counts signals; log.go receives the engine's log. Package view shows the run.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/client"
	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/cmd/sluice/view"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template/value"
)

// New returns the verbs. Each call returns new ones, since a cobra.Command keeps the flags it was run with.
func New() []*cobra.Command { return []*cobra.Command{newRun(), newStart(), newRerun(), newServe()} }

func newRun() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a workflow and follow it to its end",
		Long: `Run starts a workflow, or resumes a run, and shows its progress until the run ends.

On a terminal it draws the steps as a tree and keeps it up to date. Elsewhere it prints a line for each change:
  +0.213s  ✓ completed  find  120ms
With -o json it prints one object for each event, {"event":…,"changes":[…],"status":…}, and at the end one for the result,
{"result":{"run":…,"status":…,"output":…,"failure":…}}. With -o quiet it prints only the output: a string as it is, any
other value as JSON.

Without --data the journal of the run is in memory, and Ctrl-C cancels the run. With --data the journal is in DIR, and Ctrl-C
suspends the run: calls under way have one second to end and are then stopped, and the command that resumes the run is
printed. A second Ctrl-C ends the process at once. SIGTERM, SIGHUP and a reader that closes the output, as in
sluice run backup.yaml | head -1, count as Ctrl-C.

If another process works on DIR, such as sluice serve, the run is started there, and this process follows it: the workflow, its
child workflows and the input are sent, at most 64 MiB, and programs start in the folder in which sluice run was called. Ctrl-C
then ends only this process, and prints the commands that follow and cancel the run.

With --server the run is started in a sluice serve elsewhere, in the same way.

With --resume --all it works on all open runs until none moves: no call is under way, and no timer is due within ten seconds. It
prints the number of runs by status, and ends with 1 if a run has failed or cannot go on.

The RUN of --resume is the id of a run, or an unambiguous beginning of it. It shows the events from then on; for a run that
has ended, it shows the result again.

A program that the workflow runs receives the variables PATH, HOME, LANG and TMPDIR of the environment, those that --pass-env
names, and those that its binding sets under env; and of the call SLUICE_RUN, SLUICE_STEP, SLUICE_ATTEMPT, and
SLUICE_IDEMPOTENCY_KEY, which is the same when the call is made again. It receives no others, so that it cannot read your
tokens. When it ends, the processes that it has started are ended too, except those in other sessions, as setsid
creates: these continue after the step and the run.

It ends with 0 if the run completed, with 1 if it did not, with 2 if the workflow or its input is refused, and with 130 if
the run was interrupted.`,
		Example: `  sluice run backup.yaml
  sluice run backup.yaml --input '{"folder": "/etc"}'
  sluice run backup.yaml --input @order.json --data ./journal --id tuesday
  sluice run backup.yaml --data ./journal --label team=storage
  sluice run --data ./journal --resume tuesday
  sluice run --data ./journal --resume --all
  sluice run offers.yaml --directory providers.yaml
  sluice run deploy.yaml --pass-env SSH_AUTH_SOCK --pass-env KUBECONFIG
  sluice run count.yaml --server http://127.0.0.1:8080
  sluice run count.yaml -o quiet`,
	}
	f := &runFlags{}
	flags := cmd.Flags()
	flags.StringVarP(&f.input, "input", "i", "", "the run's input: `JSON`, @FILE with JSON in it, or - for standard input")
	cli.DataFlag(cmd, &f.data, "keep the journal in `DIR`, so that the run can be resumed")
	cli.ServerFlag(cmd, &f.data)
	flags.StringVar(&f.id, "id", "", "the id `RUN` of the new run (default: a random one)")
	flags.StringArrayVarP(&f.label, "label", "l", nil, "attach the label `NAME=TEXT` to the new run (may be repeated)")
	flags.StringVar(&f.resume, "resume", "", "resume `RUN`, or show again how it ended; --all: work on all open runs until none moves")
	flags.StringVar(&f.directory, "directory", "", "the participants are in `FILE`, read again when it changes (default: those of the workflow)")
	flags.StringArrayVar(&f.passEnv, "pass-env", nil, "pass the environment variable `NAME` to programs, too (may be repeated)")
	f.worlds.add(cmd)
	output := cli.Choose(cmd, "output", "o", "how to show the run", view.Tree, view.JSON, view.Quiet)
	cli.CompleteRunFlag(cmd, "resume")
	cmd.Args = f.check
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.output = output.Value
		return f.run(cmd, args)
	}
	return cmd
}

// runFlags are the flags of the verb run.
type runFlags struct {
	input, data, id, resume, directory, output string

	passEnv, label []string
	worlds         worldFlags

	named   bool  // the argument may be the name of a published workflow
	unbound error // the reason that the workflow needs workers; set by load
}

// refuseEmptyID refuses an explicit empty id, such as an unset variable of a shell: each such start would begin another run.
func refuseEmptyID(cmd *cobra.Command, id string) error {
	if id == "" && cmd.Flags().Changed("id") {
		return errors.New("--id is empty; leave it out for a random id")
	}
	return nil
}

// check refuses flags and arguments that cannot be combined.
func (f *runFlags) check(cmd *cobra.Command, args []string) error {
	for _, name := range f.passEnv {
		if err := operation.CheckVariable(name); err != nil {
			return fmt.Errorf("--pass-env: %w", err)
		}
	}
	if err := f.checkServer(cmd); err != nil {
		return err
	}
	switch {
	case refuseEmptyID(cmd, f.id) != nil:
		return refuseEmptyID(cmd, f.id)
	case f.resume == "" && cmd.Flags().Changed("resume"):
		return errors.New("--resume needs the id of a run")
	case f.resume == allRuns && (f.data == "" || len(args) > 0 || cmd.Flags().Changed("input") || f.id != ""):
		return errors.New("--resume --all needs --data, and takes no workflow, --input or --id")
	case f.resume == "":
		return cli.Arguments(cmd, args)
	case f.data == "":
		return errors.New("--resume needs --data: the folder the run's journal is in")
	case len(args) > 0:
		return fmt.Errorf("--resume takes no workflow: the journal holds that of run %s", f.resume)
	case cmd.Flags().Changed("input") || f.id != "" || len(f.label) > 0:
		return errors.New("--resume cannot be used with --input, --id or --label: the run has them")
	}
	return nil
}

// checkServer refuses flags that apply only to a run in this process, if the run is started at a server.
func (f *runFlags) checkServer(cmd *cobra.Command) error {
	if !client.IsURL(f.data) {
		return nil
	}
	if f.resume == allRuns {
		return errors.New("--resume --all needs --data: a server works on its runs by itself")
	}
	for _, name := range append([]string{"directory", "pass-env"}, f.worlds.names()...) {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is for a run in this process: give it to the sluice serve", name)
		}
	}
	return nil
}

func (f *runFlags) run(cmd *cobra.Command, args []string) error {
	input, err := cli.ReadInput(f.input, cmd.InOrStdin())
	if err != nil {
		return cli.Refuse(fmt.Errorf("--input: %w", err))
	}
	if f.resume == allRuns {
		return f.resumeAll(cmd)
	}
	// Until here, Ctrl-C ends the process, also while it reads its input.
	stops := listen(cli.ReaderGone(cmd.OutOrStdout()))
	defer stops.close()
	ctx := cmd.Context()
	switch {
	case client.IsURL(f.data) && f.resume != "":
		return f.resumeHeld(cmd, stops)
	case client.IsURL(f.data):
		return f.runHeld(cmd, input, args[0], stops)
	}
	s, err := f.open(ctx, input, args)
	for errors.Is(err, folder.ErrServed) {
		if f.resume == "" {
			err = f.runHeld(cmd, input, args[0], stops)
		} else {
			err = f.resumeHeld(cmd, stops)
		}
		if !errors.Is(err, errHostEnded) {
			return err
		}
		s, err = f.open(ctx, input, args)
	}
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.begin(ctx); err != nil {
		return err
	}
	v := view.New(f.output, cmd.OutOrStdout(), &view.Run{Workflow: s.workflow, Dir: f.data, Seen: s.seen}, stops)
	s.log.to(v)
	end := s.follow(ctx, v, stops)
	if end.err == nil && end.result == nil {
		end.resume = f.resumeCommand(s.run.ID())
	}
	v.End(view.Summary{Result: end.result, Resume: end.resume})
	s.log.to(nil)
	return f.conclude(cmd.ErrOrStderr(), s.run.ID(), end)
}

// open makes the session of a run without starting the run.
func (f *runFlags) open(ctx context.Context, input value.Value, args []string) (*session, error) {
	known, err := f.participants()
	if err != nil {
		return nil, cli.Refuse(err)
	}
	config := coordinator.Config{Directory: known, PassEnv: f.passEnv}
	f.worlds.configure(&config)
	if f.resume != "" {
		return openToResume(ctx, f.data, f.resume, config)
	}
	if f.id != "" {
		if err := limits.CheckID(f.id); err != nil {
			return nil, cli.Refuse(fmt.Errorf("--id: %w", err))
		}
	}
	of := &startParameters{input: input, id: f.id}
	if of.labels, err = f.labels(); err != nil {
		return nil, cli.Refuse(err)
	}
	if of.dir, err = os.Getwd(); err != nil {
		return nil, cli.Fail(err)
	}
	if f.named && !isFile(args[0]) {
		of.name = args[0]
		return openToStart(ctx, f.data, of, config)
	}
	loaded, p, err := cli.LoadToRun(args[0], f.passEnv...)
	if err != nil {
		if f.forHost(ctx, args[0]) {
			return nil, folder.ErrServed
		}
		return nil, cli.Refuse(err)
	}
	config.Loaded, of.workflow = loaded, p.Workflow
	return openToStart(ctx, f.data, of, config)
}

// forHost reports whether a workflow that this process cannot run can be left to the workers of the process that works on the folder.
func (f *runFlags) forHost(ctx context.Context, file string) bool {
	if f.data == "" {
		return false
	}
	_, _, unbound, err := cli.LoadForHost(ctx, file, f.data)
	return err == nil && unbound != nil
}

// labels returns the labels of the new run.
func (f *runFlags) labels() (map[string]string, error) {
	labels, err := cli.ParseLabels(f.label)
	if err != nil {
		return nil, err
	}
	if err := limits.CheckLabels(labels); err != nil {
		return nil, fmt.Errorf("--label: %w", err)
	}
	return labels, nil
}

// participants returns the directory of --directory; nil: the workflow has its own.
func (f *runFlags) participants() (directory.Directory, error) {
	if f.directory == "" {
		return nil, nil
	}
	file, err := directory.Open(f.directory, directory.Config{})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// remedy returns the advice for the error of a parked run.
func remedy(err error) string {
	if errors.Is(err, coordinator.ErrMissing) {
		return ": start the program that has it, sluice has no Go operations"
	}
	return ""
}

// conclude returns the Exit for the end of a run that was shown.
func (f *runFlags) conclude(stderr io.Writer, id string, end ending) error {
	switch {
	case errors.Is(end.err, coordinator.ErrParked):
		return cli.Fail(fmt.Errorf("run %s is parked: %s%s", id, coordinator.ParkedReason(end.err), remedy(end.err)))
	case end.err != nil:
		return cli.Fail(end.err)
	case end.result == nil:
		return &cli.Exit{Code: cli.Interrupted, Err: fmt.Errorf("suspended; to go on, run:\n  %s", end.resume)}
	case end.result.Status == reactive.RunCompleted:
		return nil
	case end.interrupted:
		return &cli.Exit{Code: cli.Interrupted}
	}
	if f.output == view.Quiet {
		fmt.Fprintf(stderr, "sluice: %s\n", progress.CleanLines(end.result.Err().Error()))
	}
	return cli.Fail(nil)
}

// resumeCommand returns the command line that resumes the run with the flags of this process.
func (f *runFlags) resumeCommand(id string) string {
	text := cli.ResumeCommand(f.data, id)
	if f.directory != "" {
		text += " --directory " + cli.Quote(f.directory)
	}
	for _, name := range f.passEnv {
		text += " --pass-env " + cli.Quote(name)
	}
	return text + f.worlds.text()
}
