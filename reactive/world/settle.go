package world

import (
	"cmp"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/reactive/world/receipt"
	"github.com/sluiceflow/sluice/reactive/world/steps"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// codeReceipt is the code of a result that does not fit its effect.
const codeReceipt = "receipt_invalid"

// Settle replaces the output of a call by the payload of its receipt, in its normal form. If there is no valid payload, the
// event has a failure, with the payload as received.
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

// payload returns the payload of a receipt from a call's output. If the output does not fit, it returns the payload as received
// and a failure.
func (w *World) payload(x *intent, output any) (value.Value, *journal.Failure) {
	of, err := value.Of(output)
	if err != nil {
		return nil, call.NewFailure(codeReceipt, err.Error())
	}
	w.root.Meter().Bound(reactive.EvaluationMax)
	defer w.root.Meter().Free()
	payload, err := x.effect.Receive(of, w.root.Meter())
	if err != nil {
		return payload, call.NewFailure(codeReceipt, err.Error())
	}
	return payload, nil
}

// responded stores the signature of a call's output, and its failure if it does not fit.
func (w *World) responded(e *journal.Event) {
	if x, d := w.intents.byKey[e.Node], cmp.Or(e.Detail, &journal.Detail{}); x != nil && d.Participant == "" {
		about, _ := d.About.(map[string]any)
		x.fault, x.signed = d.Failure, about[call.AboutSignature]
		w.touch(x.cell)
	}
}

// settle makes receipts of ended calls, until no further call ends.
func (w *World) settle() {
	for again := true; again; {
		again = false
		w.calls.Derive()
		for _, v := range w.calls.Touched() {
			if x := w.intents.byNode[v]; x != nil && w.root.Final(v) {
				again = true
				w.ended(x)
			}
		}
	}
}

// ended settles an intent whose call has ended.
func (w *World) ended(x *intent) {
	r := x.receipt(receipt.Error)
	switch status := w.root.Status(x.node); status {
	case reactive.Completed:
		r.Status, r.Signature = receipt.OK, x.signed
		r.Payload, _ = value.Of(w.root.Output(x.node))
		if x.effect.Call.Target != nil {
			r.Payload, x.fault = w.payload(x, r.Payload)
		}
	case reactive.Failed:
		r.Failure = w.root.Failure(x.node)
		if n := w.root.Look(x.node); n.Has(ledger.Expired) {
			r.Status = receipt.Timeout
			r.Failure = &journal.Failure{Code: call.CodeTimeout, Message: r.Failure.Message}
		}
	default:
		r.Failure = w.root.Failure(x.node)
		if status == reactive.Aborted {
			r.Failure = &journal.Failure{Code: call.CodeAborted, Message: messageOf(r.Failure)}
		}
	}
	w.intents.remove(x)
	w.calls.Close(x.node)
	w.receive(x, &r)
}

func messageOf(f *journal.Failure) string {
	if f == nil {
		return ""
	}
	return f.Message
}

// receive delivers a receipt to the emitting cell or, if it does not fit, a rejection. A cell whose machine takes no rejections
// fails.
func (w *World) receive(x *intent, r *receipt.Receipt) {
	c := x.cell
	c.active = w.event.At
	it := item{seq: w.event.Seq, event: machine.Event{Kind: machine.Receipt, Name: x.effect.Name, Value: r.Value()}}
	if f := x.fault; f != nil {
		w.tally.Faults++
		if !c.machine.Takes(machine.Rejected) {
			w.faults.add(fault{cell: c, seq: w.event.Seq, failure: f})
			w.touch(c)
			return
		}
		it.event.Kind, it.event.Value = machine.Rejected, r.Rejection(f)
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
	r := x.receipt(receipt.OK)
	r.Payload = receipt.Fired(x.timer, x.due)
	x.cell.active = w.event.At
	x.cell.mail.push(item{seq: e.Seq, event: machine.Event{Kind: machine.Timer, Name: x.timer, Value: r.Value()}})
	w.touch(x.cell)
}

// timer returns an armed timer, loading its cell into memory, or nil if it is not armed.
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

// receipt returns the receipt of an intent, without payload and failure.
func (x *intent) receipt(status string) receipt.Receipt {
	return receipt.Receipt{Effect: x.name(), Issuer: x.from(), Intent: x.id, Emitted: x.emitted, Status: status}
}
