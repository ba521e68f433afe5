package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// await waits until the condition holds for the cell of --cell, or the first cell that the message went to, and prints the cell.
func (s *sendCommand) await(cmd *cobra.Command, done *api.Done) error {
	if s.cell == "" && len(done.Cells) > 0 {
		s.cell = done.Cells[0]
	}
	if !done.Driven {
		fmt.Fprintf(cmd.ErrOrStderr(), "no process works on run %s: the message is journaled, and --until waits for a process (Ctrl-C ends this): start again the program that has its Go operations, or if it has none, run:\n  %s\n",
			progress.Clean(done.Run), cli.ResumeCommand(s.dir, done.Run))
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), cli.StopSignals()...)
	defer stop()
	cell, err := s.follow(ctx, done.Run)
	if err != nil {
		return cli.ExitOf(err)
	}
	if s.output.Value == "json" {
		p := cli.NewObjects(cmd.OutOrStdout(), false)
		p.Print(struct {
			*api.Done
			Cell *api.Cell `json:"cell"`
		}{done, cell})
		return p.End()
	}
	state := cell.State
	if state == nil {
		state = json.RawMessage("null")
	}
	return cli.NewJSON(cmd.OutOrStdout(), cmd.OutOrStdout()).Encode(state)
}

// follow waits until the condition holds for the cell, through whatever process works on the run.
func (s *sendCommand) follow(ctx context.Context, run string) (*api.Cell, error) {
	for {
		revision, _ := disk.Revision(s.dir) // if this fails, With fails, too
		var cell *api.Cell
		err := folder.With(ctx, s.dir, coordinator.Config{}, func(c *folder.Client) (err error) {
			if c.Held() {
				revision = nil // the process may end before it reports the last change
				cell, err = c.Await(ctx, run, s.cell, s.until)
				return err
			}
			cell, err = s.findCell(ctx, c, run)
			return err
		})
		gone := errors.Is(err, api.ErrHungUp) || errors.Is(err, api.ErrNotHeld)
		if cell != nil || err != nil && !gone {
			return cell, err
		}
		if err := folder.AwaitChanges(ctx, s.dir, revision); err != nil {
			return nil, err
		}
	}
}

// findCell returns the cell if the condition holds now; else nil. It does not wait, since this process has opened the journal itself and would
// block other processes.
func (s *sendCommand) findCell(ctx context.Context, c *folder.Client, run string) (cell *api.Cell, err error) {
	warning, err := c.Cells(ctx, api.Request{Run: run, Step: s.cell, If: s.until}, func(one *api.Cell) error {
		cell = one
		return nil
	})
	switch {
	case errors.Is(err, decide.ErrCellNotFound):
		return nil, nil // the cell may be created later
	case err == nil && warning != "":
		return nil, errors.New(warning)
	case err != nil || cell != nil:
		return cell, err
	}
	r, err := c.Show(ctx, run)
	if err == nil && r.Finished {
		err = fmt.Errorf("%w: the condition about cell %q does not hold", coordinator.ErrFinished, s.cell)
	}
	return nil, err
}
