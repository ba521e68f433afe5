package disk_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
)

// act is an append of one event to a run, or a put of content.
type act struct {
	run  string
	size int
	put  bool
	seq  uint64 // of the event
}

func (a act) text(n int) string { return fmt.Sprint(n, ":", strings.Repeat("v", a.size)) }

// machine is one life of a machine: it may die at some write, and its disk may fail at another.
type machine struct {
	files   *vfs.MemFS
	rng     *rand.Rand
	percent int // percentage of unsynced data that survives its death

	mu          sync.Mutex
	writes      int // so far
	dies, fails int // number of the write; fails 0: none
	lasting     bool
	on          string // end of the paths on which the disk fails
	broken      string // path that fails
	failed      bool
	acked       int        // acts that were acknowledged
	left        *vfs.MemFS // files at its death; nil: it is alive
	sure        int        // acts that were acknowledged at its death
}

func newMachine(r *rand.Rand, files *vfs.MemFS, acked int) *machine {
	m := &machine{files: files, rng: rand.New(rand.NewPCG(r.Uint64(), 1)), percent: []int{0, 30, 50, 100}[r.IntN(4)],
		dies: 1 + r.IntN([]int{60, 400, 400}[r.IntN(3)]), lasting: r.IntN(2) == 0, on: []string{"", "-001.log", ".log", "/db"}[r.IntN(4)], acked: acked}
	if r.IntN(3) == 0 {
		m.fails = 1 + r.IntN(200)
	}
	return m
}

func (m *machine) operation(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writes++; m.writes == m.dies {
		m.die()
	}
	if m.fails > 0 && m.writes >= m.fails && !m.failed && strings.HasSuffix(op.Path, m.on) {
		m.broken, m.failed = op.Path, true
		return syscall.EIO
	}
	if m.lasting && m.failed && op.Path == m.broken {
		return syscall.EIO
	}
	return nil
}

// die copies what the disk has. The caller holds mu.
func (m *machine) die() {
	if m.left == nil {
		m.left, m.sure = m.files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: m.percent, RNG: m.rng}), m.acked
	}
}

func (m *machine) ack(acts int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acked = acts
}

func (m *machine) hasFailed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed
}

// TestManyLivesLoseNothing opens a store several times, on machines that die and disks that fail. Each time, the store has all
// acknowledged acts, and all acts before its last one; so does each of its backups.
func TestManyLivesLoseNothing(t *testing.T) {
	for seed := 0; seed < 240; seed += journaltest.Step(12) {
		h := history{t: t, r: rand.New(rand.NewPCG(uint64(seed), 7)), what: fmt.Sprint("seed ", seed)}
		files, sure := vfs.NewCrashableMem(), 0
		for range 2 + h.r.IntN(4) {
			m := newMachine(h.r, files, sure)
			h.live(m, sure)
			m.mu.Lock()
			m.die()
			files, sure = m.left, m.sure
			m.mu.Unlock()
		}
	}
}

// history is the acts on a store.
type history struct {
	t    *testing.T
	r    *rand.Rand
	what string
	acts []act
	last map[string]uint64 // sequence of the newest event by run
}

func (h *history) live(m *machine, sure int) {
	s, err := disk.Open("data", disk.Config{FreeFloorBytes: -1, FS: errorfs.Wrap(guarded{m.files, &m.mu}, errorfs.InjectorFunc(m.operation))})
	if err != nil {
		require.True(h.t, m.hasFailed(), "%s: %v", h.what, err)
		require.NotErrorIs(h.t, err, journal.ErrDamaged, h.what)
		return
	}
	defer s.Close()
	n := h.check(s)
	require.GreaterOrEqual(h.t, n, sure, h.what)
	m.ack(n)
	h.acts, h.last = h.acts[:n], map[string]uint64{}
	for _, a := range h.acts {
		h.last[a.run] = max(h.last[a.run], a.seq)
	}
	for range h.r.IntN(120) {
		if err := h.step(s, m); err != nil {
			require.True(h.t, m.hasFailed(), "%s: %v", h.what, err)
			_ = h.backUp(s, m) // it may be possible still
			return
		}
	}
}

// step runs one operation on a store.
func (h *history) step(s *disk.Store, m *machine) error {
	ctx, a := context.Background(), act{run: fmt.Sprint("run", h.r.IntN(5))}
	a.size = []int{0, 10, 200, 3_000, 15_000, 16_000, 16_100 + h.r.IntN(200), 20_000, 31_000, 90_000}[h.r.IntN(10)]
	switch x := h.r.IntN(40); {
	case x == 0:
		return s.Rebuild(ctx)
	case x == 1:
		return h.backUp(s, m)
	case x < 10 && h.last[a.run] > 0:
		a.put = true
		h.acts = append(h.acts, a)
		return s.PutContent(ctx, a.run, [][]byte{[]byte(a.text(len(h.acts) - 1))})
	}
	a.seq = h.last[a.run] + 1
	h.acts = append(h.acts, a)
	_, err := s.Append(ctx, a.run, a.seq-1, one(a.text(len(h.acts)-1)), journal.Head{})
	if err == nil {
		h.last[a.run] = a.seq
		m.ack(len(h.acts))
	}
	return err
}

// backUp makes a backup and, if that succeeds, checks it.
func (h *history) backUp(s *disk.Store, m *machine) error {
	to, before := fmt.Sprint("copy", h.r.Uint64()), m.acked
	if err := s.Backup(to); err != nil {
		return err
	}
	c, err := disk.Open(to, disk.Config{FS: m.files, FreeFloorBytes: -1})
	require.NoError(h.t, err, h.what)
	require.GreaterOrEqual(h.t, h.check(c), before, h.what)
	return c.Close()
}

// check returns the number of acts in a store, and requires that these are the first ones.
func (h *history) check(s *disk.Store) (n int) {
	ctx, found := context.Background(), map[int]bool{}
	for run := range 5 {
		for e, err := range s.Read(ctx, fmt.Sprint("run", run), 1) {
			require.NoError(h.t, err, h.what)
			number, _, _ := strings.Cut(e.Value.(string), ":")
			i, err := strconv.Atoi(number)
			require.NoError(h.t, err)
			require.Less(h.t, i, len(h.acts), h.what)
			require.Equal(h.t, h.acts[i].text(i), e.Value)
			require.Equal(h.t, h.acts[i].seq, e.Seq)
			found[i], n = true, max(n, i+1)
		}
	}
	for i, a := range h.acts[:n] {
		if a.put {
			_, err := s.Content(ctx, a.run, sha256.Sum256([]byte(a.text(i))))
			require.NoError(h.t, err, "%s: content %d of %d", h.what, i, n)
		} else {
			require.True(h.t, found[i], "%s: append %d of %d is missing", h.what, i, n)
		}
	}
	return n
}
