package runs

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

func newRunsOutput() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "output RUN [STEP]",
		Short: "Print the output of a run or a step",
		Long: `Output prints the whole output of a run, or of one of its steps, as JSON. STEP is the key of a step, such as check[3]. With
--participant it prints that participant's answer to the step.

RUN is the id of a run, or an unambiguous beginning of it. It ends with 1 if there is no output because the run or step has not
completed.`,
		Example: `  sluice runs output tuesday --data ./journal
  sluice runs output tuesday publish --data ./journal | jq .url
  sluice runs output tuesday quote --participant provider-a --data ./journal`,
		Args: cli.Arguments,
	}
	cli.Complete(cmd, cli.RunArgument, cli.StepArgument)
	var dir string
	cli.RunsFlag(cmd, &dir)
	compact := cmd.Flags().Bool("compact", false, "print it on one line")
	participant := cmd.Flags().String("participant", "", "print the answer of the participant `NAME`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		step := ""
		if len(args) > 1 {
			step = args[1]
		}
		q := &query{dir: dir}
		return q.with(cmd, func(c *folder.Client) error {
			v, err := c.Output(cmd.Context(), args[0], step, *participant)
			if err != nil {
				return err
			}
			var out bytes.Buffer
			if *compact {
				out.Write(v)
			} else if err := json.Indent(&out, v, "", "  "); err != nil {
				return err
			}
			out.WriteByte('\n')
			_, err = io.WriteString(cmd.OutOrStdout(), cli.ForPeople(cmd.OutOrStdout(), out.String()))
			return err
		})
	}
	return cmd
}
