package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/callgraph"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// CallGraph holds the calls of a run and of the runs around it. The keys of its nodes are the IDs of the calls. It is
// immutable, and shares its contents: the caller must not change them.
type CallGraph struct {
	*dag.Graph
	calls []*callgraph.Node
}

// Call returns the request of a node; nil for a meeting: a node between many calls and the calls that waited for all of them, in
// place of an edge for each pair.
func (g *CallGraph) Call(node int32) *callgraph.Node { return g.calls[node] }

// CallGraph implements coordinator.Run.CallGraph.
func (r *Reader) CallGraph(ctx context.Context, run string) (*CallGraph, error) {
	return r.callGraphs(ctx, run, func(id string) (*callgraph.Graph, error) { return r.anyCallGraph(ctx, id, r.whole) })
}

// callGraphs merges the graphs of the runs above a run, topmost first, its own, and those of the runs below it. It leaves out those
// for which of returns nil.
func (r *Reader) callGraphs(ctx context.Context, run string, of func(id string) (*callgraph.Graph, error)) (*CallGraph, error) {
	own, err := of(run)
	if err != nil {
		return nil, err
	}
	parts := []*callgraph.Graph{own}
	for call := own.Start().Parent; call != ""; call = parts[0].Start().Parent {
		above, err := of(journal.ParentRun(call))
		if errors.Is(err, decide.ErrRunNotFound) || err == nil && above == nil {
			break
		}
		if err != nil {
			return nil, err
		}
		parts = slices.Insert(parts, 0, above.Leading(call))
	}
	for head, err := range r.Below(ctx, run) {
		if err != nil {
			return nil, fmt.Errorf("list the runs below run %s: %w", run, err)
		}
		one, err := of(head.Run)
		if err != nil {
			return nil, err
		}
		if one != nil {
			parts = append(parts, one)
		}
	}
	graph, calls, err := callgraph.Merge(parts...)
	if err != nil {
		return nil, fmt.Errorf("graph of run %s: %w", run, err)
	}
	return &CallGraph{Graph: graph, calls: calls}, nil
}

// anyCallGraph is callGraph, also for a run that cannot be followed.
func (r *Reader) anyCallGraph(ctx context.Context, id string, read reading) (*callgraph.Graph, error) {
	g, err := r.callGraph(ctx, id, read)
	if !errors.Is(err, decide.ErrMissing) {
		return g, err
	}
	g = callgraph.New(nil)
	for event, err := range journal.Remaining(ctx, read, id, 1) {
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", id, err)
		}
		g.Apply(&event)
	}
	return g, nil
}

// callGraph follows the journal of a run.
func (r *Reader) callGraph(ctx context.Context, id string, read reading) (g *callgraph.Graph, err error) {
	whole := func() (route, error) { return r.since(ctx, id, 1) }
	_, err = r.followTo(ctx, id, whole, read, func(root *reactive.Root) follower {
		g = callgraph.New(root)
		return follower{apply: g.Apply, trimmed: g.Trimmed}
	})
	return g, err
}
