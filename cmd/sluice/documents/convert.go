package documents

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
	"github.com/sluiceflow/sluice/template/wfformat"
)

func newConvert() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "convert FORMAT FILE",
		Short:   "Convert a file of another format to a workflow",
		Long:    `Convert reads a file of another format and writes a workflow document. Its verbs are the formats.`,
		Example: `  sluice convert wfformat montage.json --speed 1000 -o montage.yaml`,
		Args:    cli.SuggestVerb,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConvertWfformat())
	return cmd
}

func newConvertWfformat() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "wfformat FILE",
		Short: "Convert a recorded run in the WfCommons format to a workflow",
		Long: `Convert wfformat reads a workflow instance in the WfCommons format (WfFormat, schema 1.5), which records a run, and writes a
workflow of the same shape. Each step sleeps for as long as its task took, or, with --commands, runs the command of the task.

It ends with 0 if the workflow is written, with 1 if it cannot be written, and with 2 if the file is refused.`,
		Example: `  sluice convert wfformat montage.json --speed 1000 -o montage.yaml && sluice run montage.yaml
  sluice convert wfformat genome.json --commands | less`,
		Args: cli.Arguments,
	}
	var opts wfformat.Options
	var out string
	cmd.Flags().Float64Var(&opts.Speed, "speed", 1, "divide the recorded runtimes by `N`")
	cmd.Flags().BoolVar(&opts.Commands, "commands", false, "run the recorded commands instead of sleeping")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` (default: standard output)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if opts.Speed <= 0 {
			return cli.Refuse(fmt.Errorf("--speed must be positive, not %v", opts.Speed))
		}
		w, err := convertWfformat(args[0], opts)
		if err != nil {
			return cli.Refuse(err)
		}
		if err := write(cmd.OutOrStdout(), out, w); err != nil {
			return cli.Fail(err)
		}
		return nil
	}
	return cmd
}

func convertWfformat(file string, opts wfformat.Options) (*template.Workflow, error) {
	data, err := readfile.Regular(file, wfformat.SizeMax)
	if err != nil {
		return nil, err
	}
	instance, err := wfformat.Parse(data)
	if faults, ok := errors.AsType[document.Errors](err); ok {
		for _, fault := range faults {
			fault.File = file
		}
		return nil, faults
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	w, err := instance.Workflow(opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return w, nil
}

// write writes a workflow as YAML to the named file, or to w if file is "".
func write(w io.Writer, file string, workflow *template.Workflow) error {
	doc, err := value.Of(workflow.Document())
	if err != nil {
		return err
	}
	text, err := document.AppendYAML(nil, doc, "kind", "name", "version", "id", "operation")
	if err != nil {
		return err
	}
	if file != "" {
		return os.WriteFile(file, text, 0o644)
	}
	_, err = w.Write(text)
	return err
}
