//go:build unix

package main

import (
	"context"
	"encoding/json"
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

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// accounts is a world with cells that add up numbers. For each number a cell calls a program, which records the key of the call.
const accounts = `
kind: World
name: accounts
types: {Add: {record: {id: text, n: nat}}}
effects:
  confirm:
    params: {record: {n: nat}}
    receipt: {record: {n: nat}}
    command: {shell: 'echo "$SLUICE_IDEMPOTENCY_KEY" >> calls; sleep 0.02; echo "{\"n\": $N}"', env: {N: "{{ input.n }}"}, output: json}
machines:
  account:
    key: text
    state: {record: {sum: nat, confirmed: nat}}
    event: [Add]
    emits: [confirm]
    lifecycle: entity
    rules:
      - event: Add
        set: {sum: "{{ (state?.sum ?? 0) + event.n }}", confirmed: "{{ state?.confirmed ?? 0 }}"}
        emit: [{effect: confirm, params: {n: "{{ event.n }}"}}]
      - {event: confirm, when: '{{ event.status == "ok" }}', set: {confirmed: "{{ state.confirmed + event.payload.n }}"}}
      - {event: confirm, fail: {code: unconfirmed}}
routing: {subscriptions: [{event: Add, machine: account, key_field: id}]}
`

const (
	worldKillsMin = 3
	worldMessages = 24
)

// TestAKilledWorldLosesNothing kills the process of a world with SIGKILL, again and again, while messages are sent to that process, or to
// the journal if there is none. A message is sent with the same id until it is acknowledged.
func TestAKilledWorldLosesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", accounts)
	start := []string{"run", "w.yaml", "--id", "w", "--data", "journal"}
	host := launch(t, dir, start...)
	eventually(t, "the journal", exists(filepath.Join(dir, "journal", "VERSION")))
	eventually(t, "the run", func() bool { _, _, code := ask(t, dir, "runs", "show", "w"); return code == cli.Done })
	resume := []string{"run", "--resume", "w", "--data", "journal"}
	want, kills := map[string]uint64{}, 0
	for i := range worldMessages {
		if host != nil && rng.IntN(3) == 0 {
			host.signal(syscall.SIGKILL)
			host.wait()
			host, kills = nil, kills+1
		}
		if host == nil && rng.IntN(2) == 0 {
			host = launch(t, dir, resume...)
		}
		key, n := string(rune('a'+rng.IntN(4))), uint64(1+rng.IntN(100))
		payload := fmt.Sprintf(`{"id": %q, "n": %d}`, key, n)
		eventually(t, "an acknowledgement", func() bool {
			_, _, code := ask(t, dir, "send", "w", "Add", payload, "--id", fmt.Sprint(i))
			return code == cli.Done
		})
		want[key] += n
	}
	require.GreaterOrEqual(t, kills, worldKillsMin)
	if host == nil {
		host = launch(t, dir, resume...)
	}
	var cells []cellLine
	eventually(t, "everything is confirmed", func() bool {
		cells = cellsOf(t, dir)
		return !slices.ContainsFunc(cells, func(c cellLine) bool { return c.State.Confirmed != c.State.Sum })
	})
	got := map[string]uint64{}
	for _, c := range cells {
		got[c.Key] = c.State.Sum
		require.Equal(t, "completed", c.Status)
	}
	require.Equal(t, want, got)
	host.signal(syscall.SIGINT)
	require.Equal(t, cli.Interrupted, host.wait())

	// Each message has one call, which is repeated at most once for each kill, with the same key.
	text, err := os.ReadFile(filepath.Join(dir, "calls"))
	require.NoError(t, err)
	times := map[string]int{}
	for _, key := range strings.Fields(string(text)) {
		times[key]++
	}
	require.Len(t, times, worldMessages, "%v", slices.Sorted(maps.Keys(times)))
	for key, n := range times {
		require.LessOrEqual(t, n, 1+kills, key)
	}
}

// A host of a world is killed worldKills times, or worldKillsAll times if SLUICE_EXHAUSTIVE is set.
const (
	worldKills    = 8
	worldKillsAll = 200
)

// TestAKilledHostOfAWorldLosesNothing kills the host of a world with SIGKILL, again and again, while several senders send messages at once,
// snapshots are made, and content is swept and events are trimmed. Each message counts once and has one call, and a call with a journaled
// answer is not made again.
func TestAKilledHostOfAWorldLosesNothing(t *testing.T) {
	kills := worldKills
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		kills = worldKillsAll
	}
	l := &worldLoad{hostLoad: &hostLoad{t: t, killing: killing{t: t, dir: t.TempDir()}}, sums: map[string]uint64{}, answered: map[string]int{}}
	writeFile(t, l.dir, "w.yaml", accounts)
	flags := []string{"--cells-in-memory", "2", "--keep-events", "100"}
	p := l.serve(flags...)
	_, stderr, code := ask(t, l.dir, "start", "w.yaml", "--id", "w")
	require.Equal(t, cli.Done, code, stderr)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	for sender := range 4 {
		all.Go(func() { l.send(ctx, sender) })
	}
	all.Go(func() { l.keep(ctx) })
	rng := rand.New(rand.NewPCG(5, 6))
	for range kills {
		before, more := l.acknowledged.Load(), int64(1+rng.IntN(40))
		eventually(t, "messages are acknowledged", func() bool { return l.acknowledged.Load() >= before+more })
		p.signal(syscall.SIGKILL)
		p.wait()
		l.inspect()
		p = l.serve(flags...)
	}
	eventually(t, "a snapshot and a sweep end", func() bool { return l.snapshots.Load() > 0 && l.sweeps.Load() > 0 })
	stop()
	all.Wait()
	l.judge(kills)
	p.signal(syscall.SIGTERM)
	require.Equal(t, cli.Done, p.wait(), "%s", &p.stderr)
	require.NoError(t, checkJournal(filepath.Join(l.dir, "journal")))
	t.Logf("%d kills, %d messages acknowledged, %d snapshots, %d sweeps; %d answers were journaled at a kill", kills, len(l.order), l.snapshots.Load(), l.sweeps.Load(), len(l.answered))
}

// worldLoad is the load of the host of a world that is killed.
type worldLoad struct {
	*hostLoad
	order             []string          // ids of the messages that were acknowledged
	sums              map[string]uint64 // of the acknowledged messages, by key
	answered          map[string]int    // by idempotency key: number of calls when the answer was first found in the journal
	snapshots, sweeps atomic.Int64      // that have ended
}

// send sends messages, each until it is acknowledged.
func (l *worldLoad) send(ctx context.Context, sender int) {
	rng := rand.New(rand.NewPCG(uint64(sender), 7))
	for i := 0; ctx.Err() == nil; i++ {
		key, n, id := string(rune('a'+rng.IntN(12))), uint64(1+rng.IntN(100)), fmt.Sprintf("%d-%d", sender, i)
		req := &api.Request{Verb: api.Send, Run: "w", Message: "Add", Payload: fmt.Appendf(nil, `{"id": %q, "n": %d}`, key, n), ID: id}
		for l.ask(l.t.Context(), id, req, map[string]bool{}) != nil && l.t.Context().Err() == nil {
			l.awaitHost(l.t.Context())
		}
		l.mu.Lock()
		l.order = append(l.order, id)
		l.sums[key] += n
		l.mu.Unlock()
	}
}

// keep requests snapshots, and the deletion of the content and events that the snapshots do not need.
func (l *worldLoad) keep(ctx context.Context) {
	for ctx.Err() == nil {
		if l.ask(ctx, "", &api.Request{Verb: api.Keep, Run: "w"}, map[string]bool{}) == nil {
			l.snapshots.Add(1)
		}
		if l.ask(ctx, "", &api.Request{Verb: api.Sweep, Run: "w"}, map[string]bool{}) == nil {
			l.sweeps.Add(1)
		}
		l.awaitHost(ctx)
	}
}

// inspect reads a copy of the journal after a kill, and records the calls that have an answer: they must not be made again.
func (l *worldLoad) inspect() {
	calls := l.calls()
	store, err := disk.Open(l.copyJournal(), disk.Config{})
	require.NoError(l.t, err)
	head, err := store.Head(l.t.Context(), "w")
	require.NoError(l.t, err)
	for e, err := range store.Read(l.t.Context(), "w", max(head.First, 2)) {
		require.NoError(l.t, err)
		if key := "w/" + e.Node; e.Type == journal.CallResponded && l.answered[key] == 0 {
			l.answered[key] = calls[key]
		}
	}
	require.NoError(l.t, store.Close())
}

// judge waits until every sent number is confirmed, and compares the sums and the calls with the messages.
func (l *worldLoad) judge(kills int) {
	var cells []cellLine
	eventually(l.t, "everything is confirmed", func() bool {
		cells = cellsOf(l.t, l.dir)
		return !slices.ContainsFunc(cells, func(c cellLine) bool { return c.State.Confirmed != c.State.Sum })
	})
	sums := map[string]uint64{}
	for _, c := range cells {
		require.Equal(l.t, "completed", c.Status, c.Key)
		sums[c.Key] = c.State.Sum
	}
	require.Equal(l.t, l.sums, sums)
	calls := l.calls()
	require.Len(l.t, calls, len(l.order), "each message has one call")
	for key, n := range calls {
		require.LessOrEqual(l.t, n, 1+kills, key)
	}
	require.NotEmpty(l.t, l.answered)
	for key, n := range l.answered {
		require.Equal(l.t, n, calls[key], "%s was called again after it had been answered", key)
	}
	require.NotZero(l.t, l.snapshots.Load())
	require.NotZero(l.t, l.sweeps.Load())
}

type cellLine struct {
	Key    string `json:"key"`
	Status string `json:"status"`
	State  struct {
		Sum       uint64 `json:"sum"`
		Confirmed uint64 `json:"confirmed"`
	} `json:"state"`
}

func cellsOf(t *testing.T, dir string) []cellLine {
	stdout, stderr, code := ask(t, dir, "runs", "cells", "w", "-o", "json")
	require.Equal(t, cli.Done, code, stderr)
	var list []cellLine
	require.NoError(t, json.Unmarshal([]byte(stdout), &list))
	return list
}

// ask runs a verb on the journal to its end.
func ask(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	p := launch(t, dir, append(args, "--data", "journal")...)
	code = p.wait()
	return p.stdout.String(), p.stderr.String(), code
}
