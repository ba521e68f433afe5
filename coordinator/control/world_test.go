package control_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// sums is a world whose cells add up numbers; a negative sum fails them.
const sums = `
kind: World
name: sums
types: {Add: {record: {id: text, n: int, memo: option<text>}}, Unheard: {record: {}}}
machines:
  sum:
    key: text
    state: {record: {n: int, memo: option<text>}}
    event: [Add]
    emits: [timer]
    lifecycle: entity
    indexes: {n: "{{ state.n }}", memo: "{{ state.memo }}"}
    rules:
      - {event: Add, when: "{{ (state?.n ?? 0) + event.n < 0 }}", fail: {code: overdrawn}}
      - {event: Add, set: {n: "{{ (state?.n ?? 0) + event.n }}", memo: "{{ event.memo }}"}, emit: [{timer: audit, for: P1D}]}
routing: {subscriptions: [{event: Add, machine: sum, key_field: id}]}
`

// startSums starts a world.
func startSums(t *testing.T, e *coordinator.Engine) {
	checked, err := kinds.Load("sums.yaml", []byte(sums), template.Known{})
	require.NoError(t, err)
	_, err = e.Start(t.Context(), checked.Workflow, nil, coordinator.WithID("w"))
	require.NoError(t, err)
}

// add sends a number to a cell, and returns its receipt.
func add(t *testing.T, c *folder.Client, key string, n int, more ...func(*api.Request)) (api.Done, error) {
	r := &api.Request{Verb: api.Send, Run: "w", Message: "Add", Payload: json.RawMessage(fmt.Sprintf(`{"id": %q, "n": %d}`, key, n)), Actor: "ann"}
	for _, change := range more {
		change(r)
	}
	return c.Do(t.Context(), r)
}

// cellsOf returns the addresses of the cells that a request asks for.
func cellsOf(t *testing.T, c *folder.Client, req api.Request) (addresses []string, warning string) {
	req.Run = "w"
	warning, err := c.Cells(t.Context(), req, func(c *api.Cell) error {
		addresses = append(addresses, c.Cell)
		return nil
	})
	require.NoError(t, err)
	return addresses, warning
}

func TestMessagesToAWorld(t *testing.T) {
	bothWays(t, func(t *testing.T, e *coordinator.Engine, c *folder.Client) {
		startSums(t, e)
		web1 := func(r *api.Request) { r.ID = "web-1" }
		first, err := add(t, c, "a", 1, web1)
		require.NoError(t, err)
		require.Equal(t, api.Done{Run: "w", Driven: true, Did: "send", Seq: 2, Cells: []string{"sum[a]"}}, first)
		cell, err := c.Await(t.Context(), "w", "sum[a]", "state.n == 1")
		require.NoError(t, err)
		require.JSONEq(t, `{"n": 1, "memo": null}`, string(cell.State))
		require.Equal(t, "waiting", cell.Status)
		require.Equal(t, []string{"timer", "audit"}, []string{cell.Intents[0].Effect, cell.Intents[0].Issuer})

		before := events(t, c, "w")
		again, err := add(t, c, "b", 7, web1)
		require.NoError(t, err)
		require.Equal(t, first, again, "a message of a known id gets the first answer")
		_, err = add(t, c, "a", 1, func(r *api.Request) { r.Payload = json.RawMessage(`{"id": "a", "n": "x"}`) })
		require.ErrorIs(t, err, decide.ErrInvalidMessage)
		require.ErrorContains(t, err, "/n: ")
		require.Equal(t, before, events(t, c, "w"), "nothing was journaled")

		heard, err := add(t, c, "", 0, func(r *api.Request) { r.Message, r.Payload = "Unheard", json.RawMessage(`{}`) })
		require.NoError(t, err)
		require.Equal(t, `no machine of world sums subscribes to message "Unheard", but to "Add"`, heard.Warning)
		require.Empty(t, heard.Cells)
		require.NotZero(t, heard.Seq)
	})
}

func TestCellsAreListedAndHeld(t *testing.T) {
	bothWays(t, func(t *testing.T, e *coordinator.Engine, c *folder.Client) {
		startSums(t, e)
		for i, key := range []string{"c", "a", "b"} {
			_, err := add(t, c, key, 10*i)
			require.NoError(t, err)
		}
		_, err := add(t, c, "b", -100)
		require.NoError(t, err)
		_, err = c.Await(t.Context(), "w", "sum[b]", `status == "failed"`)
		require.NoError(t, err)
		do := func(verb api.Verb, cell string) error {
			_, err := c.Do(t.Context(), &api.Request{Verb: verb, Run: "w", Step: cell, Actor: "ann"})
			return err
		}
		require.NoError(t, do(api.Pause, "sum[c]"))

		list, _ := cellsOf(t, c, api.Request{})
		require.Equal(t, []string{"sum[a]", "sum[b]", "sum[c]"}, list)
		list, _ = cellsOf(t, c, api.Request{Machine: "sum", If: "state.n >= 10", Limit: 1})
		require.Equal(t, []string{"sum[a]"}, list)
		list, _ = cellsOf(t, c, api.Request{Status: "failed"})
		require.Equal(t, []string{"sum[b]"}, list)
		list, _ = cellsOf(t, c, api.Request{Status: api.Paused, If: `cell.paused && key == "c"`})
		require.Equal(t, []string{"sum[c]"}, list)
		list, warning := cellsOf(t, c, api.Request{If: `state.n > "x"`})
		require.Empty(t, list)
		require.Contains(t, warning, "it cannot be evaluated for 3 of the cells")
		for index, want := range map[string][]string{
			"n=10": {"sum[a]"}, "n=10.0": {"sum[a]"}, "n=20": {"sum[b]"}, "n=7": nil, `n="10"`: nil, "memo=null": nil, "memo=": nil,
		} {
			list, _ = cellsOf(t, c, api.Request{Index: index})
			require.Equal(t, want, list, index)
		}
		list, _ = cellsOf(t, c, api.Request{Index: "n=20", Status: "completed"})
		require.Empty(t, list, "it has failed")
		for index, text := range map[string]string{
			"m=1": `unknown index "m": there are memo of sum, n of sum`, "n": `index "n": it needs a value, as in n=VALUE`,
		} {
			_, err = c.Cells(t.Context(), api.Request{Run: "w", Index: index}, func(*api.Cell) error { return nil })
			require.EqualError(t, err, text)
		}
		_, err = c.Cells(t.Context(), api.Request{Run: "w", Machine: "sun", Index: "n=1"}, func(*api.Cell) error { return nil })
		require.EqualError(t, err, `there is no machine "sun" (did you mean "sum"?)`)
		_, err = c.Cells(t.Context(), api.Request{Run: "w", Machine: "sun"}, func(*api.Cell) error { return nil })
		require.EqualError(t, err, `there is no machine "sun" (did you mean "sum"?)`)
		for _, bad := range []string{"n == 1", "true", "state.n ==", "{{ 1 }}"} {
			_, err = c.Cells(t.Context(), api.Request{Run: "w", If: bad}, func(*api.Cell) error { return nil })
			require.ErrorIs(t, err, api.ErrBadRequest, bad)
		}

		require.ErrorIs(t, do(api.Pause, "sum[c]"), coordinator.ErrNotPossible)
		require.ErrorIs(t, do(api.Retry, "sum[a]"), coordinator.ErrNotPossible)
		require.EqualError(t, do(api.Pause, "sun[a]"), `run w: no cell "sun[a]": unknown machine "sun" (did you mean "sum[a]"?)`)
		require.ErrorIs(t, do(api.Abort, "sum[z]"), decide.ErrCellNotFound)
		require.NoError(t, do(api.Retry, "sum[b]"))
		require.NoError(t, do(api.Resume, "sum[c]"))
		_, err = c.Await(t.Context(), "w", "sum[a]", `state.n > "x"`)
		require.ErrorContains(t, err, "condition", "it can never be evaluated")
	})
}

// The state of a run has a bounded number of cells, those that need attention first, and the number of all.
func TestAWorldIsShownWithinBounds(t *testing.T) {
	bothWays(t, func(t *testing.T, e *coordinator.Engine, c *folder.Client) {
		startSums(t, e)
		for i := range 104 {
			_, err := add(t, c, fmt.Sprintf("k%03d", i), 1)
			require.NoError(t, err)
		}
		_, err := add(t, c, "zz", -1)
		require.NoError(t, err)
		_, err = add(t, c, "k000", 1, func(r *api.Request) {
			r.Payload = json.RawMessage(`{"id": "k000", "n": 1, "memo": "` + strings.Repeat("x", 2000) + `"}`)
		})
		require.NoError(t, err)
		_, err = c.Await(t.Context(), "w", "sum[k000]", "state.n == 2")
		require.NoError(t, err)
		r, err := c.Show(t.Context(), "w")
		require.NoError(t, err)
		require.Equal(t, []int{105, 1, 104, 0, 0}, []int{r.World.Cells, r.World.Failed, r.World.Waiting, r.World.Running, r.World.Completed})
		require.Equal(t, []int{106, 1}, []int{r.World.Tally.Messages, r.World.Tally.Failed})
		require.Len(t, r.Cells, 100)
		require.Equal(t, []string{"sum[zz]", "sum[k000]", "sum[k001]"}, []string{r.Cells[0].Cell, r.Cells[1].Cell, r.Cells[2].Cell})
		require.Empty(t, r.Cells[1].State)
		require.Len(t, r.Cells[1].Preview, 1024)
		whole, err := c.Cell(t.Context(), "w", "sum[k000]")
		require.NoError(t, err)
		require.Greater(t, len(whole.State), 2000)
	})
}

// A command to a cell while no process works on the world makes the run due, so that the next process takes it up.
func TestCommandsToCellsWhileNobodyWorksOnTheWorld(t *testing.T) {
	dir := t.TempDir()
	on := func(use func(e *coordinator.Engine, c *folder.Client)) {
		store, err := disk.Open(dir, disk.Config{FreeFloorBytes: -1})
		require.NoError(t, err)
		e, err := coordinator.New(t.Context(), store, coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		use(e, folder.Local(e))
		require.NoError(t, e.Shutdown(t.Context()))
	}
	on(func(e *coordinator.Engine, c *folder.Client) {
		startSums(t, e)
		for key, n := range map[string]int{"held": 1, "bad": -1, "good": 1} {
			_, err := add(t, c, key, n)
			require.NoError(t, err)
		}
		_, err := c.Do(t.Context(), &api.Request{Verb: api.Pause, Run: "w", Step: "sum[held]", Actor: "ann"})
		require.NoError(t, err)
		_, err = add(t, c, "held", 10)
		require.NoError(t, err)
	})
	alone := func(use func(c *folder.Client) (api.Done, error)) {
		began := time.Now()
		require.NoError(t, folder.With(t.Context(), dir, coordinator.Config{}, func(c *folder.Client) error {
			done, err := use(c)
			require.False(t, done.Driven)
			return err
		}))
		store, err := disk.Open(dir, disk.Config{FreeFloorBytes: -1})
		require.NoError(t, err)
		for head, err := range store.Heads(t.Context(), "") {
			require.NoError(t, err)
			require.NotZero(t, head.Due)
			require.Less(t, head.Due, began.Add(time.Hour).UnixNano(), "the audit is due in a day, the command now")
		}
		require.NoError(t, store.Close())
	}
	for _, r := range []api.Request{
		{Verb: api.Resume, Step: "sum[held]"}, {Verb: api.Retry, Step: "sum[bad]"}, {Verb: api.Abort, Step: "sum[good]"}, {Verb: api.Pause, Step: "sum[bad]"},
	} {
		alone(func(c *folder.Client) (api.Done, error) {
			r.Run, r.Actor = "w", "ann"
			return c.Do(t.Context(), &r)
		})
	}
	var sent api.Done
	alone(func(c *folder.Client) (_ api.Done, err error) {
		sent, err = add(t, c, "new", 5)
		return sent, err
	})
	require.Equal(t, []string{"sum[new]"}, sent.Cells)
	on(func(_ *coordinator.Engine, c *folder.Client) {
		for cell, condition := range map[string]string{
			"sum[held]": "state.n == 11", "sum[bad]": `cell.paused && status == "running"`, "sum[good]": `status == "failed"`, "sum[new]": "state.n == 5",
		} {
			_, err := c.Await(t.Context(), "w", cell, condition)
			require.NoError(t, err, cell)
		}
	})
}
