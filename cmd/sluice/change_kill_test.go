//go:build unix

package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// A host is killed changeKills times, or changeKillsAll times if SLUICE_EXHAUSTIVE is set.
const (
	changeKills    = 10
	changeKillsAll = 100
)

// book is a playbook. Its run is repeated from the request of its last call.
const book = `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: book, path: book}
workflow:
  - step: before
    tool: {kind: command, shell: "echo $SLUICE_RUN/$SLUICE_STEP >> calls"}
    next: {arcs: [{step: after}]}
  - step: after
    tool: {kind: command, shell: "echo $SLUICE_RUN/$SLUICE_STEP >> calls"}
`

// TestAHostKilledDuringChangesLeavesNothingHalfDone kills a host with SIGKILL, again and again, while runs are repeated and moved to
// another version there, one by one and by acts on many. In the end each existing rerun has all its kept results, has not repeated their
// calls, and has ended; each acknowledged move is in the journal, and the step that only the other version has was done; each act has
// ended, and has acted once on each run that it reports as done.
func TestAHostKilledDuringChangesLeavesNothingHalfDone(t *testing.T) {
	kills := changeKills
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		kills = changeKillsAll
	}
	dir := t.TempDir()
	l := &changeLoad{hostLoad: hostLoad{
		t: t, killing: killing{t: t, dir: dir}, started: map[string]bool{}, sent: map[string]bool{}, decided: map[string]bool{}, answered: map[string]int{},
	}, rerun: map[string]bool{}, moved: map[string]bool{}, acts: map[string]bool{}}
	l.attached = l.attachment("job.yaml", job)
	l.other = l.attachment("next.yaml", strings.Replace(job, "output:", "  - {operation: work, id: more}\noutput:", 1))
	l.book = l.attachment("book.yaml", book)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	rng := rand.New(rand.NewPCG(5, 6))
	p := l.serve()
	require.NoError(t, l.ask(ctx, "pages", &api.Request{Verb: api.Begin, ID: "pages", Dir: dir, Attachment: l.book}, l.started))
	l.awaitCall("pages/after")
	require.NoError(t, l.ask(ctx, "old", &api.Request{Verb: api.Begin, ID: "old", Dir: dir, Attachment: l.attached}, l.started))
	l.finish()
	var all sync.WaitGroup
	all.Go(func() { l.repeat(ctx) })
	all.Go(func() { l.moveOn(ctx) })
	all.Go(func() { l.actOnMany(ctx) })
	for range kills {
		reruns, moves, acts := l.count(l.rerun), l.count(l.moved), l.count(l.acts)
		eventually(t, "a rerun, a move and an act are acknowledged", func() bool {
			return l.count(l.rerun) > reruns && l.count(l.moved) > moves && l.count(l.acts) > acts
		})
		before := l.acknowledged.Load()
		more := int64(rng.IntN(4))
		eventually(t, "requests are acknowledged", func() bool { return l.acknowledged.Load() >= before+more })
		p.signal(syscall.SIGKILL)
		p.wait()
		p = l.serve()
	}
	acts := l.count(l.acts)
	eventually(t, "an act of each kind is acknowledged", func() bool { return l.count(l.acts) > acts+len(actVerbs) })
	stop()
	all.Wait()
	l.resumeAll()
	l.finish()
	ended, outcomes := l.report()
	p.signal(syscall.SIGTERM)
	require.Equal(t, cli.Done, p.wait(), "%s", &p.stderr)
	l.check(ended, outcomes)
	t.Logf("%d kills, %d reruns, %d moves and %d acts acknowledged", kills, len(l.rerun), len(l.moved), len(l.acts))
}

// changeLoad is the load of a host that is killed: reruns, moves, and acts on many runs.
type changeLoad struct {
	hostLoad
	other, book  []byte          // attachments: the version that runs are moved to; the playbook
	rerun, moved map[string]bool // acknowledged, by run
	acts         map[string]bool // the same, by number
}

func (l *changeLoad) count(done map[string]bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(done)
}

func (l *changeLoad) attachment(name, text string) []byte {
	parcel, _, err := cli.LoadParcel(l.t.Context(), writeFile(l.t, l.dir, name, text))
	require.NoError(l.t, err)
	attached, err := (&api.Attachment{Parcel: parcel}).Encode()
	require.NoError(l.t, err)
	return attached
}

// repeat reruns the two finished runs alternately, until ctx ends.
func (l *changeLoad) repeat(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		id := fmt.Sprintf("again-%d", n)
		run, what := "old", &api.Rerun{From: "after"}
		if n%2 == 1 {
			run, what = "pages", &api.Rerun{At: 6} // the event that requests the call of step after
		}
		if l.ask(ctx, id, &api.Request{Verb: api.Repeat, Run: run, ID: id, Rerun: what, Dir: l.dir}, l.rerun) != nil {
			l.awaitHost(ctx)
		}
	}
}

// moveOn starts one run after the other, and moves each run while it waits.
func (l *changeLoad) moveOn(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		run := fmt.Sprintf("move-%d", n)
		if l.ask(ctx, run, &api.Request{Verb: api.Begin, ID: run, Dir: l.dir, Attachment: l.attached}, l.started) != nil {
			l.awaitHost(ctx)
			continue
		}
		_ = l.ask(ctx, run, &api.Request{Verb: api.Move, Run: run, Attachment: l.other, Dir: l.dir}, l.moved)
		_ = l.ask(ctx, run, l.letter(run), l.sent)
	}
}

// check compares the journal with the reruns, moves and acts that were acknowledged.
func (l *changeLoad) check(acts map[uint64]*api.Act, outcomes map[uint64][]*api.Outcome) {
	past, state, moves, more := map[string]uint64{}, map[string]string{}, map[string]int{}, map[string]int{}
	cancelled, made := map[string]bool{}, actEvents{}
	events, calls := map[string][]string{}, l.calls()
	l.each(filepath.Join(l.dir, "journal"), func(run string, e *journal.Event) {
		events[run] = append(events[run], e.Type.String()+" "+e.Node)
		made.see(run, e)
		switch {
		case e.Type == journal.RunStarted && e.Detail.Start.From != nil:
			past[run] = uint64(e.Detail.Start.From.Kept) + 1
		case e.Type == journal.RunMoved:
			moves[run]++
		case e.Type == journal.RunCancelled:
			cancelled[run] = true
		case e.Type == journal.RunFinished:
			state[run] = e.Detail.State
		case e.Type == journal.CallResponded && e.Node == "more":
			more[run]++
		}
	})
	require.NotEmpty(l.t, l.rerun)
	require.NotEmpty(l.t, l.moved)
	for _, run := range slices.Sorted(maps.Keys(events)) {
		if cancelled[run] {
			require.True(l.t, strings.HasPrefix(run, "act-"), "run %s was not to be cancelled", run)
			require.Equal(l.t, "aborted", state[run], run)
			continue
		}
		require.Equal(l.t, "completed", state[run], run)
		require.Equal(l.t, moves[run], more[run], "run %s does what only the other version has, if it was moved", run)
		if n := past[run]; n > 0 {
			whole := []string{"result.kept before", "result.kept letter", "result.kept task"}
			if strings.HasPrefix(events[run][1], "step.scheduled") {
				whole = events["pages"][1:5]
			}
			require.Equal(l.t, whole, events[run][1:n], "run %s has all that it keeps", run)
			require.Zero(l.t, calls[run+"/before"]+calls[run+"/before@1.before_task"], "run %s has made a call that is kept", run)
		}
	}
	for run := range l.rerun {
		require.NotZero(l.t, past[run], "run %s: an acknowledged rerun is lost", run)
	}
	for run := range l.moved {
		require.Equal(l.t, 1, moves[run], "run %s: an acknowledged move is lost", run)
	}
	l.checkActs(acts, outcomes, made, events)
	require.NoError(l.t, checkJournal(filepath.Join(l.dir, "journal")))
}

// awaitCall waits until the call of a step has been made.
func (l *changeLoad) awaitCall(step string) {
	eventually(l.t, "step "+step+" is called", func() bool {
		for call := range l.calls() {
			if strings.HasPrefix(call, step) {
				return true
			}
		}
		return false
	})
}
