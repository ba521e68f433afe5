package bulk

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

func newShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show the outcome of an act on many runs",
		Long: `Show prints the progress of an act on many runs, and the outcome of each run except plain successes. --follow waits for the end
of the act first. Outcomes are kept for 30 days, and for the newest 100 acts that ended; the counts stay.

With -o json it prints one object a line: {"run":…,"new":…,"result":…,"why":…} of each run, where result is done, already,
refused or waiting, and new is the id of the run that a rerun has started; and at the end {"id":…,"act":…,"query":…,"how":…,
"state":…,"actor":…,"reason":…,"began":…,"ended":…,"count":…,"done":…,"already":…,
"refused":…,"left":…}. State is running, suspended, completed, stopped or abandoned. It ends with 2 if there is no such act.`,
		Example: `  sluice bulk show 7 --data ./journal
  sluice bulk show 7 --follow -o json --data ./journal`,
		Args: cli.Arguments,
	}
	v := newVerb(cmd)
	follow := false
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "wait until the act has ended")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := parseActID(args[0])
		if err != nil {
			return err
		}
		return v.with(cmd, func(c *folder.Client) (err error) {
			if follow {
				_, err = v.await(cmd, c, id)
			} else {
				_, err = v.report(cmd, c, id)
			}
			return err
		})
	}
	return cmd
}

func newList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the acts on many runs, newest first",
		Long: `List prints the acts on many runs of a folder, with their states and counts, newest first.

With -o json it prints one object a line, as sluice bulk show does at the end.`,
		Example: `  sluice bulk list --data ./journal`,
		Args:    cli.Arguments,
	}
	v := newVerb(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		objects, table := cli.NewObjects(cmd.OutOrStdout(), false), cli.NewTable(cmd.OutOrStdout())
		table.Row("ACT", "VERB", "STATE", "RUNS", "DONE", "ALREADY", "REFUSED", "BEGAN", "BY", "QUERY")
		err := v.with(cmd, func(c *folder.Client) error {
			return c.Acts(cmd.Context(), &api.Request{Verb: api.Acts}, func(r *api.Reply) error {
				a := r.Act
				if v.output.Value == "json" {
					objects.Print(a)
					return nil
				}
				table.Row(fmt.Sprint(a.ID), strings.TrimSuffix(a.Act+": "+a.How, ": "), a.State, fmt.Sprint(a.Count), fmt.Sprint(a.Done), fmt.Sprint(a.Already), fmt.Sprint(a.Refused),
					cli.Local(a.Began), a.Actor, a.Query)
				return nil
			})
		})
		if err != nil {
			return err
		}
		if v.output.Value == "json" {
			return objects.End()
		}
		table.End()
		return nil
	}
	return cmd
}

func newStop() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stop ID",
		Short: "Stop an act on many runs",
		Long: `Stop ends an act on many runs before it reaches the remaining ones; runs that it has already begun are completed. It undoes
nothing, and prints the same as sluice bulk show. It ends with 2 if there is no such act, or if the act has ended.`,
		Example: `  sluice bulk stop 7 --data ./journal`,
		Args:    cli.Arguments,
	}
	v := newVerb(cmd)
	v.actor(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := parseActID(args[0])
		if err != nil {
			return err
		}
		return v.with(cmd, func(c *folder.Client) error {
			req := &api.Request{Verb: api.StopAct, Number: id, Actor: v.req.Actor}
			if err := c.Acts(cmd.Context(), req, func(*api.Reply) error { return nil }); err != nil {
				return err
			}
			_, err := v.report(cmd, c, id)
			return err
		})
	}
	return cmd
}
