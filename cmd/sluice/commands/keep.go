package commands

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

// keep is the verb that sets and prints how long runs are kept.
type keep struct {
	dir    string
	req    api.Request
	clear  bool
	output *cli.Choice
}

func newKeep() *cobra.Command {
	k := &keep{req: api.Request{Verb: api.Retain}}
	cmd := &cobra.Command{
		Use:   "keep [TIME]",
		Short: "Set how long runs are kept after they have ended",
		Long: `Keep sets how long the runs of a folder are kept after they have ended, and without TIME prints the rules. TIME is a number and s,
m, h, d or w, or forever. After that time sluice gc deletes the runs, and so does a host (sluice serve) by itself.

--where makes a rule for the runs that a query selects, as in sluice runs list. Of several rules that select a run, the longest
time counts; the rule without --where applies to runs that no other rule selects. A run stays while it is open, and while a run
that it has started is kept. --clear removes the rule with that query; without --where it removes all rules, and everything is
kept.

A new folder keeps runs for 30 days. A folder that an earlier version has made keeps all runs until a time is set.

With -o json it prints one object a line for each rule: {"where":…,"keep":…}. With --dry-run it sets nothing: it prints the rule
that would be journaled, or is refused as the rule would be. It ends with 2 if the query or the time is invalid.`,
		Example: `  sluice keep --data ./journal
  sluice keep 30d --data ./journal
  sluice keep 1w --where 'status:completed' --data ./journal
  sluice keep forever --where 'label.audit:yes' --data ./journal
  sluice keep --clear --where 'status:completed' --data ./journal`,
		Args: cli.Arguments,
	}
	cmd.ValidArgs = []string{"1d", "1w", "30d", "90d", api.Forever}
	cli.RunsFlag(cmd, &k.dir)
	flags := cmd.Flags()
	flags.StringVarP(&k.req.Query, "where", "w", "", "only for the runs that `QUERY` selects")
	flags.BoolVar(&k.clear, "clear", false, "remove the rule")
	flags.StringVar(&k.req.Actor, "actor", "", "record `NAME` as the author of the rule (default: the user's name)")
	takesDry(cmd, &k.req.Dry)
	k.output = cli.Choose(cmd, "output", "o", "what to print", "text", "json")
	cmd.RunE = k.run
	return cmd
}

func (k *keep) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	k.req.Actor = cli.Actor(k.req.Actor, k.dir)
	sets := k.clear || len(args) > 0
	switch {
	case k.clear && len(args) > 0:
		return fmt.Errorf("--clear removes a rule and %q sets one: give one of the two", args[0])
	case !sets && k.req.Dry:
		return fmt.Errorf("--dry-run previews a new rule: for how long? For example: sluice keep 30d --dry-run")
	case !sets && cmd.Flags().Changed("where"):
		return fmt.Errorf("--where says for which runs: for how long? For example: sluice keep 30d --where '%s'", progress.Clean(k.req.Query))
	case len(args) > 0 && args[0] == "":
		return fmt.Errorf("the time is empty: it is a number and s, m, h, d or w, such as 30d, or %s", api.Forever)
	case len(args) > 0:
		k.req.Keep = args[0]
	}
	k.req.Every = k.clear && !cmd.Flags().Changed("where")
	err := folder.With(ctx, k.dir, coordinator.Config{}, func(client *folder.Client) error {
		if sets {
			done, err := client.Do(ctx, &k.req)
			if err != nil || done.Dry {
				return k.printDryRun(cmd, &done, err)
			}
		}
		return k.show(cmd, client)
	})
	return cli.ExitOf(err)
}

// printDryRun prints the event that would be journaled, or returns the reason that the rule is refused.
func (k *keep) printDryRun(cmd *cobra.Command, done *api.Done, err error) error {
	if err != nil {
		return err
	}
	if k.output.Value == "json" {
		objects := cli.NewObjects(cmd.OutOrStdout(), false)
		objects.Print(done)
		return objects.End()
	}
	printDryRun(cmd.OutOrStdout(), done)
	return nil
}

// show prints the rules.
func (k *keep) show(cmd *cobra.Command, client *folder.Client) error {
	objects, out := cli.NewObjects(cmd.OutOrStdout(), false), cmd.OutOrStdout()
	rest := "runs are kept forever"
	others := ""
	for rule, err := range client.Rules(cmd.Context()) {
		if err != nil {
			return err
		}
		switch {
		case k.output.Value == "json":
			objects.Print(rule)
		case rule.Where == "":
			rest = "runs are kept " + keepText(rule.Keep)
		default:
			others += fmt.Sprintf("%s for: %s\n", keepText(rule.Keep), progress.Clean(rule.Where))
		}
	}
	if k.output.Value == "json" {
		return objects.End()
	}
	fmt.Fprint(out, others)
	if others != "" {
		rest = "other " + rest
	}
	fmt.Fprintln(out, rest)
	return nil
}

// keepText describes how long runs are kept.
func keepText(keep string) string {
	if keep == api.Forever {
		return keep
	}
	return keep + " after their end"
}
