//go:build unix

package cells_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// killsKeep is the number of events that a process leaves when it trims: more than it adds before it is killed.
const killsKeep = 3_000

// spilledWorld is the world of accounts with some states that are too large to stay in memory: they become content at once.
var spilledWorld = strings.NewReplacer(
	"state: {record: {n: int, paid: int,", "state: {record: {pad: text, n: int, paid: int,",
	`set: {n: "{{ (state ?? {n: 0}).n + event.n }}", paid`, `set: {pad: "{{ event.n == 93 ? repeat('x', 70000) : '' }}", n: "{{ (state ?? {n: 0}).n + event.n }}", paid`,
).Replace(accountsWorld)

// spilling is a store that reports reads of content: of a cell that has left memory, or of a snapshot.
type spilling struct {
	*disk.Store
	read func()
}

func (s spilling) Content(ctx context.Context, run string, hash journal.Hash) ([]byte, error) {
	s.read()
	return s.Store.Content(ctx, run, hash)
}

// TestChild is a process of a world of accounts, few of which stay in memory: it sends the messages that it reads, many at once, and
// writes those that were taken and the calls that were made, until it is killed.
func TestChild(t *testing.T) {
	dir := os.Getenv("SLUICE_CHILD_DIR")
	if dir == "" {
		t.Skip("it is for processes that other tests start")
	}
	var mu sync.Mutex
	write := func(words ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(os.Stdout, words...)
	}
	store, err := disk.Open(dir, disk.Config{})
	require.NoError(t, err)
	k := newTill(nil)
	// Of many reads, some are reported. The first ones read a snapshot from which the world goes on.
	reads := new(atomic.Int64)
	read := func() {
		if reads.Add(1) == spilledReads {
			write("kept", "read", reads.Load())
		}
	}
	e, err := coordinator.New(t.Context(), spilling{store, read}, coordinator.Config{CellsInMemory: 2, Operations: []coordinator.Operation{
		operation.Define("pay", func(ctx context.Context, in payload) (any, error) {
			write("call", in.Ref, operation.CallOf(ctx).Node, operation.CallOf(ctx).Key())
			return k.pay(ctx, in)
		}),
	}})
	require.NoError(t, err)
	run, err := e.Start(t.Context(), load(t, spilledWorld), nil, coordinator.WithID("w"))
	require.NoError(t, err)
	lines := make(chan string)
	storage := func(n int) { // beside the load
		_, err := run.Snapshot(t.Context())
		what := "snapshot"
		switch {
		case err != nil:
		case n%3 == 1:
			what = "sweep"
			_, _, err = run.Sweep(t.Context(), false)
		case n%3 == 2:
			what = "trim"
			var gone cells.Trimmed
			if gone, err = run.Trim(t.Context(), killsKeep, false); gone.To == 0 {
				what = "snapshot"
			}
		}
		if err != nil {
			write("refused", what, err)
			return
		}
		write("kept", what, n)
	}
	for range 32 {
		go func() {
			for line := range lines {
				var ref, id string
				var n int64
				_, err := fmt.Sscan(line, &ref, &id, &n)
				if err == nil {
					var sent cells.Sent
					sent, err = run.SendMessage(t.Context(), message(ref, id, n))
					if err == nil {
						write("taken", ref, sent.Seq)
						continue
					}
				}
				write("refused", ref, err)
			}
		}()
	}
	n := 0
	for in := bufio.NewScanner(os.Stdin); in.Scan(); n++ {
		lines <- in.Text()
		if n%20 == 10 {
			go storage(n / 20)
		}
	}
	select {} // until it is killed
}

// spilledReads are more reads than the restoration of a world of so few cells makes.
const spilledReads = 100

// loadOf is the sender of a world, which is never killed, with the messages, acknowledgments, keys and events that it knows.
type loadOf struct {
	t     *testing.T
	dir   string
	rng   *rand.Rand
	kills int
	lines map[string]string // of messages, by reference
	taken map[string]uint64
	keys  map[string]string
	order []string       // references, as they were taken
	kept  map[string]int // number of snapshots, sweeps, trims, and times of many reads
	seen  gathered
}

// killed starts a process, makes it send the messages that were not taken yet, some that were, and new ones, and kills it at a random
// moment.
func (l *loadOf) killed() {
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), "SLUICE_CHILD_DIR="+l.dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(l.t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(l.t, err)
	require.NoError(l.t, cmd.Start())
	batch := l.batch()
	go func() {
		for _, line := range batch {
			if _, err := io.WriteString(in, line+"\n"); err != nil {
				return
			}
		}
	}()
	moment := 1 + l.rng.IntN(len(batch)*2)
	for scan := bufio.NewScanner(out); scan.Scan(); moment-- {
		l.read(scan.Text())
		if moment == 0 { // the lines written before it died are read too
			require.NoError(l.t, cmd.Process.Kill())
			l.kills++
		}
	}
	_ = cmd.Wait()
	require.LessOrEqual(l.t, moment, 0, "the process has ended by itself")
	l.look()
}

// lacks names the acts that no process has done yet; "" if all were done.
func (l *loadOf) lacks() string {
	for _, what := range []string{"snapshot", "sweep", "trim", "read"} {
		if l.kept[what] == 0 {
			return what
		}
	}
	if !l.seen.trimmed {
		return "a journal that begins behind what was trimmed"
	}
	return ""
}

// look gathers the events in the journal now, before the next process trims it.
func (l *loadOf) look() {
	store, err := disk.Open(l.dir, disk.Config{})
	require.NoError(l.t, err)
	l.seen.add(l.t, journal.Remaining(l.t.Context(), store, "w", 1))
	require.NoError(l.t, store.Close())
}

// batch returns the messages for a process.
func (l *loadOf) batch() []string {
	var list []string
	for ref, line := range l.lines {
		if _, known := l.taken[ref]; !known {
			list = append(list, line)
		}
	}
	for _, ref := range l.order[max(0, len(l.order)-20):] {
		list = append(list, l.lines[ref])
	}
	for range 100 {
		ref := fmt.Sprint("m", len(l.lines))
		l.lines[ref] = fmt.Sprintf("%s k%d %d", ref, l.rng.IntN(12), 14+l.rng.IntN(80))
		list = append(list, l.lines[ref])
	}
	slices.Sort(list)
	l.rng.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return append(list, list[:10]...) // at the same time
}

// read records a line that a process has written.
func (l *loadOf) read(line string) {
	var what, ref, rest string
	if n, _ := fmt.Sscan(line, &what, &ref, &rest); n < 3 {
		return
	}
	switch what {
	case "taken":
		var seq uint64
		_, err := fmt.Sscan(rest, &seq)
		require.NoError(l.t, err)
		if was, known := l.taken[ref]; known {
			require.Equal(l.t, was, seq, "message %s", ref)
		} else {
			l.order = append(l.order, ref)
		}
		l.taken[ref] = seq
	case "call":
		key := line[len("call ")+len(ref)+1:]
		if was, known := l.keys[ref]; known {
			require.Equal(l.t, was, key, "of %s", ref)
		}
		l.keys[ref] = key
	case "kept":
		l.kept[ref]++
	case "refused":
		l.t.Fatal(line)
	}
}

// TestAWorldUnderLoadSurvivesKills kills the process of a world while messages are sent to it, again and again. Its senders
// send each message without an answer again: every message counts once, and no call is made under two identities.
func TestAWorldUnderLoadSurvivesKills(t *testing.T) {
	kills := 20
	switch {
	case os.Getenv("SLUICE_EXHAUSTIVE") != "":
		kills = 200
	case testing.Short():
		kills = 5
	}
	l := &loadOf{
		t: t, dir: t.TempDir(), rng: rand.New(rand.NewPCG(1, 1)), lines: map[string]string{}, taken: map[string]uint64{}, keys: map[string]string{},
		kept: map[string]int{},
	}
	// The progress of a process before it is killed is random, so there are more kills until every act was done at least once.
	for l.kills < kills || l.lacks() != "" {
		require.Less(t, l.kills, 10*kills, "none of the processes did this: %s", l.lacks())
		l.killed()
	}
	store, err := disk.Open(l.dir, disk.Config{})
	require.NoError(t, err)
	head, err := store.Head(t.Context(), "w")
	require.NoError(t, err)
	k := newTill(l.keys)
	e := k.open(t, store)
	run, err := e.Run(t.Context(), "w")
	require.NoError(t, err)
	ack := &taken{sent: l.taken, journal: l.seen}
	states := map[string]string{}
	sums, counts := map[string]int64{}, map[string]int{}
	recent := l.order[max(0, len(l.order)-1000):] // whose ids the world still knows
	for _, ref := range slices.Sorted(maps.Keys(l.lines)) {
		var id string
		var n int64
		_, err := fmt.Sscan(l.lines[ref], &ref, &id, &n)
		require.NoError(t, err)
		if _, known := l.taken[ref]; !known || slices.Contains(recent, ref) {
			life{t, run, ack}.send(ref, id, n)
		}
		sums[id] += n
		counts[id]++
	}
	for id, n := range sums {
		states["account["+id+"]"] = fmt.Sprintf("completed map[alien:[] fired:%d n:%d paid:%d] 0 ", counts[id], n, n)
	}
	life{t, run, ack}.settled(states)
	requireWhole(t, run, ack, k)
	require.NoError(t, e.Shutdown(context.Background()))
	t.Logf("%d kills, %d messages, %d events, snapshot at %d, trimmed up to %d; %v", l.kills, len(l.lines), head.Last, head.Snapshot, head.First, l.kept)
	require.NotZero(t, head.Snapshot)
}
