package runs

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/template/value"
)

func newExplain() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain RUN [STEP]",
		Short: "Explain the status of a run, a step or a cell",
		Long: `Explain shows the waits of a run or of one of its steps, or the reason that it was skipped, aborted, blocked or failed: the steps
before it, a slot, a timer, a person, a message, the test of a conditional with the values that it has read, or the chain of
failures from the first one. In a playbook it also shows the tokens at gates with the rule that denies them, joins, and arcs that
were not taken. Each reason has the event that decided it.

With --at it explains the run as it was after an event, or at a time.

RUN is the id of a run, or an unambiguous beginning of it. STEP is a key in the form that runs show prints. In a playbook it is
the name of a step, or of a step-run, its item or its call, such as fetch@2, fetch@2[7] and fetch@2[7].get.

In a world STEP is the address of a cell, such as order[a], or the key of a call. It may also be the number of an event, such as
'#42': then explain shows all consequences of that event: the cells that took it, the events that they raised, the effects that
they requested, and the consequences of these. With -o json it prints one object:
  {"about":…,"kind":…,"status":…,"decided":{"seq":…,"type":…,"at":…},"reasons":[{"kind":…,"text":…,"values":…,"reasons":[…]}]}`,
		Example: `  sluice explain tuesday --data ./journal
  sluice explain tuesday pay --data ./journal
  sluice explain tuesday 'check[3]' --data ./journal -o json | jq '.. | .text?'
  sluice explain tuesday pay --at '2026-01-31 09:30:00' --data ./journal
  sluice explain shop 'order[a]' --data ./journal
  sluice explain shop '#42' --data ./journal`,
		Args: cli.Arguments,
	}
	cli.Complete(cmd, cli.RunArgument, cli.StepArgument)
	q, at := newQuery(cmd), cli.MomentFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		step := ""
		if len(args) == 2 {
			step = args[1]
		}
		return q.with(cmd, func(c *folder.Client) error {
			x, err := at.Of(c).Explain(cmd.Context(), args[0], step)
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if q.table() {
				showExplanation(w, args[0], x)
				return nil
			}
			enc := cli.NewJSON(w, w)
			if q.output.Value == "json" {
				enc.SetIndent("", "  ")
			}
			return enc.Encode(x)
		})
	}
	return cmd
}

// showExplanation prints an explanation as text: each reason below its consequence.
func showExplanation(w io.Writer, run string, x *coordinator.Explanation) {
	what := x.Kind + " " + x.About
	if x.Kind == "run" {
		what = "run " + run
	}
	fmt.Fprintf(w, "%s is %s%s\n", what, x.Status, decidedBy(x.Decided))
	showReasons(w, x.Reasons, "  ")
}

func showReasons(w io.Writer, list []coordinator.Reason, indent string) {
	for i := range list {
		r := &list[i]
		fmt.Fprintf(w, "%s%s%s\n", indent, progress.Clean(r.Text), decidedBy(r.Decided))
		for _, name := range slices.Sorted(maps.Keys(r.Values)) {
			fmt.Fprintf(w, "%s  %s = %s\n", indent, name, progress.Clean(valueText(r.Values[name])))
		}
		for _, name := range slices.Sorted(maps.Keys(r.Missing)) {
			fmt.Fprintf(w, "%s  %s: %s\n", indent, name, progress.Clean(r.Missing[name]))
		}
		showReasons(w, r.Reasons, indent+"  ")
	}
}

func valueText(v any) string {
	text, err := value.JSON(v)
	if err != nil {
		return value.Text(v)
	}
	return string(text)
}

// decidedBy returns the deciding event in brackets; "" for nil.
func decidedBy(e *coordinator.DecidingEvent) string {
	if e == nil {
		return ""
	}
	number := fmt.Sprintf("#%d", e.Seq)
	if e.Seq == 0 {
		number = "not journaled yet:"
	}
	text := fmt.Sprintf("  [%s %s, %s", number, e.Type, cli.Local(e.At))
	if e.Actor != "" {
		text += " by " + progress.Clean(e.Actor)
	}
	if e.Reason != "" {
		text += ": " + progress.Clean(e.Reason)
	}
	return text + "]"
}
