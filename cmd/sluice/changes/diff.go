package changes

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/versions"
)

func newDiff() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show the differences between two versions of a workflow",
		Long: `Diff prints the steps that only one of two versions of a workflow has, and the changes of the others: operation, input, edges,
guards, timing and so on. OLD and NEW are files, or, with --data, names of published workflows: order is the newest
version of that name, order@2 its second.

Child workflows that both versions start are compared, too, at any depth: each one that differs is shown with the operations that
lead to it, and the file or name in the last of these operations.

With --data it also reports for each open run of OLD whether sluice move would move it to NEW, and if not, the reason. It checks
at most 1,000 runs, for at most ten seconds, and counts the others. With -o json it prints one object, in which same means that a
run can be moved:
  {"old":HASH,"new":HASH,"added":[…],"removed":[…],"changed":[{"step":…,"parts":[{"part":…,"old":…,"new":…}]}],
   "whole":[…],"children":[{"path":…,"document":…,"old":HASH,"new":HASH,"added":…,"removed":…,"changed":…,"whole":…}],
   "runs":[{"run":…,"same":…,"because":…,"differs":…}],"left":…}

It ends with 0 if the two are the same, with 1 if they differ or an error occurred, and with 2 if one is refused or missing.`,
		Example: `  sluice diff order.yaml order-new.yaml
  sluice diff order@1 order --data ./journal
  sluice diff order order.yaml --data ./journal -o json | jq '.runs[] | select(.same | not)'`,
		Args: cli.Arguments,
	}
	var dir string
	cli.DataFlag(cmd, &dir, "the folder `DIR` that the journal of the runs is in")
	cli.ServerFlag(cmd, &dir)
	output := cli.Choose(cmd, "output", "o", "what to print", "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d, err := compared(cmd, dir, args[0], args[1])
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		if output.Value == "json" {
			p := cli.NewObjects(out, false)
			p.Print(d)
			err = p.End()
		} else {
			printDiff(out, d)
		}
		if err == nil && !d.None() {
			err = cli.Fail(nil)
		}
		return err
	}
	return cmd
}

// compared compares two versions: without --data two files, else versions through a client of the journal.
func compared(cmd *cobra.Command, dir, old, now string) (d *versions.Diff, err error) {
	if dir == "" {
		for _, arg := range []string{old, now} {
			if !cli.IsFile(arg) {
				return nil, cli.Refuse(fmt.Errorf("%s is no file; the name of a published workflow needs --data", arg))
			}
		}
		was, err := cli.LoadEntry(old)
		if err != nil {
			return nil, cli.Refuse(err)
		}
		is, err := cli.LoadEntry(now)
		if err != nil {
			return nil, cli.Refuse(err)
		}
		return versions.Of(cmd.Context(), was, is)
	}
	var req api.Request
	var a api.Attachment
	ctx := cmd.Context()
	if req.Old, a.Old, err = cli.Workflow(ctx, old); err != nil {
		return nil, cli.Refuse(err)
	}
	if req.Name, a.Parcel, err = cli.Workflow(ctx, now); err != nil {
		return nil, cli.Refuse(err)
	}
	if err := attach(&req, &a); err != nil {
		return nil, cli.Fail(err)
	}
	err = folder.With(ctx, dir, coordinator.Config{}, func(c *folder.Client) (err error) {
		d, err = c.Diff(ctx, req)
		return err
	})
	return d, cli.ExitOf(err)
}

// printDiff prints a difference for people.
func printDiff(w io.Writer, d *versions.Diff) {
	if d.None() {
		line(w, "", "no difference")
	}
	printSteps(w, "", d.Added, d.Removed, d.Changed, d.Whole)
	for _, c := range d.Children {
		line(w, "", "~ child workflow %s (%s)", c.Path, c.Document)
		printSteps(w, "    ", c.Added, c.Removed, c.Changed, c.Whole)
	}
	for _, r := range d.Runs {
		if !r.Same {
			line(w, "", "run %s cannot be moved: %s", r.Run, r.Because)
		}
	}
	if len(d.Runs)+d.Left > 0 {
		line(w, "", "open runs: %s", d.OpenRuns())
	}
}

// printSteps prints the differences of one workflow.
func printSteps(w io.Writer, indent string, added, removed []string, changed []versions.Step, whole []versions.Part) {
	for _, id := range added {
		line(w, indent, "+ %s", id)
	}
	for _, id := range removed {
		line(w, indent, "- %s", id)
	}
	for _, s := range changed {
		words := make([]string, len(s.Parts))
		for i := range s.Parts {
			words[i] = s.Parts[i].Part
		}
		line(w, indent, "~ %s: %s", s.Step, strings.Join(words, ", "))
		printParts(w, indent, s.Parts)
	}
	if len(whole) > 0 {
		line(w, indent, "~ the workflow as a whole")
		printParts(w, indent, whole)
	}
}

func printParts(w io.Writer, indent string, parts []versions.Part) {
	for _, p := range parts {
		old, now := excerpts(p.Old, p.New)
		line(w, indent+"    ", "%s: %s -> %s", p.Part, old, now)
	}
}
