package progress_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// worldFilm makes the updates of an invented world's run.
type worldFilm struct {
	tree *progress.Tree
	was  map[string]world.Status
	at   int64
}

func newWorldFilm(t *testing.T) *worldFilm {
	checked, err := kinds.Load("w.yaml", []byte("{kind: World, name: shop, types: {}, machines: {}, routing: {subscriptions: []}}"), template.Known{})
	require.NoError(t, err)
	f := &worldFilm{tree: progress.New(checked.Workflow), was: map[string]world.Status{}, at: epoch}
	f.tree.Apply(&coordinator.Update{Event: journal.Event{Type: journal.RunStarted, At: f.at}, Status: reactive.RunRunning})
	return f
}

// to changes a cell.
func (f *worldFilm) to(s world.Status, address string, more ...func(*world.CellState)) {
	c := inspect.CellChange{From: f.was[address], Cell: world.CellState{Address: address, Status: s}}
	for _, change := range more {
		change(&c.Cell)
	}
	f.was[address] = s
	e := journal.Event{Type: journal.CellStepped, At: f.at, Node: address}
	f.tree.Apply(&coordinator.Update{Event: e, Status: reactive.RunRunning, Cells: []inspect.CellChange{c}})
}

func (f *worldFilm) draw(height int) []string {
	return strings.Split(f.tree.Draw(progress.Frame{Width: 80, Height: height, Now: f.at + int64(time.Second)}), "\n")
}

func TestDrawAWorld(t *testing.T) {
	f := newWorldFilm(t)
	f.to(world.Running, "order[b]")
	f.to(world.Waiting, "order[b]", func(c *world.CellState) {
		c.Intents = []world.IntentState{
			{Effect: "pay", Issuer: "card", ID: "sha256:1", Call: reactive.Running},
			{Effect: "timer", Issuer: "deadline", Due: time.Unix(0, f.at).Add(30 * time.Minute)},
		}
	})
	f.to(world.Completed, "ledger")
	f.to(world.Failed, "order[a]", func(c *world.CellState) { c.Failure = &journal.Failure{Code: "declined", Message: "no\nmoney"} })
	f.to(world.Running, "order[c]", func(c *world.CellState) { c.Paused, c.Mail, c.Held = true, 2, 2 })
	require.Equal(t, []string{
		"● shop         running          1.0s  4 cells, 1 failed, 1 waiting, 1 running",
		"├─ ✓ ledger    completed",
		"├─ ✗ order[a]  failed                 declined: no money",
		"├─ ● order[b]  waiting                for pay.card, timer deadline in 29m59s",
		"└─ ○ order[c]  running, paused        2 held",
	}, f.draw(24))
	require.Equal(t, []string{
		"● shop         running  1.0s  4 cells, 1 failed, 1 waiting, 1 running",
		"├─ ✗ order[a]  failed         declined: no money",
		"└─ · more      1 waiting, 1 running, 1 completed",
	}, f.draw(3), "what has failed goes before all others")
	f.to("", "order[a]")
	require.Equal(t, "3 cells, 1 waiting, 1 running", f.tree.CellCounts())
}

// A drawing of any number of cells fits, and the number of cells kept is bounded: the failed ones stay.
func TestDrawAWorldOfManyCells(t *testing.T) {
	f := newWorldFilm(t)
	f.to(world.Failed, "order[first]")
	for i := range 5000 {
		address := fmt.Sprintf("order[%04d]", i)
		f.to(world.Running, address)
		f.to(world.Completed, address)
	}
	lines := f.draw(10)
	require.Len(t, lines, 10)
	require.Contains(t, lines[0], "5001 cells, 1 failed")
	require.Contains(t, lines[8], "✗ order[first]  failed")
	require.Contains(t, lines[9], "4993 completed")
	require.LessOrEqual(t, len(f.draw(0)), 202)
}
