package coordinator_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// generations holds the files of a playbook that calls a playbook that calls a workflow.
var generations = map[string]string{
	"top.yaml": `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: top}
workflow:
  - step: call
    tool: {name: mid, kind: playbook, path: below/mid.yaml, input: {n: "{{ workload.n }}"}}
    next:
      arcs:
        - {step: tell, when: '{{ event.name == "step.done" }}', args: {got: "{{ event.result }}"}}
        - {step: rest, when: '{{ event.error.kind == "aborted" }}'}
  - {step: rest, tool: {kind: wait, message: go}}
  - {step: tell, tool: {kind: echo, input: {got: "{{ args.got }}"}}}
`,
	"below/mid.yaml": `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: mid}
workload: {n: 0, factor: 2}
workflow:
  - step: work
    tool: {kind: workflow, path: leaf.yaml, input: {n: "{{ workload.n * workload.factor }}"}}
`,
	"below/leaf.yaml": `
kind: Workflow
name: leaf
input: {type: object, required: [n], properties: {n: {type: integer, maximum: 100}}}
steps: [{operation: slow}, {operation: echo, input: "{{ input.n + 1 }}"}]
output: "{{ steps.echo.output }}"
`,
}

const (
	midOf  = "/call@1.call_task#1"
	leafOf = midOf + "/work@1.work_task#1"
)

// written writes files to a new folder, and returns its path.
func written(t testing.TB, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return dir
}

func loaded(t testing.TB, file string, operations ...string) *template.Workflow {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	known := func(name string) bool { return slices.Contains(operations, name) }
	checked, err := kinds.Load(file, data, template.Known{Operation: known})
	require.NoError(t, err)
	return checked.Workflow
}

// reopen returns a function that opens engines on one folder, one after the other.
func reopen(t testing.TB, operations ...coordinator.Operation) func() *coordinator.Engine {
	dir := t.TempDir()
	return func() *coordinator.Engine {
		store, err := disk.Open(dir, disk.Config{})
		require.NoError(t, err)
		e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: operations})
		require.NoError(t, err)
		return e
	}
}

// crash ends an engine before any call returns.
func crash(t testing.TB, e *coordinator.Engine) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, e.Shutdown(ended))
}

func find(t testing.TB, e *coordinator.Engine, id string) *coordinator.Run {
	r, err := e.Run(t.Context(), id)
	require.NoError(t, err)
	return r
}

// A run keeps the children that it was started with: changed and deleted files have no effect. Each child is a separate run, which a
// repeated call finds.
func TestAPlaybookCallsAPlaybookThatCallsAWorkflow(t *testing.T) {
	dir, g := written(t, generations), newGate()
	open := reopen(t, echo, g.define("slow"))
	e := open()
	_, err := e.Start(t.Context(), loaded(t, filepath.Join(dir, "top.yaml"), "echo"), map[string]any{"n": 20}, coordinator.WithID("r"))
	require.NoError(t, err)
	before := <-g.entered
	require.Equal(t, "r"+leafOf, before.Run)
	crash(t, e)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "below")))

	e = open()
	after := <-g.entered
	require.Equal(t, before.Key(), after.Key(), "the same call is repeated")
	g.leave <- nil
	result := wait(t, find(t, e, "r"))
	require.NoError(t, result.Err())
	require.Equal(t, map[string]any{"got": int64(41)}, result.Output)
	require.Equal(t, int64(41), wait(t, find(t, e, "r"+midOf)).Output)
	for event, err := range find(t, e, "r"+midOf).Events(t.Context(), 1) {
		require.NoError(t, err)
		if event.Type == journal.RunStarted {
			require.Equal(t, map[string]any{"n": int64(20)}, event.Value, "the workload is the tool's input")
			require.Equal(t, "r"+midOf, event.Detail.Start.Parent)
		}
	}
	require.NoError(t, e.Shutdown(t.Context()))
}

func TestAParentReportsTheFailureOfItsChild(t *testing.T) {
	dir, g := written(t, generations), newGate()
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo, g.define("slow")}})
	top := loaded(t, filepath.Join(dir, "top.yaml"), "echo")
	for _, c := range []struct {
		name  string
		n     int
		leave error  // of the workflow's call; nil: the call is not made
		said  string // in the failure two levels above
	}{
		{"a call fails", 1, &operation.Error{Code: "gone", Message: "no more", Permanent: true}, "gone: no more"},
		{"an input is refused", 51, nil, "must be at most 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := e.Start(t.Context(), top, map[string]any{"n": c.n})
			require.NoError(t, err)
			if c.leave != nil {
				<-g.entered
				g.leave <- c.leave
			}
			result := wait(t, r)
			require.Equal(t, reactive.RunFailed, result.Status)
			require.Equal(t, coordinator.CodeChildFailed, result.Failure.Code)
			require.ErrorContains(t, result.Err(), c.said)
		})
	}
}

// A cancelled run cancels the runs below it, even if the process has ended in between.
func TestACancelGoesDownThroughPlaybooks(t *testing.T) {
	dir, g := written(t, generations), newGate()
	open := reopen(t, echo, g.define("slow"))
	e := open()
	top := loaded(t, filepath.Join(dir, "top.yaml"), "echo")
	cancelled := func(id string) {
		for _, below := range []string{"", midOf, leafOf} {
			require.Equal(t, reactive.RunAborted, wait(t, find(t, e, id+below)).Status, below)
		}
	}
	for _, id := range []string{"here", "there"} {
		_, err := e.Start(t.Context(), top, map[string]any{"n": 1}, coordinator.WithID(id))
		require.NoError(t, err)
		<-g.entered
	}
	require.NoError(t, find(t, e, "here").Cancel(t.Context(), "enough"))
	cancelled("here")
	crash(t, e)

	e = open()
	require.NoError(t, find(t, e, "there").Cancel(t.Context(), "enough"))
	cancelled("there")
	require.NoError(t, e.Shutdown(t.Context()))
}

// severed is a store that refuses appends of child runs once it is cut, as if the process had ended before them.
type severed struct {
	kept
	cut atomic.Bool
}

func (s *severed) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if s.cut.Load() && strings.Contains(stream, "@") {
		return 0, journal.ErrClosed
	}
	return s.kept.Append(ctx, stream, after, events, head)
}

// Children end with the calls that started them, whether or not an engine went on with their parents.
func TestChildrenAreNotOrphaned(t *testing.T) {
	dir := written(t, generations)
	top := loaded(t, filepath.Join(dir, "top.yaml"), "echo")
	cancel := func(r *coordinator.Run) error { return r.Cancel(t.Context(), "enough") }
	abort := func(r *coordinator.Run) error { return r.Abort(t.Context(), "call@1.call_task", "enough") }
	for name, end := range map[string]func(*coordinator.Run) error{"the run is cancelled": cancel, "the step is aborted": abort} {
		for _, away := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, not picked up: %v", name, away), func(t *testing.T) {
				g, store := newGate(), &severed{kept: kept{memory.New()}}
				config := coordinator.Config{Operations: []coordinator.Operation{echo, g.define("slow")}, Logger: slog.New(slog.DiscardHandler)}
				open := func() *coordinator.Engine {
					e, err := coordinator.New(t.Context(), store, config)
					require.NoError(t, err)
					return e
				}
				e := open()
				r, err := e.Start(t.Context(), top, map[string]any{"n": 1}, coordinator.WithID("r"))
				require.NoError(t, err)
				<-g.entered
				if away {
					crash(t, e)
					config.PickUp = func(journal.Head) bool { return false }
					e = open()
					r = find(t, e, "r")
					config.PickUp = nil
				}
				store.cut.Store(!away)
				require.NoError(t, end(r))
				if away { // the command is journaled for the runs below, too
					require.Equal(t, reactive.RunAborted, wait(t, find(t, e, "r"+leafOf)).Status)
				}
				crash(t, e)
				store.cut.Store(false)

				e = open()
				for _, below := range []string{midOf, leafOf} {
					result := wait(t, find(t, e, "r"+below))
					require.Equal(t, reactive.RunAborted, result.Status, below)
					require.Equal(t, "the call that started the run has ended", result.Failure.Message)
				}
				require.NoError(t, e.Shutdown(t.Context()))
			})
		}
	}
}

// Every participant that is asked runs a separate child.
func TestEveryParticipantHasAChildOfItsOwn(t *testing.T) {
	dir := written(t, map[string]string{
		"top.yaml": `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: top}
directory: {participants: {"a/b": {}, c: {}}}
workflow:
  - step: ask
    tool:
      {kind: workflow, path: child.yaml, input: {n: 1}, target: {resolve: static, participants: ["a/b", c]}, fan_in: {policy: all}}
`,
		"child.yaml": "{kind: Workflow, name: child, steps: [{operation: echo, input: 1}]}",
	})
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	r, err := e.Start(t.Context(), loaded(t, filepath.Join(dir, "top.yaml"), "echo"), nil, coordinator.WithID("r"))
	require.NoError(t, err)
	require.NoError(t, wait(t, r).Err())
	for _, who := range []string{"a%2Fb", "c"} {
		require.NoError(t, wait(t, find(t, e, "r/ask@1.ask_task#1:"+who)).Err())
	}
}

// A child has its own secrets; the call that starts it can be repeated when they are unavailable.
func TestAChildWithoutItsSecretsIsNotStarted(t *testing.T) {
	dir := written(t, map[string]string{
		"top.yaml": `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: top}
workflow: [{step: call, tool: {name: child, kind: playbook, path: child.yaml}}]
`,
		"child.yaml": `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: child}
keychain: [{name: k, kind: env, data: {s: SLUICE_TEST_NOT_THERE}}]
workflow: [{step: a, tool: {kind: echo, input: "{{ keychain.k.s }}"}}]
`,
	})
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	r, err := e.Start(t.Context(), loaded(t, filepath.Join(dir, "top.yaml")), nil, coordinator.WithID("r"))
	require.NoError(t, err)
	failure := wait(t, r).Failure
	require.Equal(t, coordinator.CodeKeychain, failure.Code)
	require.True(t, failure.Retryable)
	require.Contains(t, failure.Message, keychain.ErrUnavailable.Error())
	require.Contains(t, failure.Message, "SLUICE_TEST_NOT_THERE")
	_, err = e.Run(t.Context(), "r/call@1.call_task#1")
	require.ErrorIs(t, err, coordinator.ErrRunNotFound)
}
