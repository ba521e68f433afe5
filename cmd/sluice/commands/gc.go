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

func newGC() *cobra.Command {
	cmd, c := newCommand(api.Sweep, &cobra.Command{
		Use:   "gc [RUN]",
		Short: "Delete expired runs and unused data",
		Long: `Gc deletes the expired runs of a folder (see sluice keep), and then the data that is no longer referenced: definitions, large
values, and content of worlds. It prints each deleted run and definition, and the totals. The outcomes of acts on many runs
expire by the rule without --where, and their counts stay.
Open runs stay, and so does a run while a run that it has started is kept. An id stays taken for as long as the run was kept:
until then sluice runs show prints the time of its deletion. Without rules it deletes no run, only the data that deleted
runs have left behind.

A host (sluice serve) does the same by itself, at least once an hour, and pauses between small slices so that its runs go on. Gc
may be stopped at any moment; the next gc continues.

With -o json it prints one object a line, {"kind":…,"name":…,"bytes":…} with run, act, definition or blob as kind, or
{"kind":"content", "name":…,"blobs":…} of a world, and at last
{"runs":…,"acts":…,"definitions":…,"blobs":…,"content":…,"bytes":…,"failed":…}, without acts and failed if there are none. Bytes
are the approximate sizes of the records; the space on the disk is free once the store has compacted its files.

With RUN, a world, it deletes only the content that the last two snapshots of the world do not need, and prints how much it kept
and deleted. It also trims the journal: it deletes the events that the snapshots have replaced, except the first and the newest.
The process that drives the world sets with --keep-events how many of the newest stay; without a process all stay, unless gc
has --keep-events. The engine does both by itself from time to time; the world goes on meanwhile. With -o json it prints one
object, {"run":…,"driven":…,"did":…,"kept":…,"deleted":…,"trimmed_from":…,"trimmed_to":…}.`,
		Example: `  sluice gc --dry-run --data ./journal
  sluice gc --data ./journal -o json
  sluice gc shop --keep-events 100000 --data ./journal`,
		Args: cli.Arguments,
	})
	cmd.Flags().IntVar(&c.req.Events, "keep-events", 0, "of RUN, keep at least the newest `N` events; -1: all (default: as the process that works on the world does, or all)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			if cmd.Flags().Changed("keep-events") {
				return fmt.Errorf("--keep-events applies to one world: name its run")
			}
			return c.collect(cmd)
		}
		c.req.Run = args[0]
		done, err := c.do(cmd)
		if err == nil && c.output.Value != "json" {
			what, gone := "deleted", "trimmed"
			if c.req.Dry {
				what, gone = "to be deleted", "to be trimmed"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d blobs kept, %d %s\n", done.Kept, done.Deleted, what)
			if done.TrimmedTo > 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "events %d to %d %s\n", done.TrimmedFrom, done.TrimmedTo, gone)
			}
			return nil
		}
		return c.end(cmd, &done, err)
	}
	return cmd
}

// collect deletes expired runs and unused data of a folder.
func (c *command) collect(cmd *cobra.Command) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	objects := cli.NewObjects(out, false)
	what := "deleted"
	if c.req.Dry {
		what = "to be deleted"
	}
	each := func(g *api.Gone) error {
		switch {
		case c.output.Value == "json":
			objects.Print(g)
		case g.Kind == "run" || g.Kind == "definition" || g.Kind == "act":
			fmt.Fprintf(out, "%s %s: %s\n", g.Kind, progress.Clean(g.Name), cli.Plural(int(g.Bytes), "byte"))
		}
		return nil
	}
	var sum api.Collected
	c.req.Actor = cli.Actor(c.req.Actor, c.dir)
	err := folder.With(ctx, c.dir, coordinator.Config{}, func(client *folder.Client) (err error) {
		sum, err = client.Collect(ctx, api.Request{Dry: c.req.Dry, Actor: c.req.Actor}, each)
		return err
	})
	if err != nil {
		return cli.ExitOf(err)
	}
	if c.output.Value == "json" {
		objects.Print(&sum)
		return objects.End()
	}
	fmt.Fprintf(out, "%s: %s\n", what, Sum(&sum))
	if sum.Failed > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s cannot be read, and nothing of them was deleted: sluice doctor says why\n", cli.Plural(sum.Failed, "run"))
	}
	return nil
}

// Sum returns the counts of deletions, or of those that a dry run found, for people.
func Sum(c *api.Collected) string {
	text := fmt.Sprintf("%s, %s, %s", cli.Plural(c.Runs, "run"), cli.Plural(c.Definitions, "definition"), cli.Plural(c.Blobs, "blob"))
	if c.Acts > 0 {
		text += ", " + cli.Plural(c.Acts, "act") + " on many runs"
	}
	if c.Content > 0 {
		text += fmt.Sprintf(", %s of worlds", cli.Plural(c.Content, "blob"))
	}
	return text + ", " + cli.Plural(int(c.Bytes), "byte")
}
