package expected

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template/document"
)

// Dispatches are the requests of a step to participants, with their outcomes.
type Dispatches []call.Dispatch

// ReadDispatches reads the dispatches of a step. An omitted attempt matches any.
func ReadDispatches(r *script.Reader, n *document.Node) Dispatches {
	if n.Kind != document.Sequence {
		r.WrongKind(n, "a list")
		return nil
	}
	list := Dispatches{}
	for _, item := range n.Items() {
		list = append(list, readDispatch(r, item))
	}
	return list
}

func readDispatch(r *script.Reader, n *document.Node) call.Dispatch {
	var d call.Dispatch
	states := script.Words(call.Pending, call.Responded, call.Failed, call.TimedOut, call.Cancelled, call.Unreachable)
	r.Object(n, script.Fields{
		"participant": func(v *document.Node) { d.Participant = r.Text(v) },
		"attempt":     func(v *document.Node) { d.Attempt = int32(r.CountTo(v, math.MaxInt32)) },
		"status":      func(v *document.Node) { d.State = call.State(r.OneOf(v, states)) },
	})
	if n.Kind == document.Mapping && (n.Get("participant") == nil || n.Get("status") == nil) {
		r.Refuse(n, "a dispatch has participant and status")
	}
	return d
}

// Compare compares the actual dispatches with the expected ones.
func (want Dispatches) Compare(got []call.Dispatch) (text string, ok bool) {
	return Dispatches(got).String(), slices.EqualFunc(got, want, func(g, w call.Dispatch) bool {
		return g.Participant == w.Participant && g.State == w.State && (w.Attempt == 0 || g.Attempt == w.Attempt)
	})
}

// String returns a short text of the dispatches, such as `[hill#1 responded]`.
func (list Dispatches) String() string {
	texts := make([]string, len(list))
	for i, d := range list {
		texts[i] = d.Participant
		if d.Attempt > 0 {
			texts[i] += "#" + strconv.Itoa(int(d.Attempt))
		}
		texts[i] += " " + string(d.State)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
