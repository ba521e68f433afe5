package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

func newRun() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a workflow and follow it to its end",
		Long: `Run runs a workflow and shows what happens until it ends.

On a terminal it shows a tree that is drawn anew as things happen; elsewhere a line for each thing that happens:
  +0.213s  ✓ completed  find  120ms
With -o json it prints one object for each event of the run, {"event":…,"changes":[…],"status":…}, and at last
{"result":{"run":…,"status":…,"output":…,"failure":…}}; with -o quiet nothing but the output, a text as it is and anything
else as JSON.

Without --data the run's journal is in memory, and Ctrl-C cancels the run. With it the journal is in DIR, and Ctrl-C
suspends the run: calls under way are given a moment and then stopped, and the command that resumes the run is printed. A
second Ctrl-C ends everything at once. SIGTERM and SIGHUP are as good as Ctrl-C, and so is a reader of the output that
goes away, as in sluice run backup.yaml | head -1. A run that is resumed, by its id or as much of its beginning as tells it
from others, is shown from there on; one that has ended shows again how it did.

Programs that the workflow runs get of the environment PATH, HOME, LANG and TMPDIR, the variables that --pass-env names, and
those that their binding sets under env; nothing else, so that a token of yours is not theirs. What a program has started is
ended with it, unless it has made a session of its own, as setsid does: that outlives its step, and the run.

It ends with 0 if the run completed, with 1 if it did not, with 2 if the workflow or its input is refused, and with 130
if it was interrupted.`,
		Example: `  sluice run backup.yaml
  sluice run backup.yaml --input '{"folder": "/etc"}'
  sluice run backup.yaml --input @order.json --data ./journal --id tuesday
  sluice run --data ./journal --resume tuesday
  sluice run offers.yaml --directory providers.yaml
  sluice run deploy.yaml --pass-env SSH_AUTH_SOCK --pass-env KUBECONFIG
  sluice run count.yaml -o quiet`,
	}
	f := &runFlags{}
	flags := cmd.Flags()
	flags.StringVarP(&f.input, "input", "i", "", "the run's input: `JSON`, @FILE with JSON in it, or - for standard input")
	flags.StringVarP(&f.data, "data", "d", "", "keep the journal in `DIR`, so that the run can be resumed")
	flags.StringVar(&f.id, "id", "", "call the run `RUN` (default: a new id)")
	flags.StringVar(&f.resume, "resume", "", "go on with `RUN`, or show again how it ended")
	flags.StringVar(&f.directory, "directory", "", "who can be asked is in `FILE`, read again when it changes (default: the workflow's)")
	flags.StringArrayVar(&f.passEnv, "pass-env", nil, "programs get the variable `NAME` of the environment, too (can be repeated)")
	output := choose(cmd, "output", "o", "how to show the run", "tree", "json", "quiet")
	cmd.Args = f.check
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.output = output.value
		return f.run(cmd, args)
	}
	return cmd
}

// runFlags are the flags of the verb run.
type runFlags struct {
	input, data, id, resume, directory, output string

	passEnv []string
}

// check finds flags and arguments that do not go together.
func (f *runFlags) check(cmd *cobra.Command, args []string) error {
	for _, name := range f.passEnv {
		if err := operation.CheckVariable(name); err != nil {
			return fmt.Errorf("--pass-env: %w", err)
		}
	}
	switch {
	case f.resume == "" && cmd.Flags().Changed("resume"):
		return errors.New("--resume needs the id of a run")
	case f.resume == "":
		return cobra.ExactArgs(1)(cmd, args)
	case f.data == "":
		return errors.New("--resume needs --data: the folder the run's journal is in")
	case len(args) > 0:
		return fmt.Errorf("--resume takes no workflow: the journal knows that of run %s", f.resume)
	case cmd.Flags().Changed("input") || f.id != "":
		return errors.New("--resume goes without --input and --id: the run has them")
	}
	return nil
}

func (f *runFlags) run(cmd *cobra.Command, args []string) error {
	input, err := readInput(f.input, cmd.InOrStdin())
	if err != nil {
		return refuse(fmt.Errorf("--input: %w", err))
	}
	// From here on Ctrl-C is ours; before, it just ends the command, also while that reads.
	stops := listen(unreadOf(cmd.OutOrStdout()))
	defer stops.close()
	ctx := cmd.Context()
	s, err := f.open(ctx, input, args)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.begin(ctx); err != nil {
		return err
	}
	v := newView(f.output, cmd.OutOrStdout(), s, stops)
	s.log.to(v)
	return conclude(cmd.ErrOrStderr(), f, s, v, s.follow(ctx, v, stops))
}

// open gets ready all that a run needs, and does not start it.
func (f *runFlags) open(ctx context.Context, input value.Value, args []string) (*session, error) {
	known, err := f.whoIsThere()
	if err != nil {
		return nil, refuse(err)
	}
	config := coordinator.Config{Directory: known, PassEnv: f.passEnv}
	if f.resume != "" {
		return openToResume(ctx, f.data, f.resume, config)
	}
	if f.id != "" {
		if err := template.ValidID(f.id); err != nil {
			return nil, refuse(fmt.Errorf("--id: %w", err))
		}
	}
	loaded, p, err := loadToRun(args[0], f.passEnv...)
	if err != nil {
		return nil, refuse(err)
	}
	config.Loaded = loaded
	return openToStart(ctx, f.data, p.Workflow, input, f.id, config)
}

// whoIsThere is the directory of --directory; nil: the workflow's own.
func (f *runFlags) whoIsThere() (directory.Directory, error) {
	if f.directory == "" {
		return nil, nil
	}
	file, err := directory.Open(f.directory, directory.Config{})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// inputMax is how many bytes of JSON are read as an input or a message: as many as the largest value has that is journaled.
const inputMax = 32 << 20

// readInput gives the value that --input stands for.
func readInput(text string, stdin io.Reader) (value.Value, error) {
	data := []byte(text)
	var err error
	switch {
	case text == "":
		return nil, nil
	case text == "-":
		data, err = readfile.All(stdin, "standard input", inputMax)
	case strings.HasPrefix(text, "@"):
		data, err = readfile.Regular(text[1:], inputMax)
	}
	if err != nil {
		return nil, err
	}
	return value.ParseInput(data)
}

// conclude shows how the run ended and gives the exit code for it.
func conclude(stderr io.Writer, f *runFlags, s *session, v view, end ending) error {
	if end.err == nil && end.result == nil {
		end.resume = resumeCommand(f.data, s.run.ID())
		if f.directory != "" {
			end.resume += " --directory " + quote(f.directory)
		}
		for _, name := range f.passEnv {
			end.resume += " --pass-env " + quote(name)
		}
	}
	v.end(end)
	s.log.to(nil)
	switch {
	case errors.Is(end.err, coordinator.ErrParked):
		return &exit{failed, fmt.Errorf("run %s is parked: %s", s.run.ID(), coordinator.ParkedReason(end.err))}
	case end.err != nil:
		return &exit{failed, end.err}
	case end.result == nil:
		return &exit{interrupted, fmt.Errorf("suspended, to go on run:\n  %s", end.resume)}
	case end.result.Status == reactive.RunCompleted:
		return nil
	case end.interrupted:
		return &exit{interrupted, nil}
	}
	if f.output == "quiet" {
		fmt.Fprintf(stderr, "sluice: %s\n", progress.CleanLines(end.result.Err().Error()))
	}
	return &exit{failed, nil}
}

// ending is how following a run has ended.
type ending struct {
	result      *coordinator.Result // nil: it goes on, or will when resumed
	resume      string              // the command for that; "" when there is nothing to resume
	interrupted bool                // somebody wanted it to stop
	err         error               // why nothing is known of its end
}
