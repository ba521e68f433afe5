package net_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// FuzzRun checks that no playbook ends the process, that its net stays valid, that all its events can be encoded, and that the
// journal alone yields the same net.
func FuzzRun(f *testing.F) {
	files, err := filepath.Glob("../../testdata/scenarios/playbooks/*.yaml")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		nodes, err := document.Parse(file, data, document.Limits{})
		require.NoError(f, err)
		for _, n := range nodes {
			if book := n.Get("workflow"); book != nil && book.Kind == document.Mapping {
				text, err := value.JSON(book.Value())
				require.NoError(f, err)
				f.Add(string(text))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.Contains(text, "Playbook") || strings.Contains(text, "keychain") {
			return
		}
		c, err := kinds.Load("fuzz.yaml", []byte(text), template.Known{Lenient: true})
		if err != nil || c.Workflow.Routing == nil {
			return
		}
		p, err := plan.Compile(c)
		require.NoError(t, err)
		g := &guided{t: t, root: decide.NewRoot(p)}
		g.step = decide.NewStepper(g.root, g)
		g.play(decide.Item{Event: decide.Started("fuzz", p, nil, decide.Limits{})})
		for range 30 {
			if g.root.Finished() != nil || g.events > 2_000 || !g.move() {
				break
			}
		}
		g.again(p)
	})
}

// guided is a run whose calls are answered in their order.
type guided struct {
	t       *testing.T
	root    *reactive.Root
	step    *decide.Stepper
	journal []byte
	events  int
	now     int64
	answers int64
}

func (*guided) Function(string, []any) (value.Value, *journal.Failure) {
	return nil, call.NewFailure("", "there are no functions")
}
func (*guided) Pure(int32, any) (call.Result, bool) { return call.Result{}, false }
func (*guided) Reserve(reactive.Room) bool          { return true }

func (g *guided) play(items ...decide.Item) {
	g.now++
	out := g.step.Step(g.now, items)
	for _, r := range out.Replies {
		r.To(r.Err)
	}
	for i := range out.Batch {
		var err error
		g.journal, err = (&journal.Codec{}).Append(g.journal, &out.Batch[i])
		require.NoError(g.t, err, "journaled events can be encoded")
		g.events++
	}
	require.NoError(g.t, net.Check(net.Of(g.root)))
}

// move answers the first open call, writes to the context, or advances time. It reports false when nothing is left.
func (g *guided) move() bool {
	g.answers++
	if calls := g.root.OpenCalls(); len(calls) > 0 {
		var err error
		if g.answers%4 == 0 {
			err = &operation.Error{Code: "boom"}
		}
		out := map[string]any{"n": g.answers, "more": g.answers%3 > 0, "rows": []any{map[string]any{"id": g.answers}}}
		e := decide.Ending(calls[0], operation.ResultOf(out, err))
		e.Node = g.root.Key(calls[0].Node)
		g.play(decide.Item{Event: e})
		return true
	}
	if due := g.root.NextDue(); due > 0 {
		g.now = due
		g.play()
		return true
	}
	before := g.events
	patch := map[string]any{"go": true, "ok": true, "approved": true, "n": g.answers}
	g.play(decide.Item{Event: journal.Event{Type: journal.ContextPatched, Value: patch}, Reply: func(error) {}})
	return g.events > before+1
}

// again rebuilds the net from the journal.
func (g *guided) again(p *plan.Plan) {
	root := decide.NewRoot(p)
	events, err := (&journal.Codec{}).DecodeAll(nil, g.journal)
	require.NoError(g.t, err)
	for i := range events {
		root.Apply(&events[i])
	}
	var live, replayed strings.Builder
	g.root.Digest(&live, g.now)
	root.Digest(&replayed, g.now)
	require.Equal(g.t, live.String(), replayed.String())
	require.NoError(g.t, value.Fits(net.Of(root).Context(), 0), "the context is a value")
}
