package commands

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/versions"
)

func newPublish() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "publish FILE",
		Short: "Make a workflow the newest version of its name",
		Long: `Publish stores a workflow, with the child workflows that it names, in the journal's folder, as the newest version of its name:
from now on sluice start NAME starts this version. Runs keep the version that they were started with.

It prints the version's number and hash, and the version that it replaces; if the newest version is the same, it changes nothing.
If a process works on DIR, the workflow is sent to it, at most 64 MiB with its children. It also prints how many open runs of the
replaced version can be moved to the new one; it checks at most 1,000 runs, for at most two seconds. See sluice diff.
With -o json it prints one object, in which effect is the object of sluice diff:
  {"published":{"name":…,"number":…,"hash":…,"actor":…,"at":…},"replaced":{…},"unchanged":…,"effect":{…}}

It ends with 0 if the workflow is the newest version now, with 1 if an error occurred, and with 2 if it is refused.`,
		Example: `  sluice publish order.yaml --data ./journal
  sluice publish order.yaml --data ./journal -o json | jq -r .published.hash`,
		Args: cli.Arguments,
	}
	var dir string
	req := &api.Request{Verb: api.Publish}
	cli.RunsFlag(cmd, &dir)
	output := cli.Choose(cmd, "output", "o", "what to print", "text", "json")
	cmd.Flags().StringVar(&req.Actor, "actor", "", "record `NAME` as the publisher (default: the user's name)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req.Actor = cli.Actor(req.Actor, dir)
		ctx := cmd.Context()
		parcel, _, unbound, err := cli.LoadForHost(ctx, args[0], dir)
		if err != nil {
			return cli.Refuse(err)
		}
		if req.Attachment, err = (&api.Attachment{Parcel: parcel}).Encode(); err != nil {
			return cli.Fail(err)
		}
		var done api.Done
		err = folder.WithNew(ctx, dir, coordinator.Config{}, func(c *folder.Client) (err error) {
			done, err = c.Do(ctx, req)
			return err
		})
		if unbound != nil && errors.Is(err, coordinator.ErrMissing) {
			return cli.Refuse(unbound)
		}
		if err != nil {
			return cli.ExitOf(err)
		}
		if output.Value == "json" {
			p := cli.NewObjects(cmd.OutOrStdout(), false)
			p.Print(done)
			return p.End()
		}
		fmt.Fprintln(cmd.OutOrStdout(), progress.Clean(published(&done)))
		if done.Effect != nil && len(done.Effect.Runs)+done.Effect.Left > 0 {
			fmt.Fprintln(cmd.OutOrStdout(), "open runs: "+done.Effect.OpenRuns())
		}
		if done.Warning != "" {
			fmt.Fprintln(cmd.ErrOrStderr(), "warning: "+progress.Clean(done.Warning))
		}
		return nil
	}
	return cmd
}

// published describes the outcome of a publish for people.
func published(done *api.Done) string {
	now := done.Published
	text := fmt.Sprintf("%s, version %d: %s", now.Name, now.Number, now.Hash)
	switch was := done.Replaced; {
	case done.Unchanged:
		return fmt.Sprintf("%s, unchanged since %s by %s", text, cli.Local(now.At), now.Actor)
	case was == nil:
		return text + ", the first of this name"
	case was.Hash == now.Hash:
		return fmt.Sprintf("%s, replaces version %d of %s by %s, with the same document: child workflows differ%s",
			text, was.Number, cli.Local(was.At), was.Actor, childrenOf(done.Effect))
	default:
		return fmt.Sprintf("%s, replaces version %d of %s by %s: %s", text, was.Number, cli.Local(was.At), was.Actor, was.Hash)
	}
}

// childrenOf returns the names of the child workflows that have changed.
func childrenOf(effect *versions.Diff) string {
	if effect == nil {
		return ""
	}
	var names []string
	for _, c := range effect.Children {
		names = append(names, fmt.Sprintf("%s (%s)", c.Path, c.Document))
	}
	return ": " + strings.Join(names, ", ")
}
