package documents

import (
	"fmt"
	"io"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator/scenario"
)

func newTest() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test PATH...",
		Short: "Run scenarios in virtual time",
		Long: `Test runs the scenarios in files and folders: documents with the answers to the calls of a workflow, and the expectations about
the run. It makes no calls and never sleeps, and its result is the same each time. For a scenario that fails it prints the
differences, and the event after which each appeared.

With --crash the engine is discarded after every append and rebuilt from its journal, which must change nothing; a workflow
with a step that is not idempotent is run without crashes. With --seed, answers at the same instant are shuffled.

For programs, -o json prints one object for each scenario:
  {"scenario":…,"file":…,"line":…,"passed":…,"duration":…,"events":…,"crashes":…,
   "differences":[{"where":…,"at":…,"key":…,"want":…,"got":…,"event":{"seq":…,"type":…,"node":…,"at":…}}],
   "refused":[{"at":…,"command":…,"reason":…}]}

It ends with 0 if all scenarios pass, with 1 if one fails, and with 2 if a scenario cannot be read. If
the workflow of a scenario cannot be read or is not valid, that scenario fails.`,
		Example: `  sluice test scenarios/
  sluice test orders.yaml --run declined --crash`,
		Args: cli.Arguments,
	}
	t := &scenarioTest{}
	cmd.Flags().StringVarP(&t.only, "run", "r", "", "run only scenarios whose name matches `REGEXP`")
	cmd.Flags().BoolVar(&t.options.Crash, "crash", false, "rebuild the engine from its journal after every append")
	cmd.Flags().Int64Var(&t.options.Seed, "seed", 0, "shuffle the answers of one instant with the seed `N` (0: they come in the order of the calls)")
	output := cli.Choose(cmd, "output", "o", "what to print", "text", "json")
	cmd.RunE = func(cmd *cobra.Command, paths []string) error {
		t.out, t.asJSON = cmd.OutOrStdout(), output.Value == "json"
		return t.run(paths)
	}
	return cmd
}

// scenarioTest runs scenarios one after the other and counts the results.
type scenarioTest struct {
	out            io.Writer
	asJSON         bool
	only           string
	options        scenario.Options
	passed, failed int
}

func (t *scenarioTest) run(paths []string) error {
	only, err := regexp.Compile(t.only)
	if err != nil {
		return cli.Refuse(fmt.Errorf("--run: %w", err))
	}
	scenarios, err := scenario.Load(paths...)
	if err != nil {
		return cli.Refuse(err)
	}
	for _, s := range scenarios {
		if only.MatchString(s.Name) {
			t.show(s.Run(t.options))
		}
	}
	return t.conclude()
}

func (t *scenarioTest) show(r *scenario.Report) {
	if r.Passed {
		t.passed++
	} else {
		t.failed++
	}
	if !t.asJSON {
		fmt.Fprintln(t.out, progress.CleanLines(r.String()))
		return
	}
	_ = cli.NewJSON(t.out, t.out).Encode(r) // flat structs of strings and numbers always encode
}

// conclude prints the counts, and returns the Exit for them; nil if all scenarios passed.
func (t *scenarioTest) conclude() error {
	if t.passed+t.failed == 0 {
		return cli.Refuse(fmt.Errorf("no scenario has a name that matches %q", t.only))
	}
	if !t.asJSON {
		fmt.Fprintf(t.out, "\n%s: %d passed, %d failed\n", cli.Plural(t.passed+t.failed, "scenario"), t.passed, t.failed)
	}
	if t.failed > 0 {
		return cli.Fail(nil)
	}
	return nil
}
