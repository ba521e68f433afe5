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
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
)

func newSend() *cobra.Command {
	cmd, c := newCommand(api.Send, &cobra.Command{
		Use:   "send RUN MESSAGE [PAYLOAD]",
		Short: "Send a message to a run",
		Long: `Send sends a message to a run. A step that waits for a message of this name takes it, now or when the run comes to that step.
PAYLOAD is JSON, @FILE for a file with JSON in it, or - for standard input; without it the payload is null.

A message that no step of the workflow waits for is journaled, too; a warning names the message that was probably meant.

A world takes only messages that fit their types, and send prints the number of the message's event and the cells that it goes
to; in the JSON object they are seq and cells. With --id a message may be sent again: it is taken once, and each answer is the
first one. With --until send waits until the condition holds for the first of these cells, or for the one that --cell names, and
prints that cell's state; in the JSON object cell is that cell. COND is an expression that reads state, key, status and cell, an
object with machine, key, status and paused. While no process works on the world, it waits for one, and reports this once.
Ctrl-C ends the waiting; the message stays sent.`,
		Example: `  sluice send tuesday approved --data ./journal
  sluice send tuesday approved '{"by": "ann"}' --data ./journal
  sluice send tuesday order @order.json --data ./journal
  jq .order mail.json | sluice send tuesday order - --data ./journal
  sluice send shop OrderPlaced '{"order_id": "a", "cents": 500}' --id web-17 --data ./journal
  sluice send shop OrderPlaced @order.json --until '{{ state.status == "shipped" }}' --data ./journal`,
		Args: cli.Arguments,
	})
	s := &sendCommand{command: c}
	cmd.Flags().StringVar(&c.req.ID, "id", "", "to a world: take the message only if none of this `ID` was taken before")
	cmd.Flags().StringVar(&s.until, "until", "", "to a world: wait until `COND` holds for a cell that the message goes to")
	cmd.Flags().StringVar(&s.cell, "cell", "", "with --until: the `CELL` (default: the first that the message goes to)")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		c.req.Run, c.req.Message = args[0], args[1]
		if len(args) == 3 {
			if args[2] == inspect.BlankPayload {
				return cli.Refuse(fmt.Errorf("%s stands for the message's payload: write JSON in its place, or leave it out for null", args[2]))
			}
			payload, err := cli.ReadInput(args[2], cmd.InOrStdin())
			if err != nil {
				return cli.Refuse(fmt.Errorf("PAYLOAD: %w", err))
			}
			c.req.Payload = cli.ValueJSON(payload)
		}
		return s.run(cmd)
	}
	return cmd
}

// sendCommand is the verb send.
type sendCommand struct {
	*command
	until, cell string
}

// run sends the message, prints the result, and with --until waits for the condition.
func (s *sendCommand) run(cmd *cobra.Command) error {
	if err := s.check(); err != nil {
		return cli.Refuse(err)
	}
	if s.until != "" {
		if err := s.checkAwaited(cmd); err != nil {
			return cli.ExitOf(err)
		}
	}
	done, err := s.do(cmd)
	if err != nil {
		return cli.ExitOf(err)
	}
	if s.output.Value == "json" && s.until != "" { // print one object, with the cell
		return s.await(cmd, &done)
	}
	if len(done.Cells) > 0 && !done.Dry && s.output.Value != "json" {
		fmt.Fprintf(cmd.OutOrStdout(), "#%d to %s\n", done.Seq, progress.Clean(strings.Join(done.Cells, ", ")))
		s.said = true
	}
	if s.until == "" {
		return s.report(cmd, &done)
	}
	if done.Warning != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", progress.Clean(done.Warning))
	}
	return s.await(cmd, &done)
}

// check refuses flags that cannot be combined, and invalid conditions, before anything is sent.
func (s *sendCommand) check() error {
	if s.until == "" && s.cell != "" {
		return errors.New("--cell needs --until: it names the cell that the condition is about")
	}
	if s.until != "" && s.req.Dry {
		return errors.New("--until waits for a message's effect, and --dry-run sends none: use one of the two")
	}
	if s.until != "" {
		if _, err := cells.ParseCondition(s.until); err != nil {
			return fmt.Errorf("--until: %w", err)
		}
	}
	return nil
}

// checkAwaited refuses to send a message whose effect could not be awaited: it would go to no cell, or the run has none.
func (s *sendCommand) checkAwaited(cmd *cobra.Command) error {
	ctx, dry := cmd.Context(), s.req
	dry.Dry, dry.Actor = true, cli.Actor(s.req.Actor, s.dir)
	return folder.With(ctx, s.dir, coordinator.Config{}, func(c *folder.Client) error {
		if s.cell != "" {
			_, err := c.Cell(ctx, dry.Run, s.cell)
			if errors.Is(err, decide.ErrCellNotFound) { // the message may create it
				return nil
			}
			return err
		}
		done, err := c.Do(ctx, &dry)
		if err == nil && len(done.Cells) == 0 {
			err = cli.Fail(errors.New("--until: the message goes to no cell that could be awaited: name a cell with --cell"))
		}
		return err
	})
}
