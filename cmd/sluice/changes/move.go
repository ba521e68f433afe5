package changes

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

func newMove() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "move RUN --workflow NEW",
		Short: "Switch an open run to another workflow",
		Long: `Move switches an open run to another workflow, if the run's history is the same under both: sluice shadow reports the differences
beforehand. Finished steps stay finished, calls under way continue, and NEW decides the rest. The journal records the
move, with its actor, as one event.

NEW is a file, or the name of a published workflow: order is its newest version, order@2 its second. A run whose past differs, one
that has ended, and the run of a world stay as they are; so does a run if NEW needs an operation that is not there, another
keychain, or another input. Start such a run again with sluice rerun RUN --workflow NEW.

Child runs that it has started keep their own workflow; those that it starts from then on follow the child workflows of NEW, also
where only these differ. To move a child run that is under way, name it as RUN, and its workflow as NEW.

--dry-run only reports whether the run may be moved, and prints the differences from here on. With -o json it prints the object
of sluice shadow, with the differences from here on.

It ends with 0 if the run was moved, or may be, with 1 if its history differs or an error occurred, and with 2 if there is no such
run, or the workflow is refused.`,
		Example: `  sluice move order-5521 --workflow order-new.yaml --dry-run --data ./journal
  sluice move order-5521 --workflow order@2 --data ./journal --actor ann
  sluice move order-5521 --workflow order@2 --server http://127.0.0.1:8080`,
	}
	var dir, file string
	var req api.Request
	cli.RunsFlag(cmd, &dir)
	cmd.Flags().StringVar(&file, "workflow", "", "the workflow `NEW`: a file, or the name of a published one")
	cmd.Flags().BoolVar(&req.Dry, "dry-run", false, "only say whether the run may be moved")
	cmd.Flags().StringVar(&req.Actor, "actor", "", "record `NAME` as the author of the move (default: the user's name)")
	output := cli.Choose(cmd, "output", "o", "what to print", "text", "json")
	cli.Complete(cmd, cli.RunArgument)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if file == "" {
			return errors.New("which workflow? name it by --workflow")
		}
		return cli.Arguments(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		var a api.Attachment
		ctx := cmd.Context()
		req.Run = args[0]
		req.Actor = cli.Actor(req.Actor, dir)
		if req.Name, a.Parcel, err = cli.Workflow(ctx, file); err != nil {
			return cli.Refuse(err)
		}
		if err := attach(&req, &a); err != nil {
			return cli.Fail(err)
		}
		var moved *api.Shadowed
		var done api.Done
		err = folder.With(ctx, dir, coordinator.Config{}, func(c *folder.Client) (err error) {
			moved, done, err = c.Move(ctx, req)
			return err
		})
		if err != nil {
			return cli.ExitOf(err)
		}
		if output.Value == "json" {
			p := cli.NewObjects(cmd.OutOrStdout(), false)
			p.Print(moved)
			return p.End()
		}
		printMove(cmd.OutOrStdout(), moved, req.Dry)
		if !done.Driven && !req.Dry {
			fmt.Fprintf(cmd.ErrOrStderr(), "no process works on run %s: start again the program that has its Go operations, or if it has none, run:\n  %s\n",
				progress.Clean(done.Run), cli.ResumeCommand(dir, done.Run))
		}
		return nil
	}
	return cmd
}

func printMove(w io.Writer, s *api.Shadowed, dry bool) {
	did := "moved"
	if dry {
		did = "may be moved"
	}
	if s.Same() {
		line(w, "", "run %s %s: so far nothing goes otherwise, in %s", s.Run, did, cli.Plural(int(s.Events), "event"))
		return
	}
	line(w, "", "run %s %s; what goes otherwise from here on:", s.Run, did)
	for i := range s.Differences {
		line(w, "  ", "%s", s.Differences[i].String())
	}
}
