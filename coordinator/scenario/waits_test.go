package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/plan"
)

// After every event of every scenario, the listed waits of the run are complete and let it continue: no timer is earlier than
// theirs, no wait is missing, and the run accepts every command that they list.
func TestWhatARunIsSaidToWaitForLetsItGoOn(t *testing.T) {
	all, err := Load("../../testdata/scenarios")
	require.NoError(t, err)
	kinds := map[inspect.WaitKind]int{}
	commands := map[string]int{}
	for _, s := range all {
		g := newExecution(s, Options{}, program.NewLibrary())
		g.execute()
		for _, track := range g.tracks {
			for n := range track.journal {
				if n > 60 && n%20 > 0 { // only some events of long runs: each command replays all events before it
					continue
				}
				root := track.replayed(n + 1)
				list := inspect.Waits(root)
				what := fmt.Sprintf("%s, run %q, after event %d: %+v", s.Name, track.path, n+1, list)
				track.checkWaits(t, what, root, list)
				for _, w := range list {
					kinds[w.Kind]++
					require.NotContains(t, w.What(), "  ", what)
					if e, ok := commandOf(w.Command); ok && (root.NextDue() == 0 || root.NextDue() > root.At()) { // else a timer comes first
						commands[w.Command[0]]++
						stepper := decide.NewStepper(track.replayed(n+1), track)
						_, _, err := stepper.Note(root.At(), e)
						switch {
						case w.Command[0] == "resume" && w.Name != "": // of the parent run
						case w.Command[0] == "send" && world.Of(root) != nil && errors.Is(err, decide.ErrInvalidMessage): // it has no payload
						default:
							require.NoError(t, err, "%v\n%s", w.Command, what)
						}
					}
				}
			}
		}
	}
	for _, k := range []inspect.WaitKind{
		inspect.ForMessage, inspect.ForPerson, inspect.ForSource, inspect.ForTimer, inspect.ForRetry, inspect.ForAnswers, inspect.ForChild,
		inspect.ForCall, inspect.ForRoom, inspect.ForSlot, inspect.ForGate, inspect.ForJoin, inspect.ForTurn, inspect.ForRepair, inspect.ForResume,
	} {
		require.Positive(t, kinds[k], "no scenario waits for %s", k)
	}
	for _, verb := range []string{"send", "decide", "retry", "resume", "patch"} {
		require.Positive(t, commands[verb], verb)
	}
}

// The waits updated after each change of a run equal the waits that follow from its whole journal.
func TestWhatIsAwaitedIsKeptChangeByChange(t *testing.T) {
	all, err := Load("../../testdata/scenarios")
	require.NoError(t, err)
	kept := func(w *inspect.Wait) bool {
		switch w.Kind {
		case inspect.ForPerson, inspect.ForSource, inspect.ForRepair, inspect.ForResume:
			return true
		case inspect.ForMessage:
			return !strings.Contains(w.Step, "[") && w.Step != "" // messages change the waits of no cell, and of no world
		case inspect.ForRetry:
			return w.Command != nil
		}
		return false
	}
	text := func(w *inspect.Wait) string {
		return fmt.Sprint(w.Kind, " ", w.Step, " ", w.Name, " ", w.Command, " ", w.Due, " ", w.Then)
	}
	compared := 0
	for _, s := range all {
		g := newExecution(s, Options{}, program.NewLibrary())
		g.execute()
		for _, track := range g.tracks {
			root := decide.NewRoot(track.program.Plan)
			track.serve(root)
			changes, awaiting := inspect.NewChanges(root, 1), inspect.Awaiting{}
			for i := range track.journal {
				u := changes.Apply(&track.journal[i])
				awaiting.Apply(&u)
				if i+1 < len(track.journal) && track.journal[i+1].At == u.Event.At { // more follows at once, such as the answer of a wait
					continue
				}
				want, got := []string{}, []string{}
				for _, w := range inspect.Waits(root) {
					if kept(&w) {
						want = append(want, text(&w))
					}
				}
				for _, list := range awaiting {
					for _, w := range list {
						if kept(&w) && !root.Done() {
							got = append(got, text(&w))
						}
					}
				}
				compared += len(want)
				require.ElementsMatch(t, want, got, "%s, run %q, after event %d", s.Name, track.path, i+1)
			}
		}
	}
	require.Greater(t, compared, 200)
}

// The waits in the head of a run, which lists show, are among the waits of the run itself.
func TestHeadsNameWhatARunWaitsFor(t *testing.T) {
	all, err := Load("../../testdata/scenarios")
	require.NoError(t, err)
	kinds := map[string]int{}
	for _, s := range all {
		g := newExecution(s, Options{}, program.NewLibrary())
		g.execute()
		for _, track := range g.tracks {
			root := decide.NewRoot(track.program.Plan)
			track.serve(root)
			for i := range track.journal {
				root.Apply(&track.journal[i])
				if i+1 < len(track.journal) && track.journal[i+1].At == root.At() { // more follows at once
					continue
				}
				what := fmt.Sprintf("%s, run %q, after event %d", s.Name, track.path, i+1)
				list := inspect.Waits(root)
				for _, w := range decide.HeadOf(root).Waits {
					kinds[w.Kind]++
					if world.Of(root) != nil && (w == journal.Wait{Kind: journal.WaitMessage} || w.Kind == journal.WaitTimer && w.Until == root.NextDue()) {
						continue // a world takes messages even with held cells, and its next timer may be the end of a time to live
					}
					require.True(t, slices.ContainsFunc(list, func(x inspect.Wait) bool { return namedBy(&w, &x) }), "%s: %+v is not in %+v", what, w, list)
				}
			}
		}
	}
	for _, kind := range []string{journal.WaitMessage, journal.WaitPerson, journal.WaitTimer, journal.WaitGate, journal.WaitPaused} {
		require.Positive(t, kinds[kind], "no head waits for %s", kind)
	}
}

// namedBy reports whether a wait in a head is a wait of the run.
func namedBy(w *journal.Wait, x *inspect.Wait) bool {
	switch w.Kind {
	case journal.WaitPaused:
		return x.Kind == inspect.ForResume
	case journal.WaitGate:
		if w.Step != "" {
			return x.Kind == inspect.ForGate && x.Step == w.Step
		}
		return x.Kind == inspect.ForJoin || x.Kind == inspect.ForTurn
	case journal.WaitTimer:
		return x.Due == w.Until && x.Step == w.Step
	case journal.WaitPerson:
		return (x.Kind == inspect.ForPerson || x.Kind == inspect.ForSource) && (w.Step == "" || w.Step == x.Step && w.Until == x.Due)
	case journal.WaitMessage:
		return x.Kind == inspect.ForMessage && (w.Step == "" || w.Step == x.Step && w.Name == x.Name && w.Until == x.Due)
	}
	return false
}

// replayed returns the root after the first n events.
func (t *track) replayed(n int) *reactive.Root {
	root := decide.NewRoot(t.program.Plan)
	t.serve(root)
	for i := range t.journal[:n] {
		root.Apply(&t.journal[i])
	}
	return root
}

// serve sets the host and the content of a world, which the world needs besides its events.
func (t *track) serve(root *reactive.Root) {
	if w := world.Of(root); w != nil {
		w.Serve(t)
		w.Content(func(hash journal.Hash) ([]byte, error) { return t.content[hash], nil }, 0, world.Cache{})
	}
}

func (tr *track) checkWaits(t *testing.T, what string, root *reactive.Root, list []inspect.Wait) {
	if root.Finished() != nil {
		require.Empty(t, list, what)
		return
	}
	due := int64(0)
	for _, w := range list {
		if w.Due > 0 && (due == 0 || w.Due < due) {
			due = w.Due
		}
		if w.Due > 0 {
			require.NotEmpty(t, w.Then, what)
		}
	}
	if world.Of(root) == nil { // the run does not wait for a cell that only expires
		require.Equal(t, root.NextDue(), due, what)
	}
	said := func(kind inspect.WaitKind, step string) bool {
		return slices.ContainsFunc(list, func(w inspect.Wait) bool { return w.Kind == kind && w.Step == step })
	}
	for _, a := range root.Awaiting() {
		require.True(t, said(inspect.ForMessage, root.Key(a.Request.Node)), what)
	}
	for v := range root.Len() {
		key := root.Key(v)
		switch {
		case root.Status(v) == reactive.Absent, key == "", root.Done():
		case root.Decidable(v):
			require.True(t, said(inspect.ForPerson, key), what)
		case root.Pending(v):
			require.True(t, said(inspect.ForRetry, key) || said(inspect.ForSlot, key), what)
		case root.Status(v) == reactive.Running && root.Row(v).Kind == plan.Step:
			require.True(t, slices.ContainsFunc(list, func(w inspect.Wait) bool { return w.Step == key }), "%s: %s", key, what)
		}
	}
	if s := root.RunStatus(); (s == reactive.RunWaiting || s == reactive.RunPaused) && !root.Done() {
		require.NotEmpty(t, list, what)
	}
}

// commandOf returns the event of a command, or false if a person must fill in a value.
func commandOf(args []string) (e journal.Event, ok bool) {
	e.Detail = &journal.Detail{Actor: "ann"}
	if len(args) == 0 {
		return e, false
	}
	switch args[0] {
	case "send":
		e.Type, e.Detail.Name = journal.MessageReceived, args[2]
	case "decide":
		e.Type, e.Node, e.Detail.State = journal.DecisionOverridden, args[2], args[3]
	case "retry":
		e.Type, e.Node = journal.NodeRetried, args[2]
	case "resume":
		e.Type = journal.RunResumed
		if len(args) == 3 {
			e.Type, e.Node = journal.CellResumed, args[2]
		}
	case "patch":
		e.Type, e.Value = journal.ContextPatched, map[string]any{args[2][len("ctx.") : len(args[2])-len("="+inspect.BlankValue)]: inspect.BlankValue}
	}
	return e, true
}
