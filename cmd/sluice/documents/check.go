package documents

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/explore"
	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// checkFlags holds the flags of the verb check.
type checkFlags struct {
	states, depth int
	never         []string
	outputs       []string
	input         string
	all           bool
	partial       bool
	output        *cli.Choice
}

func newCheck() *cobra.Command {
	f := &checkFlags{}
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Explore all possible runs of a workflow",
		Long: `Check explores all possible runs of a small workflow or playbook, up to a bound: in each move a call answers,
fails or times out, or a gate opens, in every order that makes a difference. It makes no call. It reports a run that can never
end, a step that never runs, a final step that runs twice, and each condition of --never, or of the key x-never of the
document, that can hold; with each it prints a shortest sequence of moves that leads there.

A condition reads run.status, run.finished, and steps.NAME.status, .output and .error; that of a playbook also ctx, and
runs.NAME, the number of times that a step has run. Answers and failures of calls are guessed from the parts of them that the
document reads and the values that it compares them with; --answer sets an answer instead. Without --input, the input of a
workflow is guessed in the same way, within its schema. Worlds cannot be explored yet: test tries them with scenarios.

For programs, -o json prints one object:
  {"name":…,"states":…,"complete":…,"ends":[…],"findings":[{"kind":…,"step":…,"text":…,"trace":[…]}]}

It ends with 0 if it found nothing, with 1 if it found something, with 2 if the document is refused, and with 3 if a bound, such
as --states or --depth, prevented a complete exploration, with or without findings. With --partial it then ends with 0 or 1. On a
terminal it shows its progress.`,
		Example: `  sluice check order.yaml
  sluice check order.yaml --never '{{ steps.ship.status == "completed" && steps.pay.status != "completed" }}'
  sluice check order.yaml --answer 'price={"price": 9}' --answer 'price={"price": 99}'
  sluice check playbook.yaml --states 1000000 -o json`,
		Args: cli.Arguments,
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.never, "never", nil, "report whether `CONDITION` can hold (may be repeated)")
	flags.StringArrayVar(&f.outputs, "answer", nil, "the value that a step, or STEP.TASK of a playbook, answers: `STEP=JSON` (may be repeated)")
	flags.StringVarP(&f.input, "input", "i", "", "the input of the run: `JSON`, @FILE, or - for standard input")
	flags.IntVar(&f.states, "states", 20_000, "explore `N` states at most")
	flags.IntVar(&f.depth, "depth", 500, "explore sequences of `N` moves at most")
	flags.BoolVar(&f.all, "all-orders", false, "explore orders that make no difference, too")
	flags.BoolVar(&f.partial, "partial", false, "end with 0 or 1 also if not everything was explored")
	f.output = cli.Choose(cmd, "output", "o", "what to print", "text", "json")
	cmd.RunE = f.run
	return cmd
}

func (f *checkFlags) run(cmd *cobra.Command, args []string) error {
	if f.states < 1 || f.depth < 1 {
		return cli.Refuse(fmt.Errorf("--states and --depth must be at least 1, not %d and %d", f.states, f.depth))
	}
	input, err := cli.ReadInput(f.input, cmd.InOrStdin())
	if err != nil {
		return cli.Refuse(fmt.Errorf("--input: %w", err))
	}
	outputs, err := parseAnswers(f.outputs)
	if err != nil {
		return cli.Refuse(err)
	}
	own, err := neverOf(args[0])
	if err != nil {
		return cli.Refuse(err)
	}
	p, err := cli.Load(args[0], template.Known{Lenient: true})
	if err != nil {
		return cli.Refuse(err)
	}
	watched := newWatched(cmd.ErrOrStderr(), f.states)
	report, err := explore.Run(p, explore.Options{
		StatesMax: f.states, DepthMax: f.depth, Never: append(own, f.never...), Outputs: outputs, Input: input, AllOrders: f.all, Progress: watched.show,
	})
	watched.end()
	if _, badInput := errors.AsType[*coordinator.InputError](err); badInput {
		return cli.Refuse(fmt.Errorf("--input: %w", err))
	}
	if err != nil {
		return cli.Refuse(err)
	}
	if f.output.Value == "json" {
		enc := cli.NewJSON(cmd.OutOrStdout(), cmd.OutOrStdout())
		enc.SetIndent("", "  ")
		if err := enc.Encode(report); err != nil {
			return err
		}
	} else {
		showReport(cmd.OutOrStdout(), args[0], report)
	}
	switch {
	case !report.Complete && !f.partial:
		return &cli.Exit{Code: cli.Incomplete}
	case len(report.Findings) > 0:
		return cli.Fail(nil)
	}
	return nil
}

// parseAnswers returns the values of --answer, by step.
func parseAnswers(list []string) (map[string][]value.Value, error) {
	answers := map[string][]value.Value{}
	for _, text := range list {
		step, data, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("--answer %q: write STEP=JSON", text)
		}
		v, err := value.ParseInput([]byte(data))
		if err != nil {
			return nil, fmt.Errorf("--answer of %s: %w", step, err)
		}
		answers[step] = append(answers[step], v)
	}
	return answers, nil
}

// neverOf returns the conditions of the key x-never of a document.
func neverOf(file string) ([]string, error) {
	data, err := readfile.Regular(file, document.BytesMax)
	if err != nil {
		return nil, err
	}
	nodes, err := document.Parse(file, data, document.Limits{})
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	n := nodes[0].Get("x-never")
	if n == nil {
		return nil, nil
	}
	if text, ok := n.Text(); ok {
		return []string{text}, nil
	}
	var list []string
	for _, item := range n.Items() {
		text, ok := item.Text()
		if !ok {
			return nil, &document.Error{Pos: item.Pos, Msg: "x-never is a condition {{ … }} or a list of them"}
		}
		list = append(list, text)
	}
	if list == nil {
		return nil, errors.New("x-never is a condition {{ … }} or a list of them")
	}
	return list, nil
}

// showReport prints the findings for people.
func showReport(w io.Writer, file string, r *explore.Report) {
	extent := "everything that can happen"
	if !r.Complete {
		extent = "not everything that can happen: see --states, --depth and --partial"
	}
	what := "nothing found"
	if n := len(r.Findings); n > 0 {
		what = cli.Plural(n, "finding")
	}
	fmt.Fprintf(w, "%s: %s in %s, %s; %s\n", file, what, cli.Plural(r.States, "state"), extent, endsText(r.Ends))
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(w, "\n%s: %s\n", f.Kind, progress.CleanLines(f.Text))
		for k, step := range f.Trace {
			fmt.Fprintf(w, "  %2d. %s\n", k+1, progress.CleanLines(step))
		}
	}
	if slices.ContainsFunc(r.Findings, func(f explore.Finding) bool { return f.Kind == explore.NeverRuns }) {
		fmt.Fprintf(w, "\nanswers are guessed from what %s reads of them: --answer STEP=JSON and --input JSON say what there is besides\n", filepath.Base(file))
	}
}

func endsText(ends []string) string {
	if len(ends) == 0 {
		return "no run ended"
	}
	return "runs end as " + strings.Join(ends, ", ")
}
