package world_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/plan"
)

// TestModel compares a world with its model over random scripts: states, statuses, mail, open intents, counts and the order
// of activations; live, with a crash after every turn, and with machines in Go.
func TestModel(t *testing.T) {
	rules, inGo := planOf(t, worldText), planOf(t, worldInGo, accInGo, strictInGo)
	rapid.Check(t, func(t *rapid.T) {
		s := &script{failer: t, draw: drawnBy(t), keys: 3, model: newModel()}
		live, crashed, other := begin(t, rules, true), begin(t, rules, false), begin(t, inGo, false)
		s.drivers = []*driver{live, crashed, other}
		crashed.crashes = func() bool { return true }
		s.each((*driver).checked)
		for range rapid.IntRange(1, 60).Draw(t, "moves") {
			s.move()
			require.Equal(t, live.digest(live.root), live.digest(live.replayed()), "live and replayed")
		}
		require.Equal(t, s.model.activated, live.activations())
		require.True(t, bytes.Equal(live.journal(t), crashed.journal(t)), "crashes change nothing")
		requireSame(t, live, other)
	})
}

// checked makes the driver check the invariants of the world after every turn.
func (d *driver) checked() { d.check = func() error { return world.Invariants(d.world()) } }

var hashes = regexp.MustCompile(`[0-9a-f]{64}`)

// withoutHashes replaces each hash by its number in order of appearance, because the same definition has different hashes in
// rules and in Go.
func withoutHashes(text string) string {
	seen := map[string]string{}
	return hashes.ReplaceAllStringFunc(text, func(hash string) string {
		if seen[hash] == "" {
			seen[hash] = fmt.Sprint("#", len(seen))
		}
		return seen[hash]
	})
}

// requireSame requires that the journals of two drivers are equal, except hashes.
func requireSame(t failer, a, b *driver) {
	t.Helper()
	x, y := withoutHashes(string(a.journal(t))), withoutHashes(string(b.journal(t)))
	for i := 0; x != y && i < min(len(a.events), len(b.events)); i++ {
		p, err := encoded(a.events[i : i+1])
		require.NoError(t, err)
		q, err := encoded(b.events[i : i+1])
		require.NoError(t, err)
		require.Equal(t, strconv.Quote(withoutHashes(string(p))), strconv.Quote(withoutHashes(string(q))), "event %d", i+1)
	}
	require.True(t, x == y, "the journals differ")
}

// exhaustive returns the larger number if SLUICE_EXHAUSTIVE is set.
func exhaustive(few, many int) int {
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		return many
	}
	return few
}

// A snapshot is made every snapshotMoves moves on average, so that a crash costs the same in a long life as in a short one. The world
// is restored from restoredMax of its snapshots, with all later events.
const (
	snapshotMoves = 20
	restoredMax   = 40
)

// longLife runs a long script, and returns the journals of the world in rules and of the world in Go. Each journal is the same for
// a world without crashes, and for one that often crashes, also in the middle of its turns, continues from its newest snapshot and
// keeps few cells in memory.
func longLife(t failer, rules, inGo *plan.Plan, seed uint64, moves int) [2][]byte {
	draw := drawnFrom(seed)
	s := &script{failer: t, draw: draw, keys: 12, sparing: 25, model: newModel()}
	for i, p := range []*plan.Plan{rules, inGo, rules, inGo} {
		d := begin(t, p, true)
		if i >= 2 {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			d.cuts, d.cache.Cells = random, 2
			d.crashes = func() bool { return random.IntN(4) == 0 }
		}
		d.checked()
		s.drivers = append(s.drivers, d)
	}
	for range moves {
		s.move()
		if draw("snapshot", snapshotMoves) == 0 {
			s.snapshot()
			s.alike()
		}
	}
	s.alike()
	require.NotEmpty(t, s.kept)
	live, liveInGo := s.drivers[0], s.drivers[1]
	want := live.digest(live.root)
	require.Equal(t, want, live.digest(live.replayed()), "live and replayed")
	require.Equal(t, s.model.activated, live.activations())
	var next [][]journal.Event
	for i := 0; i < len(s.kept); i += 1 + len(s.kept)/restoredMax {
		root, err := live.restored(&s.kept[i])
		require.NoError(t, err)
		require.Equal(t, want, live.digest(root), "from the snapshot of event %d", s.kept[i].Seq)
		next = append(next, live.futureOf(root))
	}
	for _, of := range next {
		require.Equal(t, next[0], of, "the next intents and roots")
	}
	requireSame(t, live, liveInGo)
	journals := [2][]byte{live.journal(t), liveInGo.journal(t)}
	for i, d := range s.drivers[2:] {
		require.True(t, bytes.Equal(journals[i], d.journal(t)), "crashes change nothing")
	}
	return journals
}

// futureOf returns the next events of a world that continues from a root, with intents and the roots of its next snapshot.
func (d *driver) futureOf(root *reactive.Root) []journal.Event {
	other := *d
	other.events, other.content, other.check = slices.Clone(d.events), maps.Clone(d.content), nil
	other.use(root)
	_ = other.take(journal.Event{Type: journal.RunResumed})
	other.now += int64(time.Minute)
	other.turn()
	for _, what := range []string{"ask", "slow", "two"} {
		require.NoError(d.t, other.send("Do", map[string]any{"id": "a", "what": what, "n": int64(1)}, "m1"))
		require.NoError(d.t, other.send("Do", map[string]any{"id": "new", "what": what, "n": int64(1)}, ""))
	}
	other.snapshot()
	return other.events[len(d.events):]
}

// TestLongLives runs long scripts over rules and machines in Go, with one processor and with eight, several at once over one plan:
// the model agrees, and the journals are equal, byte for byte.
func TestLongLives(t *testing.T) {
	rules, inGo := planOf(t, worldText), planOf(t, worldInGo, accInGo, strictInGo)
	moves, seeds := exhaustive(500, 5_000), exhaustive(2, 4)
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	lives := map[int][][2][]byte{}
	for _, processors := range []int{1, 8} {
		runtime.GOMAXPROCS(processors)
		var all sync.WaitGroup
		lives[processors] = make([][2][]byte, seeds)
		for seed := range seeds {
			all.Go(func() { lives[processors][seed] = longLife(t, rules, inGo, uint64(seed), moves) })
		}
		all.Wait()
	}
	require.False(t, t.Failed())
	for seed := range seeds {
		one, eight := lives[1][seed], lives[8][seed]
		for i := range one {
			require.True(t, bytes.Equal(one[i], eight[i]), "seed %d with one processor and with eight", seed)
		}
	}
}
