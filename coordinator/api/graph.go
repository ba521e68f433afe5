package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/reactive/callgraph"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Call is a node of a call graph. If the run of a call is missing, only its request is known.
type Call struct {
	Kind          string          `json:"kind"`                     // call, or meeting: later calls waited for all calls before it
	Request       string          `json:"request"`                  // `<run>/<step>#<attempt>`, then `:<participant>` or `?<number of the decision>`
	Run           string          `json:"run,omitempty"`            // id of its run
	Step          string          `json:"step,omitempty"`           // key of the step
	Attempt       int32           `json:"attempt,omitempty"`        // from 1
	Participant   string          `json:"participant,omitempty"`    // asked participant
	Decision      int32           `json:"decision,omitempty"`       // number of the request to the decision source of the step
	Operation     string          `json:"operation,omitempty"`      // empty while not known
	Status        string          `json:"status,omitempty"`         // pending, running, completed, failed, aborted
	ParentRequest string          `json:"parent_request,omitempty"` // the request that made it
	DependsOn     []string        `json:"depends_on,omitempty"`     // earlier requests and meetings for which it waited
	Identity      *Identity       `json:"identity,omitempty"`       // under which the call was made
	Input         json.RawMessage `json:"input,omitempty"`          // if its JSON has at most 1 KiB
	InputPreview  string          `json:"input_preview,omitempty"`  // in place of a larger input: the beginning of its JSON
	Preview                       // of its output
	Failure       *Failure        `json:"failure,omitempty"` // without details of more than 1 KiB
	Started       time.Time       `json:"started,omitzero"`  // time of the request
	Ended         time.Time       `json:"ended,omitzero"`    // zero: it has not ended
}

// graph emits the calls of a run and of the runs around it.
func graph(ctx context.Context, run reading, emit func(*Reply) error) error {
	g, err := run.CallGraph(ctx)
	if err != nil {
		return err
	}
	for id := range int32(g.NodeCount()) {
		if err := emit(&Reply{Call: CallOf(g, id)}); err != nil {
			return err
		}
	}
	return nil
}

// CallOf describes a node of a call graph.
func CallOf(g *coordinator.CallGraph, id int32) *Call {
	out := &Call{Kind: "call", Request: g.Key(id)}
	for e := range g.InEdges(id) {
		if e.Attrs.Type == dag.DependsOn {
			out.DependsOn = append(out.DependsOn, g.Key(e.From))
		}
	}
	c := g.Call(id)
	if c == nil {
		if len(out.DependsOn) > 0 {
			out.Kind = "meeting"
		}
		return out
	}
	describeCall(out, c)
	return out
}

func describeCall(out *Call, c *callgraph.Node) {
	out.Run, out.Step, out.Attempt, out.Participant, out.Decision = c.Run, c.Step, c.Attempt, c.Participant, c.Decision
	out.Operation, out.Status, out.ParentRequest = c.Operation, string(c.Status), c.Parent
	out.Started, out.Ended = c.Started, c.Ended
	input := previewOf(c.Input)
	out.Input, out.InputPreview, out.Preview = input.Output, input.Preview, previewOf(c.Output)
	if c.Identity != nil {
		resources := previewOf(c.Identity.Resources)
		out.Identity = &Identity{
			ID: c.Identity.ID, Scopes: c.Identity.Scopes, Resources: resources.Output, ResourcesPreview: resources.Preview,
		}
	}
	out.Failure = FailureOf(withoutLargeDetails(c.Failure))
}

// withoutLargeDetails returns a failure without large details.
func withoutLargeDetails(f *journal.Failure) *journal.Failure {
	if f == nil || f.Details == nil {
		return f
	}
	if _, whole, err := value.Preview(f.Details, previewMax); err == nil && whole {
		return f
	}
	short := *f
	short.Details = nil
	return &short
}
