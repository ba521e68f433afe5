package scenario

import (
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/scenario/expected"
	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
)

// expectation holds the expected values of one instant.
type expectation struct {
	invalid []string // texts in the error of the document; none: the document must be valid
	checks  []check
}

// check is one expected value.
type check struct {
	key  string // such as `steps.pay`
	want string // for the difference
	test test
}

// test reads one value and returns it with the causing event. ok reports whether the value is as expected.
type test func(g *execution) (got string, by *Event, ok bool)

func (x *expectation) add(key, want string, t test) {
	x.checks = append(x.checks, check{key, want, t})
}

func (r *reader) expectation(n *document.Node) *expectation {
	x := &expectation{}
	r.Object(n, fields{
		"invalid":     func(v *document.Node) { x.invalid = r.Texts(v) },
		"run":         func(v *document.Node) { r.runStatus(x, v) },
		"reason":      func(v *document.Node) { text := r.Text(v); x.add("reason", text, wantReason(text)) },
		"at":          func(v *document.Node) { d := r.Duration(v); x.add("at", duration.Format(d), wantAt(d)) },
		"output":      func(v *document.Node) { x.add("output", expected.Show(v.Value()), wantOutput(v.Value())) },
		"steps":       func(v *document.Node) { r.stepStatuses(x, v) },
		"reasons":     func(v *document.Node) { r.named(x, "reasons", v, r.Text, wantReasonOf) },
		"fulfillment": func(v *document.Node) { r.named(x, "fulfillment", v, r.fulfillmentStatus, wantFulfillment) },
		"outputs":     func(v *document.Node) { r.stepOutputs(x, v) },
		"inputs":      func(v *document.Node) { r.inputs(x, v) },
		"attempts":    func(v *document.Node) { r.counted(x, "attempts", v, wantAttemptsOf) },
		"counts":      func(v *document.Node) { r.counts(x, v) },
		"dispatches":  func(v *document.Node) { r.stepDispatches(x, v) },
		"calls": func(v *document.Node) {
			c := expected.ReadOrder(&r.Reader, v)
			x.add("calls", c.String(), inWorld(wantRequests(c), wantCalls(c)))
		},
		"events": func(v *document.Node) { r.events(x, v) },
		"runs": func(v *document.Node) {
			c := expected.ReadOrder(&r.Reader, v)
			x.add("runs", c.String(), inWorld(wantActivations(c), wantRuns(c)))
		},
		"raised": func(v *document.Node) {
			c := expected.ReadOrder(&r.Reader, v)
			x.add("raised", c.String(), wantRaised(c))
		},
		"cells": func(v *document.Node) { r.cells(x, v) },
		"ctx":   func(v *document.Node) { x.add("ctx", expected.Show(v.Value()), wantContext(v.Value())) },
	})
	if n.Kind == document.Mapping && n.Len() == 0 {
		r.Refuse(n, "an expectation must expect something")
	}
	return x
}

var runStatuses = script.Words(reactive.RunRunning, reactive.RunWaiting, reactive.RunPaused, reactive.RunCompleted, reactive.RunFailed,
	reactive.RunPartial, reactive.RunAborted, reactive.RunDeadlineExceeded, reactive.RunStepTimeout)

var stepStatuses = func() []string {
	var names []string
	for s := reactive.Idle; s <= reactive.Skipped; s++ {
		names = append(names, s.String())
	}
	return names
}()

func (r *reader) runStatus(x *expectation, n *document.Node) {
	status := r.OneOf(n, runStatuses)
	x.add("run", status, wantRun(status))
}

func (r *reader) stepStatuses(x *expectation, n *document.Node) {
	r.named(x, "steps", n, func(v *document.Node) string { return r.OneOf(v, stepStatuses) }, wantStatusOf)
}

func (r *reader) fulfillmentStatus(n *document.Node) string {
	return r.OneOf(n, script.Words(call.NoTask, call.Undecided, call.Fulfilled, call.NotFulfilled, call.Broken))
}

// named reads a text for each of several steps.
func (r *reader) named(x *expectation, key string, n *document.Node, read func(*document.Node) string,
	want func(step, text string) test) {
	r.Each(n, func(name string, v *document.Node) {
		text := read(v)
		x.add(key+"."+name, text, want(name, text))
	})
}

// counted reads a number for each of several names.
func (r *reader) counted(x *expectation, key string, n *document.Node, want func(name string, n int) test) {
	r.Each(n, func(name string, v *document.Node) {
		count := r.Count(v)
		x.add(key+"."+name, strconv.Itoa(count), want(name, count))
	})
}

func (r *reader) stepOutputs(x *expectation, n *document.Node) {
	r.Each(n, func(name string, v *document.Node) {
		x.add("outputs."+name, expected.Show(v.Value()), inPlaybook(wantPlaybookOutput(name, v.Value()), wantStepOutput(name, v.Value())))
	})
}

// stepDispatches reads the dispatches of several steps.
func (r *reader) stepDispatches(x *expectation, n *document.Node) {
	r.Each(n, func(name string, v *document.Node) {
		list := expected.ReadDispatches(&r.Reader, v)
		x.add("dispatches."+name, list.String(), wantDispatches(name, list))
	})
}

func (r *reader) events(x *expectation, n *document.Node) {
	if n.Kind != document.Sequence {
		r.WrongKind(n, "a list")
		return
	}
	var names []string
	for _, item := range n.Items() {
		names = append(names, r.Text(item))
	}
	x.add("events", strings.Join(names, ", "), inPlaybook(wantViews(names), wantEvents(names)))
}

// knownType reports whether name is a type of events.
func knownType(name string) bool {
	_, err := journal.ParseType(name)
	return err == nil
}

func wantStatusOf(name, want string) test {
	return inPlaybook(wantPlaybookStatus(name, want), wantStatus(name, want))
}

func wantReasonOf(name, want string) test {
	return inPlaybook(wantPlaybookReason(name, want), wantStepReason(name, want))
}

func wantAttemptsOf(name string, want int) test {
	return inWorld(wantCallAttempts(name, want), inPlaybook(wantTries(name, want), wantAttempts(name, want)))
}

func wantCountOf(name string, want int) test {
	return inWorld(wantWorldCount(name, want), inPlaybook(wantPlaybookCount(name, want), wantCount(name, want)))
}

// counts reads numbers. The numbers of branches are a mapping.
func (r *reader) counts(x *expectation, n *document.Node) {
	r.Each(n, func(name string, v *document.Node) {
		if name == "branches" {
			r.Each(v, func(end string, v *document.Node) {
				count := r.Count(v)
				x.add("counts.branches."+end, strconv.Itoa(count), wantCountOf("branches."+end, count))
			})
			return
		}
		count := r.Count(v)
		x.add("counts."+name, strconv.Itoa(count), wantCountOf(name, count))
	})
}
