package bulk

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/api"
)

// rerunFlags adds the flags that select the steps of a rerun.
func (v *verb) rerunFlags(cmd *cobra.Command) {
	v.req.Rerun = &v.what
	flags := cmd.Flags()
	flags.StringVar(&v.what.From, "from", "", "run `STEP` again, and all that follows it")
	flags.StringVar(&v.what.Only, "only", "", "run only `STEP` again")
	flags.BoolVar(&v.what.Failed, "failed", false, "rerun failed steps, and those that follow them")
	flags.BoolVar(&v.what.Changed, "changed", false, "run again the steps whose operation or input has changed")
	flags.StringArrayVar(&v.set, "set", nil, "set `steps.STEP.output=VALUE` or steps.STEP.input=VALUE, or a part of it (may be repeated)")
	flags.StringVarP(&v.input, "input", "i", "", "the input of the new runs: `JSON`, @FILE with JSON in it, or - for standard input (default: that of each run)")
	flags.StringVar(&v.workflow, "workflow", "", "the workflow `NEW`: a file, or the name of a published one (default: that of each run)")
}

// completeRequest completes the request of a rerun or a move.
func (v *verb) completeRequest(cmd *cobra.Command) (err error) {
	if v.req.Act == "move" && v.workflow == "" {
		return errors.New("under which workflow? name it by --workflow")
	}
	var a api.Attachment
	if v.req.Rerun != nil {
		if v.what.Set, err = cli.Settings(v.set); err != nil {
			return cli.Refuse(fmt.Errorf("--set: %w", err))
		}
		if cmd.Flags().Changed("input") {
			if a.Input, err = cli.NewInput(v.input, cmd.InOrStdin()); err != nil {
				return err
			}
		}
	}
	if v.workflow != "" {
		if v.req.Name, a.Parcel, err = cli.Workflow(cmd.Context(), v.workflow); err != nil {
			return cli.Refuse(err)
		}
	}
	if v.req.Rerun != nil && a.Parcel != nil {
		if v.req.Dir, err = os.Getwd(); err != nil {
			return cli.Fail(err)
		}
	}
	if a.Parcel == nil && a.Input == nil {
		return nil
	}
	if v.req.Attachment, err = a.Encode(); err != nil {
		return cli.Fail(err)
	}
	return nil
}

// selectionFlags returns the flags of the command line that select the steps of a rerun or the workflow, with their values.
func (v *verb) selectionFlags(cmd *cobra.Command) (words []string) {
	for _, one := range []struct {
		flag, text string
	}{{"--from", v.what.From}, {"--only", v.what.Only}} {
		if one.text != "" {
			words = append(words, one.flag, one.text)
		}
	}
	if v.what.Failed {
		words = append(words, "--failed")
	}
	if v.what.Changed {
		words = append(words, "--changed")
	}
	for _, set := range v.set {
		words = append(words, "--set", set)
	}
	if cmd.Flags().Changed("input") {
		words = append(words, "--input", v.input)
	}
	if v.workflow != "" {
		words = append(words, "--workflow", v.workflow)
	}
	return words
}
