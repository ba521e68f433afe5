// Package bulk implements the verb that acts on many runs at once, and the verbs below it that show and stop such acts.
package bulk

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// New returns the verb. Each call returns a new one, since a cobra.Command keeps the flags it was run with.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bulk",
		Short: "Act on all runs that a query selects",
		Long: `Bulk carries out a verb on many runs: on those that --where selects, as in sluice runs list.

Without --expect it changes nothing: it prints the number of runs that the query selects, the effect on them, and the command to
type, which has their number. With --expect N it acts if the query still selects N runs; otherwise it is refused as a whole.

An act chooses its runs once, and is journaled with them. If a process works on DIR, that process acts, also after this command
is interrupted; otherwise this process does. An interrupted act continues with the next host (sluice serve), or before the next
act. At the end it prints the outcome for each run: done; already, if the run needed no change or has ended; refused, with the
reason. A second act on the same run at the same time is refused.`,
		Example: `  sluice bulk cancel --where 'workflow:order status:waiting' --data ./journal
  sluice bulk cancel --where 'workflow:order status:waiting' --expect 12 --reason 'the shop closes' --data ./journal
  sluice bulk show 7 --data ./journal`,
		Args: cli.SuggestVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, name := range bulk.Verbs() {
		cmd.AddCommand(newAct(name))
	}
	cmd.AddCommand(newShow(), newList(), newStop())
	return cmd
}

// helpTexts holds the description of each verb.
var helpTexts = map[string]string{
	"rerun": `Rerun starts, for each run that the query selects, a new run that keeps results of it and runs the rest again, as sluice rerun
does; the runs stay as they are. One of --from, --only, --failed, --changed, --set, --input and --workflow selects the steps that
run again: see sluice rerun --help. A run is refused if that is not possible: a run without that step, or without a failure, a
playbook, a world. The preview counts the steps that will run, may run and are kept, and names those that are not idempotent. The
report has the id of each new run.`,
	"move": `Move switches each run to the workflow of --workflow, as sluice move does: a file, or the name of a published workflow (order,
order@2). A run is refused if its history differs under the new workflow; sluice shadow --where reports that
beforehand.`,
	"retry": `Retry makes a new attempt of every step that has failed finally, in all runs that the query selects. Playbooks and worlds are
refused. The preview names the steps among them that are marked as not idempotent.`,
	"delete": `Delete permanently removes runs that have ended, each with the runs that it has started. A run that has not ended is refused.`,
	"resume": `Resume ends the pause of each run, or releases a run that is held since its import.`,
	"cancel": `Cancel ends each run: steps that have not ended are aborted, and calls under way are stopped. It cannot be undone.`,
	"pause":  `Pause keeps new calls of each run from starting, until sluice resume or sluice bulk resume.`,
}

// requiredFlags holds the required flags of acts, for their examples.
var requiredFlags = map[string]string{"rerun": " --failed", "move": " --workflow order-new.yaml"}

const exitHelp = `

With -o json it prints one object a line: without --expect the preview, {"act":…,"query":…,"count":…,"will":…,"already":…,
"refused":…,"reasons":[{"why":…,"count":…}],"steps":…,"may":…,"kept":…,"not_idempotent":[{"workflow":…,"step":…,"count":…}]};
else {"run":…,"new":…,"result":…,"why":…} of each run, and at last {"id":…,"act":…,"query":…,"how":…,"state":…,"count":…,
"done":…,"already":…,"refused":…,"left":…, …}.

It ends with 0 when the act has ended, even if some runs were refused, and after --dry-run; with 1 if the act is refused, or would
be, because the number of runs differs from --expect or another act is under way on one of the runs, and if no process continues
it; with 2 for wrong usage, and without --expect.`

// newAct returns the verb that applies a named verb to many runs.
func newAct(name string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name,
		Short: strings.ToUpper(name[:1]) + name[1:] + " all runs that a query selects",
		Long:  helpTexts[name] + "\n\nSluice bulk --help describes acts." + exitHelp,
		Example: fmt.Sprintf(`  sluice bulk %s --where 'workflow:order age>1d' --data ./journal
  sluice bulk %s --where 'workflow:order age>1d' --expect 12 --reason 'see ticket 7' --data ./journal`, name+requiredFlags[name], name+requiredFlags[name]),
		Args: cli.Arguments,
	}
	v := newVerb(cmd)
	v.req.Act = name
	flags := cmd.Flags()
	flags.StringVarP(&v.req.Query, "where", "w", "", "the runs that `QUERY` selects")
	flags.IntVar(&v.req.Expect, "expect", 0, "act, if the query selects `N` runs")
	flags.BoolVar(&v.req.Dry, "dry-run", false, "only print the effect")
	flags.StringVarP(&v.req.Reason, "reason", "r", "", "record the reason `TEXT`")
	v.actor(cmd)
	switch name {
	case "rerun":
		v.rerunFlags(cmd)
	case "move":
		flags.StringVar(&v.workflow, "workflow", "", "the workflow `NEW`: a file, or the name of a published one")
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return v.act(cmd) }
	return cmd
}

// verb is one of the verbs about acts.
type verb struct {
	dir    string
	req    api.Request
	output *cli.Choice

	workflow, input string
	what            api.Rerun
	set             []string
}

func newVerb(cmd *cobra.Command) *verb {
	v := &verb{}
	cli.RunsFlag(cmd, &v.dir)
	v.output = cli.Choose(cmd, "output", "o", "what to print", "text", "json")
	return v
}

func (v *verb) actor(cmd *cobra.Command) {
	cmd.Flags().StringVar(&v.req.Actor, "actor", "", "record `NAME` as the author (default: the user's name)")
}

// with calls use with a client of the process that works on the folder, or, if there is none, of this process.
func (v *verb) with(cmd *cobra.Command, use func(*folder.Client) error) error {
	v.req.Actor = cli.Actor(v.req.Actor, v.dir)
	return cli.ExitOf(folder.With(cmd.Context(), v.dir, coordinator.Config{}, use))
}

// parseActID parses the id of an act.
func parseActID(text string) (uint64, error) {
	n, err := strconv.ParseUint(cmp.Or(journal.BulkIn(text), text), 10, 64)
	if err != nil || n == 0 {
		return 0, cli.Refuse(fmt.Errorf("there is no act %q: acts are numbered from 1, see sluice bulk list", text))
	}
	return n, nil
}
