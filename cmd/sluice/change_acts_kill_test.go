//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// actRuns is the number of runs of an act.
const actRuns = 3

// actVerbs lists the verbs of the acts, in the order in which they are used.
var actVerbs = []string{"cancel", "move", "pause", "rerun"}

// actOnMany starts one group of runs after the other, and begins an act on each group. It repeats a verb until an act with it was
// acknowledged, and then uses the next verb.
func (l *changeLoad) actOnMany(ctx context.Context) {
	verb := 0
	for n := 0; ctx.Err() == nil; n++ {
		group := fmt.Sprintf("act-%d", n)
		for i := 0; i < actRuns && ctx.Err() == nil; {
			run := fmt.Sprintf("%s-%d", group, i)
			begin := &api.Request{Verb: api.Begin, ID: run, Dir: l.dir, Attachment: l.attached, Labels: map[string]string{"group": group}}
			if l.ask(ctx, run, begin, l.started) != nil { // the run may exist already: a repeated start has no effect
				l.awaitHost(ctx)
				continue
			}
			i++
		}
		req := &api.Request{Verb: api.Bulk, Act: actVerbs[verb%len(actVerbs)], Query: "label.group:" + group, Expect: actRuns, Actor: "load"}
		switch req.Act {
		case "move":
			req.Attachment = l.other
		case "rerun":
			req.Query, req.Expect, req.Rerun, req.Dir = "old", 1, &api.Rerun{From: "after"}, l.dir
		}
		if l.act(ctx, req) {
			verb++
		}
	}
}

// act begins an act, records its number if it was acknowledged, and reports whether it was.
func (l *changeLoad) act(ctx context.Context, req *api.Request) bool {
	c, err := folder.Dial(filepath.Join(l.dir, "journal"))
	if err == nil {
		err = c.Acts(ctx, req, func(r *api.Reply) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.acts[fmt.Sprint(r.Act.ID)] = true
			return nil
		})
	}
	if err != nil {
		l.awaitHost(ctx)
	}
	return err == nil
}

// resumeAll ends the pauses that acts have begun, so that the runs can end.
func (l *changeLoad) resumeAll() {
	acts, _ := l.report()
	for _, act := range acts {
		if act.Act == "pause" && act.State == string(bulk.Completed) {
			for i := range actRuns {
				run := fmt.Sprintf("%s-%d", strings.TrimPrefix(act.Query, "label.group:"), i)
				_ = l.ask(l.t.Context(), run, &api.Request{Verb: api.Resume, Run: run}, map[string]bool{})
			}
		}
	}
}

// report returns all acts, and the outcomes of each.
func (l *changeLoad) report() (acts map[uint64]*api.Act, outcomes map[uint64][]*api.Outcome) {
	acts, outcomes = map[uint64]*api.Act{}, map[uint64][]*api.Outcome{}
	c, err := folder.Dial(filepath.Join(l.dir, "journal"))
	require.NoError(l.t, err)
	require.NoError(l.t, c.Acts(l.t.Context(), &api.Request{Verb: api.Acts}, func(r *api.Reply) error {
		acts[r.Act.ID] = r.Act
		return nil
	}))
	for id := range acts {
		require.NoError(l.t, c.Acts(l.t.Context(), &api.Request{Verb: api.AwaitAct, Number: id}, func(r *api.Reply) error {
			acts[id] = r.Act
			return nil
		}))
		require.NoError(l.t, c.Acts(l.t.Context(), &api.Request{Verb: api.Acts, Number: id}, func(r *api.Reply) error {
			if r.Outcome != nil {
				outcomes[id] = append(outcomes[id], r.Outcome)
			}
			return nil
		}))
	}
	return acts, outcomes
}

// actEvents counts the events that acts have made, by act and run.
type actEvents map[string]int

func (m actEvents) see(run string, e *journal.Event) {
	if e.Detail != nil && strings.HasPrefix(e.Detail.ID, "#bulk/") {
		m[e.Detail.ID+" "+run]++
	}
}

// checkActs compares the reported outcomes of the acts with the journals. Every act has ended. Among the outcomes of the newest hundred
// acts, each rerun has its new run, and each other act was done once on its run. An act that was abandoned before it began has done
// nothing.
func (l *changeLoad) checkActs(acts map[uint64]*api.Act, outcomes map[uint64][]*api.Outcome, made actEvents, runs map[string][]string) {
	verbs := map[string]int{}
	for id, act := range acts {
		stream := journal.BulkStream(id)
		what, _ := json.Marshal(act)
		if act.State == string(bulk.Abandoned) {
			require.False(l.t, l.acts[fmt.Sprint(id)], "an act was acknowledged that has never begun: %s", what)
			for mark := range made {
				require.False(l.t, strings.HasPrefix(mark, stream+" "), "%s, by an act that has never begun", mark)
			}
			continue
		}
		require.Equal(l.t, string(bulk.Completed), act.State, "%s", what)
		require.Equal(l.t, act.Count, act.Done+act.Already, "%s", what)
		for _, o := range outcomes[id] { // only the newest hundred acts have outcomes
			switch {
			case o.Result != string(bulk.Done):
			case act.Act == "rerun":
				require.NotEmpty(l.t, runs[o.New], "act %d: run %s is lost", id, o.New)
			default:
				require.Equal(l.t, 1, made[stream+" "+o.Run], "act %d on run %s: %s", id, o.Run, act.Act)
			}
		}
		verbs[act.Act]++
	}
	require.Len(l.t, verbs, len(actVerbs), "%v", verbs)
	for id := range l.acts {
		require.Contains(l.t, fmt.Sprint(acts), id+":", "act %s: an acknowledged act is lost", id)
	}
	l.t.Logf("acts that have ended: %v", verbs)
}
