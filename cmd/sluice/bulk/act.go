package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

// act shows a preview, or acts and waits for the end.
func (v *verb) act(cmd *cobra.Command) error {
	expects := cmd.Flags().Changed("expect")
	switch {
	case v.req.Query == "":
		return fmt.Errorf("--where says which runs, and an empty query would mean all of them; for example: --where 'workflow:order status:waiting'")
	case expects && v.req.Expect < 1:
		return fmt.Errorf("--expect %d: it is the number of runs, 1 or more", v.req.Expect)
	}
	if err := v.completeRequest(cmd); err != nil {
		return err
	}
	v.req.Verb = api.Bulk
	dry := v.req.Dry
	if v.req.Dry = dry || !expects; v.req.Dry {
		return v.preview(cmd, dry)
	}
	begun, err := v.runAct(cmd)
	if begun > 0 && errors.Is(cmd.Context().Err(), context.Canceled) {
		return &cli.Exit{Code: cli.Interrupted, Err: fmt.Errorf("act %d continues in the process that works on %s, else with the next process or before the next act; to see or stop it, run:\n  %s\n  %s",
			begun, v.dir, v.command("bulk", "show", fmt.Sprint(begun)), v.command("bulk", "stop", fmt.Sprint(begun)))}
	}
	return err
}

func (v *verb) command(words ...string) string { return cli.CommandLine(v.dir, words) }

// runAct begins an act and follows it to its end, through the processes that continue it. It begins the act only once, since a second
// request would begin another act.
func (v *verb) runAct(cmd *cobra.Command) (begun uint64, err error) {
	var act *api.Act
	for {
		err = v.with(cmd, func(c *folder.Client) (err error) {
			if begun == 0 {
				err = c.Acts(cmd.Context(), &v.req, func(r *api.Reply) error {
					if r.Act != nil {
						begun = r.Act.ID
					}
					return nil
				})
			}
			if err == nil {
				act, err = v.await(cmd, c, begun)
			}
			return err
		})
		gone := errors.Is(err, api.ErrHungUp) || errors.Is(err, api.ErrNotHeld) || errors.Is(err, coordinator.ErrShutdown)
		if !gone || begun == 0 || cmd.Context().Err() != nil {
			break
		}
	}
	if err == nil && act.State == string(bulk.Suspended) {
		err = cli.Fail(nil) // the printed counts have the reason
	}
	return begun, err
}

// await waits until an act has ended or no process continues it, and prints its outcomes.
func (v *verb) await(cmd *cobra.Command, c *folder.Client, id uint64) (*api.Act, error) {
	err := c.Acts(cmd.Context(), &api.Request{Verb: api.AwaitAct, Number: id}, func(*api.Reply) error { return nil })
	if err != nil {
		return nil, err
	}
	act, err := v.report(cmd, c, id)
	if err == nil && !c.Held() && act.Done > 0 && slices.Contains([]string{"retry", "rerun", "move", "resume"}, act.Act) {
		fmt.Fprintf(cmd.ErrOrStderr(), "no process works on %s: the runs go on with the next host, such as:\n  %s\n", progress.Clean(v.dir), v.command("serve"))
	}
	return act, err
}

// preview prints the number of an act's runs and the effect that the act would have on them. Without --dry-run the verb is refused: the
// error has the command that acts.
func (v *verb) preview(cmd *cobra.Command, dry bool) error {
	var p *api.ActPreview
	err := v.with(cmd, func(c *folder.Client) error {
		return c.Acts(cmd.Context(), &v.req, func(r *api.Reply) error {
			p = r.Preview
			return nil
		})
	})
	if err != nil {
		return err
	}
	if v.output.Value == "json" {
		objects := cli.NewObjects(cmd.OutOrStdout(), false)
		objects.Print(p)
		if err := objects.End(); err != nil {
			return err
		}
	} else {
		v.describe(cmd, p)
	}
	switch {
	case dry:
		return nil
	case p.Will == 0:
		return cli.Refuse(fmt.Errorf("no run would be %s; nothing was done", bulk.Past(p.Act)))
	}
	options := append([]string{"--where", v.req.Query, "--expect", fmt.Sprint(p.Count)}, v.selectionFlags(cmd)...)
	if v.req.Reason != "" {
		options = append(options, "--reason", v.req.Reason)
	}
	if cmd.Flags().Changed("actor") {
		options = append(options, "--actor", v.req.Actor)
	}
	return cli.Refuse(fmt.Errorf("nothing was done; to do it, name the number of runs:\n  %s", cli.CommandLine(v.dir, []string{"bulk", v.req.Act}, options...)))
}

// describe prints a preview for people.
func (v *verb) describe(cmd *cobra.Command, p *api.ActPreview) {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s: %d would be %s", cli.Plural(p.Count, "run"), p.Will, bulk.Past(p.Act))
	if p.Already > 0 {
		fmt.Fprintf(out, ", %d are so already or have ended", p.Already)
	}
	if p.Refused > 0 {
		fmt.Fprintf(out, ", %d would refuse", p.Refused)
	}
	fmt.Fprintln(out)
	for _, r := range p.Reasons {
		fmt.Fprintf(out, "  %s: %s\n", cli.Plural(r.Count, "run"), progress.Clean(r.Why))
	}
	switch {
	case v.req.Rerun != nil && p.Will > 0:
		fmt.Fprintf(out, "%s will run, %d may run, %d are kept\n", cli.Plural(p.Steps, "step"), p.May, p.Kept)
	case p.Steps > 0:
		fmt.Fprintf(out, "%s asked again\n", cli.Plural(p.Steps, "step"))
	}
	for _, a := range p.Again {
		fmt.Fprintf(out, "  not idempotent: %s of %s, in %s\n", progress.Clean(a.Step), progress.Clean(a.Workflow), cli.Plural(a.Count, "call"))
	}
}

// report prints the outcome of an act for each run, and the counts, and returns the act.
func (v *verb) report(cmd *cobra.Command, c *folder.Client, id uint64) (act *api.Act, err error) {
	objects, table := cli.NewObjects(cmd.OutOrStdout(), false), cli.NewTable(cmd.OutOrStdout())
	json := v.output.Value == "json"
	err = c.Acts(cmd.Context(), &api.Request{Verb: api.Acts, Number: id}, func(r *api.Reply) error {
		switch o := r.Outcome; {
		case r.Act != nil:
			act = r.Act
		case json:
			objects.Print(o)
		case o.New != "":
			table.Row(o.Run, o.Result, "as "+o.New)
		case o.Result != string(bulk.Done) || o.Why != "":
			table.Row(o.Run, o.Result, o.Why)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if json {
		objects.Print(act)
		return act, objects.End()
	}
	table.End()
	v.printCounts(cmd, act)
	return act, nil
}

// printCounts prints the counts of an act, for people.
func (v *verb) printCounts(cmd *cobra.Command, a *api.Act) {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "act %d is %s: %s of %d %s", a.ID, a.State, cli.Plural(a.Done, "run"), a.Count, bulk.Past(a.Act))
	if a.How != "" {
		fmt.Fprintf(out, " (%s)", progress.Clean(a.How))
	}
	if a.Already > 0 {
		fmt.Fprintf(out, ", %d were so already or had ended", a.Already)
	}
	if a.Refused > 0 {
		fmt.Fprintf(out, ", %d refused", a.Refused)
	}
	if a.Left > 0 {
		fmt.Fprintf(out, ", %d not asked", a.Left)
	}
	fmt.Fprintln(out)
	if a.State == string(bulk.Suspended) {
		fmt.Fprintf(cmd.ErrOrStderr(), "no process works on it: it goes on with a host, or before the next act; to stop it, run:\n  %s\n",
			v.command("bulk", "stop", fmt.Sprint(a.ID)))
	}
}
