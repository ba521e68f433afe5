package ledger

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// The statuses of results that a rerun keeps.
const (
	KeptCompleted = "completed"
	KeptFailed    = "failed"
	KeptSkipped   = "skipped"
)

// keptLog holds the results and inputs that a rerun keeps or sets, by the keys of steps, because nodes of items may not exist
// yet.
type keptLog struct {
	l       *Ledger
	results map[string]*journal.Event // not adopted yet
	inputs  map[string]*journal.Event // set by a person
	adopted map[int32]*journal.Kept   // by node
}

// Rerun reports whether the run repeats another.
func (k *keptLog) Rerun() bool { return k.l.run.start != nil && k.l.run.start.From != nil }

// Beginning reports whether more events from the repeated run may follow. In a rerun, these events follow the first.
func (k *keptLog) Beginning() bool { return k.Rerun() && k.l.seq <= uint64(k.l.run.start.From.Kept) }

// KeptFor returns the kept result of a step without an attempt, or nil.
func (k *keptLog) KeptFor(v int32) *journal.Event {
	if len(k.results) == 0 || k.l.nodes[v].Attempt != 0 {
		return nil
	}
	return k.results[k.l.host.Key(v)]
}

// KeptKey returns the kept result of the step with a key that was not adopted, or nil.
func (k *keptLog) KeptKey(key string) *journal.Event { return k.results[key] }

// InputFor returns the input that was set for a step. It reports false if there is none.
func (k *keptLog) InputFor(v int32) (any, bool) {
	if len(k.inputs) == 0 {
		return nil, false
	}
	e := k.inputs[k.l.host.Key(v)]
	if e == nil {
		return nil, false
	}
	return e.Value, true
}

// Adopted returns the origin of the adopted result of a step, or nil if the step has made its own calls.
func (k *keptLog) Adopted(v int32) *journal.Kept { return k.adopted[v] }

// SameInput reports whether a kept result was computed from an input.
func (k *keptLog) SameInput(kept *journal.Kept, input any) bool {
	hash, _, err := journal.HashOf(input)
	return err == nil && bytes.Equal(kept.Input, hash[:])
}

// foldKept records a kept result, or a set result or input. Only the first event about a step counts.
func (k *keptLog) foldKept(e *journal.Event) Effect {
	if !k.Rerun() {
		return Unbound
	}
	of := &k.results
	if e.Type == journal.InputSet {
		of = &k.inputs
	}
	if *of == nil {
		*of = map[string]*journal.Event{}
	}
	if (*of)[e.Node] != nil {
		return Duplicate
	}
	kept := *e
	(*of)[e.Node] = &kept
	return Applied
}

// foldAdopted ends a step without a call with its kept result.
func (k *keptLog) foldAdopted(v int32, e *journal.Event) Effect {
	kept := k.KeptFor(v)
	if kept == nil || kept.Detail == nil || kept.Detail.Kept == nil {
		return Late
	}
	l, of := k.l, kept.Detail.Kept
	l.host.Requested(v, e.Seq)
	l.unwant(v)
	n := &l.nodes[v]
	n.Attempt, n.Failure, n.Output = max(1, kept.Attempt), nil, nil
	n.Flags &^= ByHand | Cascade | Expired
	delete(k.results, kept.Node)
	if k.adopted == nil {
		k.adopted = map[int32]*journal.Kept{}
	}
	k.adopted[v] = of
	l.reportLog.restore(v, kept.Detail.About)
	switch of.Status {
	case KeptFailed:
		n.Fact, n.Failure = Errored, kept.FailureOr("error")
		l.fails = append(l.fails, v)
	case KeptSkipped:
		n.Fact, n.Failure = Dropped, kept.FailureOr(call.CodeTimeout)
	default:
		k.complete(v, kept, e)
		l.bank.Mark(v)
		return Applied
	}
	k.decided(v, of)
	l.bank.Mark(v)
	return Applied
}

// complete ends a step with an output. If its task was decided in the repeated run, that decision counts; otherwise this run
// decides.
func (k *keptLog) complete(v int32, kept, e *journal.Event) {
	if kept.Detail.Kept.Fulfillment == "" {
		k.l.tasks.complete(v, kept.Value, e)
		return
	}
	n := &k.l.nodes[v]
	n.Fact, n.Output = Responded, value.Pack(kept.Value)
	k.decided(v, kept.Detail.Kept)
}

// decided sets the state of a step's task, if it has one.
func (k *keptLog) decided(v int32, of *journal.Kept) {
	if k.l.tasks.fulfillment(v) == nil || of.Fulfillment == "" {
		return
	}
	k.l.tasks.tasks[v] = &task{state: call.NoTask}
	k.l.tasks.setTask(v, call.Fulfillment(of.Fulfillment))
}

// digest writes the results that were not adopted and the inputs, which determine the run's next decisions.
func (k *keptLog) digest(w io.Writer) {
	for _, key := range slices.Sorted(maps.Keys(k.results)) {
		fmt.Fprintf(w, "kept %s", key)
		digestValue(w, k.results[key].Value)
	}
	for _, key := range slices.Sorted(maps.Keys(k.inputs)) {
		fmt.Fprintf(w, "input %s", key)
		digestValue(w, k.inputs[key].Value)
	}
}
