package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/machine/attempt"
)

// event draws a message or a receipt that the stock of lamps may receive.
func event(t *rapid.T) machine.Event {
	order := map[string]any{"order_id": "o-1", "item": "lamp", "cents": rapid.Int64Range(0, 2).Draw(t, "cents")}
	receipt := map[string]any{"effect": "refill", "issuer": nil, "status": "ok", "payload": nil, "error": nil, "intent": "sha256:", "emitted_at_seq": int64(1)}
	switch rapid.SampledFrom([]string{"paid", "refunded", "ok", "error"}).Draw(t, "event") {
	case "paid":
		return machine.Event{Kind: machine.Message, Name: "OrderPaid", Value: order}
	case "refunded":
		return machine.Event{Kind: machine.Message, Name: "OrderRefunded", Value: order}
	case "ok":
		receipt["payload"] = map[string]any{"count": rapid.Int64Range(0, 20).Draw(t, "count")}
	default:
		receipt["status"], receipt["error"] = "error", map[string]any{"code": "http_503", "message": "later"}
	}
	return machine.Event{Kind: machine.Receipt, Name: "refill", Value: receipt}
}

// The stock in Go yields the same states, refills and timers as the rules.
func TestTheStockInGoDoesWhatTheRulesDo(t *testing.T) {
	ruled, err := build(options{at: address})
	require.NoError(t, err)
	coded, err := build(options{at: address, inGo: true})
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		var state any = map[string]any{"left": rapid.Int64Range(-5, 5).Draw(t, "left"), "coming": rapid.Bool().Draw(t, "coming")}
		e := event(t)
		if e.Name == "OrderPaid" && rapid.Bool().Draw(t, "first") {
			state = nil
		}
		want, err := attempt.Step(ruled, "stock[lamp]", state, e)
		require.NoError(t, err)
		got, err := attempt.Step(coded, "stock[lamp]", state, e)
		require.NoError(t, err)
		require.Equal(t, want.Ignored, got.Ignored)
		require.Equal(t, want.State, got.State)
		require.Len(t, got.Emitted, len(want.Emitted))
		for i := range want.Emitted {
			require.Equal(t, want.Emitted[i].Params, got.Emitted[i].Params)
			require.Equal(t, want.Emitted[i].Timer, got.Emitted[i].Timer)
			require.Equal(t, want.Emitted[i].Due, got.Emitted[i].Due)
		}
	})
}
