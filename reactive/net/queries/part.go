package queries

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/explain"
)

func iterationKey(run string, i int) string { return fmt.Sprintf("%s[%d]", run, i) }

// part explains a part of a step: an ended run, iteration or call, or an iteration in progress. It returns nil if there is no
// such part.
func (x *Explainer) part(name string) *explain.Explanation {
	for _, w := range x.net.Waits() {
		if w.Iteration >= 0 && w.Run != "" && iterationKey(w.Run, w.Iteration) == name {
			return &explain.Explanation{
				About: name, Kind: partKind(name), Status: reactive.Running.String(), Reasons: []explain.Reason{x.wait(&w)},
			}
		}
	}
	end, ok := x.ended[name]
	if run, over := x.ended[runOf(name)]; !ok && over && x.called(name) {
		end, ok = ending{reactive.Aborted, nil, run.decided}, true
	}
	if !ok {
		return nil
	}
	out := &explain.Explanation{About: name, Kind: partKind(name), Status: end.status.String(), Decided: end.decided}
	switch {
	case end.failure != nil:
		out.Reasons = []explain.Reason{{Kind: "failure", Text: end.failure.Error()}}
	case end.status == reactive.Aborted:
		out.Reasons = []explain.Reason{x.aborted(name)}
	}
	out.Reasons = append(out.Reasons, x.failedItems(name)...)
	return out
}

// called reports whether an iteration has made a call that has ended.
func (x *Explainer) called(iteration string) bool {
	for key := range x.ended {
		if strings.HasPrefix(key, iteration+".") {
			return true
		}
	}
	return false
}

// aborted returns the reason for which a part was aborted: its step-run or the whole run ended.
func (x *Explainer) aborted(name string) explain.Reason {
	run := runOf(name)
	if end, over := x.ended[run]; over && run != name {
		return explain.Reason{
			Kind: "end", Step: run, Text: "it was under way when step-run " + run + " ended, which is " + end.status.String(), Decided: end.decided,
		}
	}
	r := explain.Reason{Kind: "end", Text: "it was under way when the run was ended"}
	if by := x.root.ClosedBy(); by != nil {
		r.Decided = x.run.At(by.Seq)
	}
	return r
}

// namedMax bounds the failed iterations of a loop that an explanation names.
const namedMax = 5

// failedItems returns the number of failed iterations of a step-run, with the first ones as reasons.
func (x *Explainer) failedItems(run string) []explain.Reason {
	keys := x.lost[run]
	if len(keys) == 0 {
		return nil
	}
	r := explain.Reason{Kind: "items", Step: run, Text: fmt.Sprintf("items of %s that have failed: %d", run, len(keys))}
	for _, key := range keys[:min(namedMax, len(keys))] {
		end := x.ended[key]
		r.Reasons = append(r.Reasons, explain.Reason{Kind: "failure", Step: key, Text: key + ": " + end.failure.Error(), Decided: end.decided})
	}
	if more := len(keys) - namedMax; more > 0 {
		r.Reasons = append(r.Reasons, explain.Reason{Kind: "items", Text: fmt.Sprintf("and %d more", more)})
	}
	return []explain.Reason{r}
}

// runOf returns the key of the step-run in the key of a part.
func runOf(key string) string {
	at := strings.IndexByte(key, '@') + 1
	if end := strings.IndexAny(key[at:], "[."); end >= 0 {
		return key[:at+end]
	}
	return key
}

// partKind returns the kind of a part of a step, by its key.
func partKind(key string) string {
	_, part, _ := strings.Cut(key, "@")
	switch {
	case strings.Contains(part, "."):
		return "call"
	case strings.HasSuffix(part, "]"):
		return "item"
	}
	return "step-run"
}
