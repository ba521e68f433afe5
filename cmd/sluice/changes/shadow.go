package changes

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/shadow"
)

func newShadow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shadow RUN --workflow NEW",
		Short: "Compare a run with a replay under another workflow, without calls",
		Long: `Shadow replays a run, ended or not, under another workflow: it passes the results of the calls, the messages and the commands of
people to that workflow in their order. It makes no calls and journals nothing. It prints the differences: calls that were never
made, calls that the workflow would no longer make or would make with another input, conditionals that would decide otherwise, and
the end that the run would have. Calls that were never made stay unanswered.

NEW is a file, or the name of a published workflow: order is its newest version, order@2 its second. RUN is the id of a run, or an
unambiguous beginning of it; --where selects runs as in sluice runs list. Workflows and playbooks can be replayed, worlds
cannot.
The results of child runs are passed unchanged. If the step of a child run would start another workflow, the child
run is replayed under it, at any depth: its differences have its id, and steps such as pay/charge. Other child runs are counted
as alike.
With -o json it prints an object for each run:
  {"run":…,"events":…,"status":…,"shadow":…,"differences":[{"kind":…,"run":…,"step":…,"seq":…,"begun":…,"old":…,"new":…}],
   "children":[{"run":…,"events":…,"status":…,"shadow":…,"found":…,"why":…}],"alike":…}
found counts the differences of a child run; why is the reason if it has no shadow.

It ends with 0 if there is no difference, with 1 if there is one or an error occurred, and with 2 if there is no such run, or the
workflow is refused.`,
		Example: `  sluice shadow order-5521 --workflow order-new.yaml --data ./journal
  sluice shadow --where 'workflow:order age<1d' --workflow order-new.yaml --data ./journal`,
	}
	var dir, file string
	var req api.Request
	cli.RunsFlag(cmd, &dir)
	cmd.Flags().StringVar(&file, "workflow", "", "the workflow `NEW`: a file, or the name of a published one")
	cmd.Flags().StringVarP(&req.Query, "where", "w", "", "the runs that `QUERY` selects")
	output := cli.Choose(cmd, "output", "o", "what to print", "text", "json")
	cli.Complete(cmd, cli.RunArgument)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case file == "":
			return errors.New("which workflow? name it by --workflow")
		case len(args) > 1:
			return errors.New("name one run, or select several by --where: not both")
		case (len(args) == 1) == (req.Query != ""):
			return errors.New("which runs? name one, or select them by --where QUERY")
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		var a api.Attachment
		ctx := cmd.Context()
		if len(args) == 1 {
			req.Run = args[0]
		}
		if req.Name, a.Parcel, err = cli.Workflow(ctx, file); err != nil {
			return cli.Refuse(err)
		}
		if err := attach(&req, &a); err != nil {
			return cli.Fail(err)
		}
		p := &printer{out: cmd.OutOrStdout()}
		if output.Value == "json" {
			p.objects = cli.NewObjects(p.out, false)
		}
		err = folder.With(ctx, dir, coordinator.Config{}, func(c *folder.Client) error { return c.Shadow(ctx, req, p.print) })
		if err == nil || p.runs > 0 {
			err = errors.Join(err, p.end())
		}
		if err = cli.ExitOf(err); err == nil && p.differ {
			err = cli.Fail(nil)
		}
		return err
	}
	return cmd
}

// printer prints shadows of runs.
type printer struct {
	out     io.Writer
	objects *cli.Objects // nil: lines for people
	runs    int
	same    int
	differ  bool // some run differs, or cannot be compared
}

func (p *printer) print(s *api.Shadowed) error {
	p.runs++
	if s.Error == nil && s.Same() {
		p.same++
	} else {
		p.differ = true
	}
	if p.objects != nil {
		p.objects.Print(s)
		return p.objects.Flush()
	}
	switch {
	case s.Error != nil:
		line(p.out, "", "run %s: %s", s.Run, s.Error)
	case s.Same():
		line(p.out, "", "run %s: no difference in %s", s.Run, cli.Plural(int(s.Events), "event"))
	default:
		line(p.out, "", "run %s: %s in %s; it is %s, and would be %s", s.Run, cli.Plural(len(s.Differences)+s.More, "difference"),
			cli.Plural(int(s.Events), "event"), s.Status, s.Shadow)
	}
	for i := range s.Children {
		line(p.out, "  ", "%s", childText(&s.Children[i]))
	}
	for i := range s.Differences {
		line(p.out, "  ", "%s", s.Differences[i].String())
	}
	if s.More > 0 {
		line(p.out, "  ", "and %d more", s.More)
	}
	return nil
}

// childText describes the comparison of a child run for people.
func childText(c *shadow.Child) string {
	switch events := cli.Plural(int(c.Events), "event"); {
	case c.Why != "":
		return fmt.Sprintf("child run %s was not followed: %s", c.Run, c.Why)
	case c.Found == 0:
		return fmt.Sprintf("child run %s would follow another workflow: no difference in %s", c.Run, events)
	default:
		return fmt.Sprintf("child run %s would follow another workflow: %s in %s; it is %s, and would be %s",
			c.Run, cli.Plural(c.Found, "difference"), events, c.Status, c.Shadow)
	}
}

func (p *printer) end() error {
	if p.objects != nil {
		return p.objects.End()
	}
	if p.runs != 1 {
		fmt.Fprintf(p.out, "%s, %d without a difference\n", cli.Plural(p.runs, "run"), p.same)
	}
	return nil
}
