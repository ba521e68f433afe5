package world

import (
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/reactive/world/steps"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// The statuses of receipts.
const (
	receiptOK      = "ok"
	receiptError   = "error"
	receiptTimeout = "timeout"
)

// codeReceipt is the code of a result that does not fit its effect.
const codeReceipt = "receipt_invalid"

// Settle replaces the output of a call by the payload of its receipt, in its normal form. If it has none, the event holds the
// failure beside the payload as it came.
func (w *World) Settle(v int32, e *journal.Event) {
	x := w.intents.byNode[v]
	if x == nil {
		return
	}
	payload, f := w.payload(x, e.Value)
	e.Value = payload
	if f != nil {
		d := journal.Detail{}
		if e.Detail != nil {
			d = *e.Detail
		}
		d.Failure = f
		e.Detail = &d
	}
}

// payload returns the payload of a receipt for a call's output, or as far as it came and why it does not fit.
func (w *World) payload(x *intent, output any) (value.Value, *journal.Failure) {
	of, err := value.Of(output)
	if err != nil {
		return nil, &journal.Failure{Code: codeReceipt, Message: err.Error()}
	}
	w.root.Meter().Bound(reactive.EvaluationMax)
	defer w.root.Meter().Free()
	payload, err := x.effect.Receive(of, w.root.Meter())
	if err != nil {
		return payload, &journal.Failure{Code: codeReceipt, Message: err.Error()}
	}
	return payload, nil
}

// responded notes that the output of a call does not fit.
func (w *World) responded(e *journal.Event) {
	if x := w.intents.byKey[e.Node]; x != nil && e.Detail != nil && e.Detail.Participant == "" {
		x.fault = e.Detail.Failure
		w.touch(x.cell)
	}
}

// settle turns the calls that have ended into receipts, and goes on until no further call ends.
func (w *World) settle() {
	for {
		w.calls.Derive()
		any := false
		for _, v := range w.calls.Touched() {
			if x := w.intents.byNode[v]; x != nil && w.root.Final(v) {
				any = true
				w.ended(x)
			}
		}
		if !any {
			return
		}
	}
}

// ended settles an intent whose call has ended.
func (w *World) ended(x *intent) {
	r := receipt{intent: x, status: receiptError}
	switch status := w.root.Status(x.node); status {
	case reactive.Completed:
		r.status = receiptOK
		r.payload, _ = value.Of(w.root.Output(x.node))
		if x.effect.Call.Target != nil {
			r.payload, x.fault = w.payload(x, r.payload)
		}
	case reactive.Failed:
		r.failure = w.root.Failure(x.node)
		if n := w.root.Look(x.node); n.Has(ledger.Expired) {
			r.status = receiptTimeout
			r.failure = &journal.Failure{Code: call.CodeTimeout, Message: r.failure.Message}
		}
	default:
		r.failure = w.root.Failure(x.node)
		if status == reactive.Aborted {
			r.failure = &journal.Failure{Code: call.CodeAborted, Message: messageOf(r.failure)}
		}
	}
	w.intents.remove(x)
	w.calls.Close(x.node)
	w.receive(x.cell, r)
}

func messageOf(f *journal.Failure) string {
	if f == nil {
		return ""
	}
	return f.Message
}

// receive delivers a receipt to the cell that has emitted, or the rejection of one that does not fit. A cell whose machine
// takes no rejections fails.
func (w *World) receive(c *cell, r receipt) {
	c.active = w.event.At
	it := item{seq: w.event.Seq, event: machine.Event{Kind: machine.Receipt, Name: r.intent.effect.Name, Value: r.value()}}
	if f := r.intent.fault; f != nil {
		w.tally.Faults++
		if !c.machine.Takes(machine.Rejected) {
			w.faults.add(fault{cell: c, seq: w.event.Seq, failure: f})
			w.touch(c)
			return
		}
		it.event.Kind, it.event.Value = machine.Rejected, r.rejection(f)
	}
	c.mail.push(it)
	w.touch(c)
}

// fired delivers the receipt of a timer.
func (w *World) fired(e *journal.Event) {
	x := w.timer(e.Node)
	if x == nil {
		return
	}
	w.intents.remove(x)
	r := receipt{intent: x, status: receiptOK, payload: map[string]any{"name": x.timer, "due": instantText(x.due)}}
	x.cell.active = w.event.At
	x.cell.mail.push(item{seq: e.Seq, event: machine.Event{Kind: machine.Timer, Name: x.timer, Value: r.value()}})
	w.touch(x.cell)
}

// timer returns an armed timer, whose cell comes into memory; nil: it is not armed.
func (h *holdings) timer(key string) *intent {
	if h.intents.byKey[key] == nil {
		if cell, ok := steps.CellOfTimer(key); ok {
			h.lookup(cell)
		}
	}
	if x := h.intents.byKey[key]; x != nil && !x.isCall() {
		return x
	}
	return nil
}

// instantText returns an instant as values of type time are written.
func instantText(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// receipt is how an intent has ended.
type receipt struct {
	intent  *intent
	status  string
	payload value.Value
	failure *journal.Failure
}

// value returns the receipt as rules see it.
func (r *receipt) value() value.Value {
	v := r.common()
	v["payload"], v["error"] = r.payload, nil
	if f := r.failure; f != nil {
		v["error"] = map[string]any{"code": f.Code, "message": f.Message, "details": f.Details}
	}
	return v
}

// rejection returns a receipt that does not fit, as rules see it.
func (r *receipt) rejection(f *journal.Failure) value.Value {
	v := r.common()
	v["error_code"], v["error_message"] = f.Code, f.Message
	hash, encoded, _ := journal.HashOf(r.payload) // of the model: it has been journaled
	v["payload_hash"], v["payload_size"] = fmt.Sprintf("sha256:%x", hash[:]), int64(len(encoded))
	return v
}

func (r *receipt) common() map[string]any {
	x := r.intent
	v := map[string]any{"effect": x.name(), "issuer": nil, "status": r.status, "intent": x.id, "emitted_at_seq": int64(x.emitted)}
	if from := x.from(); from != "" {
		v["issuer"] = from
	}
	return v
}
