package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/scenario"
	"github.com/sluiceflow/sluice/template"
)

func TestScenarios(t *testing.T) { scenario.Run(t, "procure.scenario.yaml") }

// The document and main define the same workflow, so the scenarios of the document test both.
func TestTheDocumentIsTheSameWorkflow(t *testing.T) {
	text, err := os.ReadFile("procure.yaml")
	require.NoError(t, err)
	written, err := template.Parse("procure.yaml", text)
	require.NoError(t, err)
	built := procurement(approvalTimeout).Tree()
	require.Equal(t, written.Document(), built.Document())
	want, err := written.Hash()
	require.NoError(t, err)
	got, err := built.Hash()
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// quick holds the providers of the example, without their delays.
var quick = []provider{{name: "hill", price: 4100}, {name: "river", price: 3700}, {name: "harbor"}}

// testDesk is a desk in a separate folder, with its output.
type testDesk struct {
	*desk
	shown bytes.Buffer
}

func newOffice(t *testing.T, dir string, patience time.Duration) *testDesk {
	o := &testDesk{}
	var err error
	o.desk, err = open(t.Context(), dir, procurement(patience), quick, &o.shown)
	require.NoError(t, err)
	return o
}

// buyKettles follows a run to its end and closes the office.
func (o *testDesk) buyKettles(ctx context.Context, t *testing.T, ask func(context.Context, *coordinator.Run) error) error {
	err := o.buy(ctx, "kettles", Order{Item: "kettle", Quantity: 3}, ask)
	require.NoError(t, o.close())
	return err
}

// decide sends a decision, as the verb decide does, through the socket if a process serves it.
func decide(ctx context.Context, dir, decision, reason string) error {
	return folder.With(ctx, dir, coordinator.Config{}, func(c *folder.Client) error {
		_, err := c.Do(ctx, &api.Request{
			Verb: api.Decide, Run: "kettles", Step: "contract", Decision: decision, Actor: "ann", Reason: reason,
		})
		return err
	})
}

func TestTheCheapestIsBoughtWhenApproved(t *testing.T) {
	o := newOffice(t, t.TempDir(), approvalTimeout)
	require.NoError(t, o.buyKettles(t.Context(), t, o.approve))
	require.Equal(t, `run kettles
hill asks 41.00
river asks 37.00
harbor failed: http_503
the best quote is that of river: 111.00 in all
procure: fulfilled (-approve was given)
completed: from river for 111.00
`, strings.Replace(o.shown.String(), "note to the kitchen: 3 × kettle from river\n", "", 1), "the kitchen prints the note as soon as it has it")
	require.Contains(t, o.shown.String(), "note to the kitchen: 3 × kettle from river\n")
}

func TestARefusalThroughTheSocketGetsALoan(t *testing.T) {
	dir := t.TempDir()
	o := newOffice(t, dir, approvalTimeout)
	require.NoError(t, o.buyKettles(t.Context(), t, func(ctx context.Context, _ *coordinator.Run) error {
		return decide(ctx, dir, api.NotFulfilled, "too dear")
	}))
	require.Contains(t, o.shown.String(), "ann: not_fulfilled (too dear)\n")
	require.Contains(t, o.shown.String(), "note to the kitchen: 3 × kettle on loan from the warehouse\n")
	require.Contains(t, o.shown.String(), "completed: from the warehouse for 0.00\n")
}

func TestOnlyOneDecisionCounts(t *testing.T) {
	dir := t.TempDir()
	o := newOffice(t, dir, approvalTimeout)
	require.NoError(t, o.buyKettles(t.Context(), t, func(ctx context.Context, _ *coordinator.Run) error {
		require.NoError(t, decide(ctx, dir, api.Fulfilled, "mine"))
		err := decide(ctx, dir, api.NotFulfilled, "no, mine")
		require.Error(t, err)
		return o.approve(ctx, must(o.engine.Run(ctx, "kettles")))
	}))
	require.Contains(t, o.shown.String(), "ann: fulfilled (mine)\n")
	require.Contains(t, o.shown.String(), "completed: from river for 111.00\n")
	require.NotContains(t, o.shown.String(), "no, mine")
	require.NotContains(t, o.shown.String(), "-approve")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestWithoutADecisionInTimeThereIsALoan(t *testing.T) {
	o := newOffice(t, t.TempDir(), time.Millisecond)
	require.NoError(t, o.buyKettles(t.Context(), t, o.showCommands))
	require.Contains(t, o.shown.String(), "note to the kitchen: 3 × kettle on loan from the warehouse\n")
	require.Contains(t, o.shown.String(), "completed: from the warehouse for 0.00\n")
}

// The decision is made while no process works on the run. The next process continues the run, with providers at other addresses.
func TestARunIsSuspendedDecidedAndGoneOnWith(t *testing.T) {
	dir := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	o := newOffice(t, dir, approvalTimeout)
	require.NoError(t, o.buyKettles(ctx, t, func(ctx context.Context, run *coordinator.Run) error {
		interrupt()
		return o.showCommands(ctx, run)
	}))
	require.Contains(t, o.shown.String(), "go run ./cmd/sluice decide --data '"+dir+"' kettles contract fulfilled --reason 'within budget'\n")
	require.Contains(t, o.shown.String(), "go run ./examples/procure -data '"+dir+"' -run kettles\n")

	require.NoError(t, decide(t.Context(), dir, api.Fulfilled, "after all"))
	o = newOffice(t, dir, approvalTimeout)
	require.NoError(t, o.buyKettles(t.Context(), t, func(context.Context, *coordinator.Run) error {
		require.Fail(t, "the decision has been made")
		return nil
	}))
	require.Contains(t, o.shown.String(), "note to the kitchen: 3 × kettle from river\n")
	require.Contains(t, o.shown.String(), "completed: from river for 111.00\n")
}
