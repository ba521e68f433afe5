package cells_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// orderWorld has orders that are paid and, if the outcome is unknown, paid again.
const orderWorld = `
kind: World
name: orders
types:
  Placed: {record: {id: text}}
effects:
  pay: {params: {record: {order: text}}, receipt: {record: {txn: text}}, timing: {timeout: PT10S}}
machines:
  order:
    key: text
    state: {record: {status: text}}
    event: [Placed]
    emits: [pay]
    rules:
      - {event: Placed, set: {status: paying}, emit: [{effect: pay, params: {order: "{{ key }}"}, issuer: card}]}
      - {event: pay, when: '{{ event.status == "timeout" }}', set: {status: unknown}, emit: [{effect: pay, params: {order: "{{ key }}"}, issuer: bank}]}
      - {event: pay, set: {status: paid}, complete: true}
routing: {subscriptions: [{event: Placed, machine: order, key_field: id}]}
`

// asked returns the replies to a request.
func asked(t *testing.T, e *coordinator.Engine, req api.Request) (list []*api.Reply) {
	require.NoError(t, api.Handle(t.Context(), e, &req, func(r *api.Reply) error {
		list = append(list, r)
		return nil
	}))
	return list
}

// explained returns the status of a cell and the reasons for which it waits.
func explained(t *testing.T, e *coordinator.Engine, name string) (text string) {
	x := asked(t, e, api.Request{Verb: api.Explain, Run: "w", Step: name})[0].Explanation
	text = x.Status
	for _, r := range x.Reasons {
		text += "; " + r.Step + ": " + r.Text
	}
	return text
}

// TestTimeline: the timeline of a cell has the message, its steps, intents and receipts in order, by intent; the cell is explained while
// it waits, after a timeout, and at the end.
func TestTimeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		e, err := coordinator.New(context.Background(), memory.New(), coordinator.Config{
			Operations: []coordinator.Operation{operation.Define("pay", func(ctx context.Context, _ map[string]any) (any, error) {
				if attempts++; attempts == 1 {
					<-ctx.Done() // the first is never answered
					return nil, ctx.Err()
				}
				select {
				case <-time.After(5 * time.Second):
				case <-ctx.Done():
				}
				return map[string]any{"txn": "t-1"}, nil
			})}, Logger: slog.New(slog.DiscardHandler),
		})
		require.NoError(t, err)
		defer func() { _ = e.Shutdown(context.Background()) }()
		run, err := e.Start(t.Context(), load(t, orderWorld), nil, coordinator.WithID("w"))
		require.NoError(t, err)
		for _, id := range []string{"other", "a"} { // the other one is not in the timeline
			_, err = run.SendMessage(t.Context(), placed(id))
			require.NoError(t, err)
			if synctest.Wait(); id == "other" {
				require.NoError(t, run.Abort(t.Context(), "order[other]", ""))
				attempts = 0
			}
		}
		require.Equal(t, "waiting; order[a].pay@7.0: call order[a].pay@7.0 is running", explained(t, e, "order[a]"))
		time.Sleep(12 * time.Second)
		synctest.Wait()
		require.Regexp(t, `^waiting; order\[a\]\.pay@\d+\.0: call .* is running$`, explained(t, e, "order[a]"))
		require.Contains(t, explained(t, e, "order[a].pay@7.0"), "timeout")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, "completed", explained(t, e, "order[a]"))

		var lines []string
		intents := map[string]string{} // by call
		for _, r := range asked(t, e, api.Request{Verb: api.Views, Run: "w", Step: "order[a]"}) {
			v := r.View
			if v == nil {
				continue
			}
			line := v.Type
			switch {
			case v.Type == "intent.emitted":
				intents[v.Call] = v.Intent
				line += " " + v.Name + "." + v.Issuer
			case v.Call != "":
				require.NotEmpty(t, intents[v.Call], "of an intent that was told before")
			case v.Type == "cell.state":
				line += " " + string(v.Value)
			case v.Type == "message.received":
				line += fmt.Sprint(" ", v.Cells)
			}
			lines = append(lines, line)
		}
		require.Equal(t, []string{
			"message.received [order[a]]",
			`cell.state {"status":"paying"}`, "intent.emitted pay.card", "call.requested", "call.error",
			`cell.state {"status":"unknown"}`, "intent.emitted pay.bank", "call.requested", "call.responded",
			`cell.state {"status":"paid"}`, "cell.completed",
		}, lines)
		require.Len(t, intents, 2)
	})
}

func placed(id string) cells.Message {
	return cells.Message{Name: "Placed", Payload: map[string]any{"id": id}}
}

// TestACellIsExplainedByWhatHoldsTheWorld: a cell of a paused world does not wait for messages, and one of a world that has ended waits for
// nothing.
func TestACellIsExplainedByWhatHoldsTheWorld(t *testing.T) {
	e, err := coordinator.New(context.Background(), memory.New(), coordinator.Config{
		Operations: []coordinator.Operation{operation.Define("pay", func(ctx context.Context, _ map[string]any) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})}, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	defer func() { _ = e.Shutdown(context.Background()) }()
	run, err := e.Start(t.Context(), load(t, orderWorld), nil, coordinator.WithID("w"))
	require.NoError(t, err)
	send := func(id string) {
		_, err := run.SendMessage(t.Context(), placed(id))
		require.NoError(t, err)
	}
	send("asks")
	require.NoError(t, run.Pause(t.Context(), ""))
	send("asks")
	send("new")
	require.Equal(t, "waiting; : the run is paused; order[asks]: cell order[asks] has mail that it has not taken yet: 1; order[asks].pay@3.0: call order[asks].pay@3.0 is running",
		explained(t, e, "order[asks]"))
	require.Equal(t, "running; : the run is paused; order[new]: cell order[new] has mail that it has not taken yet: 1", explained(t, e, "order[new]"))
	event := asked(t, e, api.Request{Verb: api.Explain, Run: "w", Step: "#7"})[0].Explanation
	require.Equal(t, "cell order[new] has not taken it yet: the run is paused", event.Reasons[0].Reasons[0].Text)

	require.NoError(t, run.PauseCell(t.Context(), "order[new]", ""))
	require.Contains(t, explained(t, e, "order[new]"), "; order[new]: 1 item is kept until the cell goes on")
	require.NoError(t, run.Cancel(t.Context(), ""))
	require.Equal(t, "running; order[asks]: the run has ended", explained(t, e, "order[asks]"))
	require.Equal(t, "running; order[new]: cell order[new] is paused; order[new]: the run has ended", explained(t, e, "order[new]"))
	event = asked(t, e, api.Request{Verb: api.Explain, Run: "w", Step: "#7"})[0].Explanation
	require.Equal(t, "cell order[new] has not taken it yet: the run has ended", event.Reasons[0].Reasons[0].Text)
}
