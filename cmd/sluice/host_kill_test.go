//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/doctor"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// A host is killed hostKills times, or hostKillsAll times if SLUICE_EXHAUSTIVE is set.
const (
	hostKills    = 20
	hostKillsAll = 200
)

// job calls a program, waits for a message and for a decision of a person, and calls the program again.
const job = `
kind: Workflow
name: job
operations:
  work: {command: {shell: "echo $SLUICE_RUN/$SLUICE_STEP >> calls"}}
  letter: {wait: {message: letter}}
  task: {value: done}
steps:
  - {operation: work, id: before}
  - {operation: letter}
  - {operation: task, fulfillment: {policy: never}}
  - {operation: work, id: after}
output: "{{ steps.letter.output }}"
`

// brief completes at once. Its runs expire at once.
const brief = `
kind: Workflow
name: brief
operations: {one: {value: {{number}}}}
steps: [{operation: one}]
`

// TestAHostKilledUnderLoadLosesNothing kills a host with SIGKILL, again and again. Meanwhile runs are started there, receive messages and
// decisions and are cancelled; others are deleted; expired runs, acts and content are collected; and backups are made. In the end the
// acknowledged requests are in the journal, and the acknowledged starts in each whole backup that was begun later. A call with a journaled
// answer is never made again.
func TestAHostKilledUnderLoadLosesNothing(t *testing.T) {
	kills := hostKills
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		kills = hostKillsAll
	}
	dir := t.TempDir()
	file := writeFile(t, dir, "job.yaml", job)
	parcel, _, err := cli.LoadParcel(t.Context(), file)
	require.NoError(t, err)
	attached, err := (&api.Attachment{Parcel: parcel}).Encode()
	require.NoError(t, err)
	l := &hostLoad{
		t: t, killing: killing{t: t, dir: dir}, attached: attached, started: map[string]bool{}, sent: map[string]bool{}, decided: map[string]bool{},
		cancelled: map[string]bool{}, answered: map[string]int{}, brief: map[string]bool{}, deleted: map[string]bool{}, collected: map[string]bool{},
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	rng := rand.New(rand.NewPCG(3, 4))
	p := l.serve()
	var all sync.WaitGroup
	eventually(t, "the rule is set", func() bool {
		return l.ask(ctx, "", &api.Request{Verb: api.Retain, Query: "workflow:brief", Keep: "0s"}, map[string]bool{}) == nil
	})
	for worker := range 4 {
		all.Go(func() { l.work(ctx, worker) })
	}
	all.Go(func() { l.discard(ctx) })
	all.Go(func() { l.collect(ctx) })
	all.Go(func() { l.backUp(ctx) })
	for n := range kills {
		before, whole := l.acknowledged.Load(), l.collections.Load()
		more := int64(1 + rng.IntN(40))
		eventually(t, "requests are acknowledged", func() bool { return l.acknowledged.Load() >= before+more })
		if n%10 == 9 { // other kills may interrupt a collection or a backup
			copied := l.backups.Load()
			eventually(t, "a collection and a backup end", func() bool { return l.collections.Load() > whole && l.backups.Load() > copied })
		}
		p.signal(syscall.SIGKILL)
		p.wait()
		l.inspect()
		p = l.serve()
	}
	eventually(t, "each kind of request is acknowledged", l.hasAllKinds)
	stop()
	all.Wait()
	l.finish()
	p.signal(syscall.SIGTERM)
	require.Equal(t, cli.Done, p.wait(), "%s", &p.stderr)
	l.judge()
	t.Logf("%d kills, %d acknowledged: %d starts, %d messages, %d decisions, %d cancelled, %d deleted; %d collected in %d whole collections; %d whole backups, %d cut short",
		kills, l.acknowledged.Load(), len(l.started), len(l.sent), len(l.decided), len(l.cancelled), len(l.deleted), len(l.collected), l.collections.Load(),
		l.backups.Load(), l.cut)
}

// hostLoad is the load of a host that is killed, and the requests that were acknowledged.
type hostLoad struct {
	killing
	t            *testing.T
	attached     []byte
	acknowledged atomic.Int64

	mu                                sync.Mutex
	started, sent, decided, cancelled map[string]bool // acknowledged, by run
	answered                          map[string]int  // by run and step: number of calls when the answer was first found in the journal
	brief, deleted, collected         map[string]bool // runs of brief: started, deleted, and reported by a collection
	collections                       atomic.Int64    // that have ended
	backups                           atomic.Int64    // backups that were reported whole
	cut                               int             // backups that were not reported whole
}

// hasAllKinds reports whether each kind of request was acknowledged. On a slow machine the kills may have left no time for one.
func (l *hostLoad) hasAllKinds() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, acknowledged := range []map[string]bool{l.started, l.sent, l.decided, l.cancelled, l.deleted, l.collected} {
		if len(acknowledged) == 0 {
			return false
		}
	}
	return true
}

// discard starts runs that expire at once, each with a new definition or one of an earlier run, and deletes some.
func (l *hostLoad) discard(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		run := fmt.Sprintf("brief-%d", n)
		file := writeFile(l.t, l.dir, "brief.yaml", strings.ReplaceAll(brief, "{{number}}", fmt.Sprint(n%7)))
		parcel, _, err := cli.LoadParcel(l.t.Context(), file)
		if err != nil {
			l.t.Error(err)
			return
		}
		attached, err := (&api.Attachment{Parcel: parcel}).Encode()
		if err != nil {
			l.t.Error(err)
			return
		}
		if l.ask(ctx, run, &api.Request{Verb: api.Begin, ID: run, Dir: l.dir, Attachment: attached}, l.brief) != nil {
			l.awaitHost(ctx)
			continue
		}
		if n%3 == 0 {
			_ = l.ask(ctx, run, &api.Request{Verb: api.Delete, Run: run}, l.deleted)
		}
	}
}

// collect collects expired runs, acts, definitions and content, again and again.
func (l *hostLoad) collect(ctx context.Context) {
	for ctx.Err() == nil {
		c, err := folder.Dial(filepath.Join(l.dir, "journal"))
		if err == nil {
			_, err = c.Collect(ctx, api.Request{}, func(g *api.Gone) error {
				if g.Kind == "run" {
					l.mu.Lock()
					l.collected[g.Name] = true
					l.mu.Unlock()
				}
				return nil
			})
		}
		if err != nil {
			l.awaitHost(ctx)
			continue
		}
		l.collections.Add(1)
	}
}

// backUp makes backups, one after the other, and checks each one that the host reports whole: the doctor finds no fault, and the backup has
// each run with a start that was acknowledged before the backup began.
func (l *hostLoad) backUp(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		l.mu.Lock()
		started := maps.Clone(l.started)
		l.mu.Unlock()
		dir := filepath.Join(l.dir, "backups", fmt.Sprint(n))
		c, err := folder.Dial(filepath.Join(l.dir, "journal"))
		if err == nil {
			err = c.Backup(ctx, dir, "")
		}
		if err != nil {
			l.cut++
			l.awaitHost(ctx)
		} else if err := l.wholeBackup(dir, started); err != nil {
			l.t.Errorf("backup %d, reported to be whole: %v", n, err)
			return
		} else {
			l.backups.Add(1)
		}
		if err := os.RemoveAll(dir); err != nil {
			l.t.Error(err)
		}
	}
}

// wholeBackup returns an error if a backup has a fault or lacks a started run.
func (l *hostLoad) wholeBackup(dir string, started map[string]bool) error {
	if err := checkJournal(dir); err != nil {
		return err
	}
	store, err := disk.Open(dir, disk.Config{})
	if err != nil {
		return err
	}
	for run := range started {
		if _, err := store.Head(context.Background(), run); err != nil {
			return errors.Join(fmt.Errorf("run %s: %w", run, err), store.Close())
		}
	}
	return store.Close()
}

// serve starts a host and waits until it is ready.
func (l *hostLoad) serve(flags ...string) *process {
	p := launch(l.t, l.dir, append([]string{"serve", "--data", "journal"}, flags...)...)
	eventually(l.t, "the host is ready", func() bool { return strings.Contains(p.stdout.String(), "ready: ") })
	return p
}

// ask makes a request, and records it if it was acknowledged.
func (l *hostLoad) ask(ctx context.Context, run string, req *api.Request, done map[string]bool) error {
	c, err := folder.Dial(filepath.Join(l.dir, "journal"))
	if err != nil {
		return err
	}
	req.Actor = "load"
	if _, err = c.Do(ctx, req); err == nil {
		l.mu.Lock()
		done[run] = true
		l.mu.Unlock()
		l.acknowledged.Add(1)
	}
	return err
}

// work starts one run after the other, cancels some, sends a message to the others and decides some of these, also while there is no host.
func (l *hostLoad) work(ctx context.Context, worker int) {
	for n := 0; ctx.Err() == nil; n++ {
		run := fmt.Sprintf("w%d-%d", worker, n)
		err := l.ask(ctx, run, &api.Request{Verb: api.Begin, ID: run, Dir: l.dir, Attachment: l.attached}, l.started)
		if err != nil {
			l.awaitHost(ctx)
			continue
		}
		if n%5 == 4 {
			_ = l.ask(ctx, run, &api.Request{Verb: api.Cancel, Run: run}, l.cancelled)
			continue
		}
		_ = l.ask(ctx, run, l.letter(run), l.sent)
		if n%2 == 0 {
			for errors.Is(l.decide(ctx, run), coordinator.ErrNotPossible) && ctx.Err() == nil { // not yet
			}
		}
	}
}

func (l *hostLoad) letter(run string) *api.Request {
	return &api.Request{Verb: api.Send, Run: run, Message: "letter", Payload: json.RawMessage(`"for ` + run + `"`)}
}

func (l *hostLoad) decide(ctx context.Context, run string) error {
	return l.ask(ctx, run, &api.Request{Verb: api.Decide, Run: run, Step: "task", Decision: api.Fulfilled}, l.decided)
}

// awaitHost waits until a host answers.
func (l *hostLoad) awaitHost(ctx context.Context) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := folder.Dial(filepath.Join(l.dir, "journal")); err == nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// inspect reads a copy of the journal after a kill, and records the calls that have an answer: they must not be made again.
func (l *hostLoad) inspect() {
	calls := l.calls()
	l.each(l.copyJournal(), func(run string, e *journal.Event) {
		if e.Type == journal.CallResponded && (e.Node == "before" || e.Node == "after") {
			if key := run + "/" + e.Node; l.answered[key] == 0 {
				l.answered[key] = calls[key]
			}
		}
	})
}

// each calls see with every event of a journal.
func (l *hostLoad) each(dir string, see func(run string, e *journal.Event)) {
	store, err := disk.Open(dir, disk.Config{})
	require.NoError(l.t, err)
	defer func() { require.NoError(l.t, store.Close()) }()
	for head, err := range store.Heads(l.t.Context(), "") {
		require.NoError(l.t, err)
		for e, err := range store.Read(l.t.Context(), head.Run, 1) {
			require.NoError(l.t, err)
			see(head.Run, &e)
		}
	}
}

// finish sends the open runs their messages and decisions, and waits until all have ended.
func (l *hostLoad) finish() {
	ctx := l.t.Context()
	for {
		c, err := folder.Dial(filepath.Join(l.dir, "journal"))
		require.NoError(l.t, err)
		var open []string
		for r, err := range c.Runs(ctx) {
			require.NoError(l.t, err)
			require.Empty(l.t, r.Parked, r.Run)
			if !r.Finished {
				open = append(open, r.Run)
			}
		}
		if len(open) == 0 {
			return
		}
		for _, run := range open {
			if !l.sent[run] {
				_ = l.ask(ctx, run, l.letter(run), l.sent)
			}
			_ = l.decide(ctx, run)
		}
	}
}

// judge compares the journal with the requests that were acknowledged.
func (l *hostLoad) judge() {
	has := map[string]bool{}
	l.each(filepath.Join(l.dir, "journal"), func(run string, e *journal.Event) {
		switch {
		case e.Type == journal.MessageReceived:
			require.Equal(l.t, "for "+run, e.Value)
		case e.Type == journal.RunFinished && !l.cancelled[run]:
			require.Contains(l.t, []string{"completed", "aborted"}, e.Detail.State, run) // a cancel may be done and not acknowledged
		}
		has[e.Type.String()+" "+run] = true
	})
	for typ, runs := range map[journal.Type]map[string]bool{
		journal.RunStarted: l.started, journal.MessageReceived: l.sent, journal.DecisionReceived: l.decided, journal.RunCancelled: l.cancelled,
	} {
		require.NotEmpty(l.t, runs, typ)
		for _, run := range slices.Sorted(maps.Keys(runs)) {
			require.True(l.t, has[typ.String()+" "+run], "run %s: an acknowledged %s is lost", run, typ)
		}
	}
	require.NotEmpty(l.t, l.deleted)
	require.NotEmpty(l.t, l.collected)
	for _, gone := range []map[string]bool{l.deleted, l.collected} {
		for run := range gone {
			require.True(l.t, strings.HasPrefix(run, "brief-"), "run %s is kept, and was deleted", run)
			require.False(l.t, has["run.started "+run], "run %s was deleted, and is there again", run)
		}
	}
	require.NoError(l.t, checkJournal(filepath.Join(l.dir, "journal")))
	calls := l.calls()
	require.NotEmpty(l.t, l.answered)
	for key, n := range l.answered {
		require.Equal(l.t, n, calls[key], "%s was called again after it had been answered", key)
	}
}

// checkJournal returns the first fault that the doctor finds in a folder, such as a run without its definition.
func checkJournal(dir string) error {
	raw, err := disk.OpenRaw(dir, false, disk.Config{})
	if err != nil {
		return err
	}
	_, err = doctor.Check(context.Background(), raw, doctor.How{}, func(f doctor.Fault) error { return errors.New(f.Run + f.Content + ": " + f.What) })
	return errors.Join(err, raw.Close())
}
