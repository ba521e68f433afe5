package world

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/receipt"
	"github.com/sluiceflow/sluice/template/machine"
)

// frames is the progress of the reports of one call.
type frames struct {
	attempt int32
	number  int32 // the highest number reported
}

// reported delivers a report of a call to a machine that takes frames. It does not deliver a number again that the attempt has
// already reported: the call was made again, or repeats itself. It accepts and counts gaps in the numbers.
func (w *World) reported(e *journal.Event) {
	x := w.intents.byKey[e.Node]
	if x == nil || e.Detail == nil || e.Attempt != w.root.Attempt(x.node) {
		return
	}
	last := x.frames[e.Detail.Participant]
	if last.attempt != e.Attempt {
		last = frames{attempt: e.Attempt}
	}
	if e.Detail.Count <= last.number {
		return
	}
	if e.Detail.Count > last.number+1 {
		w.tally.Gaps++
	}
	last.number = e.Detail.Count
	if x.frames == nil {
		x.frames = map[string]frames{}
	}
	x.frames[e.Detail.Participant] = last
	w.touch(x.cell)
	if !x.cell.machine.Takes(machine.Frame) {
		return
	}
	r := x.receipt(receipt.OK)
	v := r.Frame(e.Detail.Count, e.Detail.Name, e.Value)
	x.cell.active = w.event.At
	x.cell.mail.push(item{seq: e.Seq, event: machine.Event{Kind: machine.Frame, Name: x.effect.Name, Value: v}})
	w.touch(x.cell)
}
