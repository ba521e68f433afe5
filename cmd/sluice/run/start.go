package run

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/cmd/sluice/view"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

// isFile reports whether an argument is the path of a document, and not the name of a published workflow: a path has a folder or the
// extension of a document.
func isFile(arg string) bool {
	return strings.ContainsRune(arg, filepath.Separator) || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(arg))
}

func newStart() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "start FILE|NAME",
		Short: "Start a run, and leave it to the process that works on the folder",
		Long: `Start journals a new run of a workflow, and prints the run's id. The workflow is read from FILE, or is the newest version of
the published workflow NAME. An argument with a folder or with the extension .yaml, .yml or .json is a file.

If a process works on DIR, such as sluice serve, the run is started there: the workflow, its child workflows and the input are
sent, at most 64 MiB, and programs start in the folder in which sluice start was called. If no process does, the run is
journaled, and goes on when a process works on it: sluice serve, or the command that start prints.

With --wait it shows the run until it ends, as sluice run does; if no process works on DIR, this process carries the run out. A
start with the same --id, workflow and input starts nothing, and prints the id again.

For programs, -o json prints one object: {"run":…,"driven":…}, where driven is true if a process works on the run; with --wait it
prints the same as sluice run -o json.

It ends with 0 if the run is durable, with 1 if an error occurred, and with 2 if the workflow or its input is refused; with --wait
as sluice run does.`,
		Example: `  sluice start order.yaml --data ./journal --input '{"total": 12}'
  sluice start order --data ./journal --id order-5520 --label team=payments
  sluice start order --data ./journal --wait`,
		Args: cli.Arguments,
	}
	f := &runFlags{named: true}
	var wait bool
	cli.RunsFlag(cmd, &f.data)
	flags := cmd.Flags()
	flags.StringVarP(&f.input, "input", "i", "", "the run's input: `JSON`, @FILE with JSON in it, or - for standard input")
	flags.StringVar(&f.id, "id", "", "the id `RUN` of the new run (default: a random one)")
	flags.StringArrayVarP(&f.label, "label", "l", nil, "attach the label `NAME=TEXT`, which lists show (may be repeated)")
	flags.BoolVar(&wait, "wait", false, "show the run until it ends")
	output := cli.Choose(cmd, "output", "o", "what to print", "text", "json", view.Quiet)
	cli.Complete(cmd, cli.WorkflowArgument)
	cli.Before(cmd, func(cmd *cobra.Command) error { return refuseEmptyID(cmd, f.id) })
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !wait {
			return f.start(cmd, args[0], output.Value == "json")
		}
		f.output = map[string]string{"text": view.Tree, "json": view.JSON, view.Quiet: view.Quiet}[output.Value]
		return f.run(cmd, args)
	}
	return cmd
}

// start starts a run and does not wait for its end.
func (f *runFlags) start(cmd *cobra.Command, arg string, asJSON bool) error {
	input, err := cli.ReadInput(f.input, cmd.InOrStdin())
	if err != nil {
		return cli.Refuse(fmt.Errorf("--input: %w", err))
	}
	ctx := cmd.Context()
	req, _, err := f.request(ctx, input, arg)
	if err != nil {
		return err
	}
	open := folder.WithNew
	if req.Name != "" {
		open = folder.With // a name needs an existing journal, in which it was published
	}
	var done api.Done
	err = open(ctx, f.data, coordinator.Config{}, func(c *folder.Client) (err error) {
		done, err = c.Do(ctx, req)
		return err
	})
	if err != nil {
		if errors.Is(err, coordinator.ErrMissing) && f.unbound == nil {
			err = fmt.Errorf("%w%s", err, remedy(err))
		}
		return f.refused(err)
	}
	if done.Warning != "" {
		printNote(cmd.ErrOrStderr(), "warning: %s", done.Warning)
	}
	if !done.Driven {
		printNote(cmd.ErrOrStderr(), "no process works on run %s, which is journaled; to drive it, run one of:\n  %s\n  %s", done.Run,
			cli.ResumeCommand(f.data, done.Run), cli.CommandLine(f.data, []string{"serve"}))
	}
	if asJSON {
		p := cli.NewObjects(cmd.OutOrStdout(), false)
		p.Print(done)
		return p.End()
	}
	fmt.Fprintln(cmd.OutOrStdout(), progress.Clean(done.Run))
	return nil
}
