package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator/scenario/expected"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/value"
)

// Expectations are checked against the journals, as an observer reads them, not against the engine.

// check compares the current values with an expectation.
func (g *execution) check(where string, x *expectation) {
	for _, c := range x.checks {
		got, by, ok := c.test(g)
		if !ok {
			g.differ(where, c.key, c.want, got, by)
		}
		g.budget.work += eventWork + len(got)/textBytes
		if g.exceeded() {
			return
		}
	}
}

func wantRun(want string) test {
	return func(g *execution) (string, *Event, bool) {
		t := g.main()
		got := string(t.status)
		if e := t.finished(); e != nil {
			return withFailure(got, e.Detail.Failure), t.event(t.statusBy), got == want
		}
		return got, t.event(t.statusBy), got == want
	}
}

func wantReason(want string) test {
	return func(g *execution) (string, *Event, bool) {
		e := g.main().finished()
		if e == nil {
			return "none: the run has not ended", nil, false
		}
		return textOf(e.Detail.Failure), g.main().event(g.main().statusBy), codeOf(e.Detail.Failure) == want
	}
}

func wantAt(want time.Duration) test {
	return func(g *execution) (string, *Event, bool) {
		e := g.main().finished()
		if e == nil {
			return "never: the run is " + string(g.main().status), g.main().event(g.main().statusBy), false
		}
		at := time.Duration(e.At - g.s.start.UnixNano())
		return duration.Format(at), g.main().event(g.main().statusBy), at == want
	}
}

func wantOutput(want any) test {
	return func(g *execution) (string, *Event, bool) {
		e := g.main().finished()
		if e == nil || reactive.RunStatus(e.Detail.State) != reactive.RunCompleted {
			return "none: the run is " + string(g.main().status), g.main().event(g.main().statusBy), false
		}
		return expected.Show(e.Value), g.main().event(g.main().statusBy), value.Equal(e.Value, want)
	}
}

// at returns a test that calls look with the place that name means.
func at(name string, look func(p place) (string, *Event, bool)) test {
	return func(g *execution) (string, *Event, bool) {
		p, ok := g.find(name)
		if !ok {
			return "unknown step " + quote(name), nil, false
		}
		return look(p)
	}
}

func wantStatus(name, want string) test {
	return at(name, func(p place) (string, *Event, bool) {
		got := p.status().String()
		return withFailure(got, p.failure()), p.by(), got == want
	})
}

func wantStepReason(name, want string) test {
	return at(name, func(p place) (string, *Event, bool) {
		f := p.t.seen.Failure(p.node)
		return textOf(f), p.by(), p.item < 0 && codeOf(f) == want
	})
}

func wantStepOutput(name string, want any) test {
	return at(name, func(p place) (string, *Event, bool) {
		got, ok := p.output()
		if !ok {
			return "none: the step is " + p.status().String(), p.by(), false
		}
		return expected.Show(got), p.by(), value.Equal(got, want)
	})
}

func wantAttempts(name string, want int) test {
	return at(name, func(p place) (string, *Event, bool) {
		got, key := int(p.t.seen.Attempts(p.node)), p.t.seen.Key(p.node)
		last := p.t.last(func(e *journal.Event) bool { return e.Type == journal.CallRequested && e.Node == key })
		return strconv.Itoa(got), p.t.event(last), p.item < 0 && got == want
	})
}

func wantFulfillment(name, want string) test {
	return at(name, func(p place) (string, *Event, bool) {
		got := string(p.t.seen.Fulfillment(p.node))
		return got, p.latest(), p.item < 0 && got == want
	})
}

func wantDispatches(name string, want expected.Dispatches) test {
	return at(name, func(p place) (string, *Event, bool) {
		text, same := want.Compare(p.t.seen.Dispatches(p.node))
		return text, p.latest(), same && p.item < 0
	})
}

// wantCalls compares the order of the first requests of the run's own steps.
func wantCalls(want expected.Order) test {
	return func(g *execution) (string, *Event, bool) {
		t := g.main()
		var got []string
		var first []int
		for i := range t.journal {
			if e := &t.journal[i]; e.Type == journal.CallRequested && !slices.Contains(got, e.Node) {
				got, first = append(got, e.Node), append(first, i)
			}
		}
		return t.inOrder(want, got, first)
	}
}

// The effects of events whose names are counts, like types of events.
var outcomes = []reactive.Effect{reactive.Late, reactive.Duplicate}

func wantCount(name string, want int) test {
	return func(g *execution) (string, *Event, bool) {
		t := g.main()
		for _, o := range outcomes {
			if o.String() == name {
				return strconv.Itoa(t.outcomes[o]), nil, t.outcomes[o] == want
			}
		}
		// A misspelt name would have the count 0, which meets an expectation of 0 by accident.
		if !knownType(name) {
			return "no events are counted under that name", nil, false
		}
		got := 0
		for i := range t.journal {
			if t.journal[i].Type.String() == name {
				got++
			}
		}
		last := t.last(func(e *journal.Event) bool { return e.Type.String() == name })
		return strconv.Itoa(got), t.event(last), got == want
	}
}

// wantEvents searches for types of events in this order. Other events may occur in between.
func wantEvents(want []string) test {
	return func(g *execution) (string, *Event, bool) {
		t, found := g.main(), 0
		last := -1 // the last event that matched
		for i := range t.journal {
			if found < len(want) && t.journal[i].Type.String() == want[found] {
				found, last = found+1, i
			}
		}
		if found == len(want) {
			return "", nil, true
		}
		missing := "no " + want[found]
		if !knownType(want[found]) {
			missing = "no type of event is named " + quote(want[found])
		} else if found > 0 {
			missing += " after " + strings.Join(want[:found], ", ")
		}
		return missing, t.event(last), false
	}
}

func codeOf(f *journal.Failure) string {
	if f == nil {
		return ""
	}
	return f.Code
}

// withFailure returns a status with its failure, if any.
func withFailure(status string, f *journal.Failure) string {
	if f == nil {
		return status
	}
	return status + " (" + f.Error() + ")"
}

func textOf(f *journal.Failure) string {
	if f == nil {
		return "none"
	}
	return f.Error()
}

func quote(text string) string { return document.Quote(text) }

func quoted(list []string) string {
	texts := make([]string, len(list))
	for i, text := range list {
		texts[i] = fmt.Sprintf("%q", text)
	}
	return strings.Join(texts, ", ")
}
