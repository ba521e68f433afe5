package disk_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
)

// workload appends to three runs in turn, sometimes a large value, with a restart in the middle, and calls acked after each
// append. It ends at the first error, since no later append is acknowledged.
func workload(files vfs.FS, dir string, acked func(n int)) error {
	n := 0
	for range 2 {
		s, err := disk.Open(dir, disk.Config{FS: files, FreeFloorBytes: -1})
		if err != nil {
			return err
		}
		for range workloadAppends / 2 {
			if err = step(s, n); err != nil {
				break
			}
			n++
			acked(n)
		}
		if closeErr := s.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const workloadAppends = 20

// step makes append number n of the workload.
func step(s *disk.Store, n int) error {
	run := fmt.Sprint("run", n%3)
	after := uint64(n / 3 * 2)
	_, err := s.Append(context.Background(), run, after, append(one(value(n)), one("small")...), journal.Head{Run: run, Due: int64(n + 1)})
	return err
}

func value(n int) any {
	if n%5 == 4 {
		return strings.Repeat(fmt.Sprint(n), 20_000)
	}
	return fmt.Sprint(n)
}

// recovered opens a directory after a crash and returns the number of appends of the workload that it contains. It checks
// that they are complete, in order, and consistent with the heads, and that the store accepts more.
func recovered(t *testing.T, files vfs.FS, dir string) int {
	s, err := disk.Open(dir, disk.Config{FS: files, FreeFloorBytes: -1})
	require.NoError(t, err)
	n := 0
	for run := range 3 {
		values := mustRead(t, s, fmt.Sprint("run", run))
		require.Zero(t, len(values)%2, "a batch is stored whole or not at all")
		for i := 0; i < len(values); i += 2 {
			require.Equal(t, value(run+i/2*3), values[i])
		}
		n += len(values) / 2
	}
	for h, err := range s.Heads(context.Background(), "") {
		require.NoError(t, err)
		run, err := strconv.Atoi(strings.TrimPrefix(h.Run, "run"))
		require.NoError(t, err)
		require.Equal(t, uint64(len(mustRead(t, s, h.Run))), h.Last)
		require.Equal(t, int64(run+1)+(int64(h.Last)/2-1)*3, h.Due, "the head belongs to the last batch")
	}
	require.NoError(t, step(s, n))
	require.NoError(t, s.Close())
	return n
}

// TestACrashAtAnyWriteLosesNothing copies the file system before every write, sync, rename and removal, as if the machine
// had died there, with none, some or all of the unsynced data.
func TestACrashAtAnyWriteLosesNothing(t *testing.T) {
	type crash struct {
		files *vfs.MemFS
		acked int
		op    string
	}
	points := 0
	for _, percent := range []int{0, 50, 100} {
		var mu sync.Mutex
		var crashes []crash
		var acked atomic.Int64
		rng := rand.New(rand.NewPCG(1, uint64(percent)))
		files := vfs.NewCrashableMem()
		err := workload(errorfs.Wrap(files, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
				mu.Lock()
				defer mu.Unlock()
				sure := int(acked.Load()) // before the copy, which must contain the appends acknowledged by then
				left := files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
				crashes = append(crashes, crash{left, sure, fmt.Sprintf("%v of %s", op.Kind, op.Path)})
			}
			return nil
		})), "data", func(n int) { acked.Store(int64(n)) })
		require.NoError(t, err)
		for i := 0; i < len(crashes); i += journaltest.Step(1) {
			c := crashes[i]
			n := recovered(t, c.files, "data")
			require.True(t, n == c.acked || n == c.acked+1,
				"%d of %d acknowledged appends survive crash %d, at %d, with %d %% of what was not synced", n, c.acked, i, percent, c.op)
		}
		points += len(crashes)
	}
	t.Logf("%d crashes", points)
	require.Greater(t, points, 200)
}

// TestAFaultAtAnyWriteLosesNothing makes each write in turn fail, each in a separate process, which some failures may end.
// Appends that the process reported as acknowledged must exist afterwards.
func TestAFaultAtAnyWriteLosesNothing(t *testing.T) {
	every := int64(journaltest.Step(8))
	for name, fault := range map[string]syscall.Errno{"EIO": syscall.EIO, "ENOSPC": syscall.ENOSPC} {
		t.Run(name, func(t *testing.T) {
			var next, faults, ended atomic.Int64
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for op := next.Add(1); !t.Failed(); op = next.Add(1) {
						reached, died := faultAt(t, op*every, fault)
						if !reached {
							return
						}
						faults.Add(1)
						if died {
							ended.Add(1)
						}
					}
				})
			}
			wg.Wait()
			t.Logf("%d faults", faults.Load())
			require.Zero(t, ended.Load(), "a fault ends no process")
			require.Greater(t, faults.Load()*every, int64(100))
		})
	}
}

// faultAt runs the workload with a fault at one write and checks the result. It reports whether there was such a write, and
// whether the process ended early.
func faultAt(t *testing.T, op int64, fault syscall.Errno) (reached, died bool) {
	dir := journaltest.TempDir(t)
	out, err := child("fault", dir, fmt.Sprint("SLUICE_CHILD_OP=", op), fmt.Sprint("SLUICE_CHILD_ERRNO=", int(fault))).Output()
	if strings.Contains(string(out), "no fault") {
		require.NoError(t, err)
		return false, false
	}
	acked := strings.Count(string(out), "acked")
	n := recovered(t, nil, dir)
	require.True(t, n == acked || n == acked+1, "%d of %d acknowledged appends survive a fault at write %d:\n%s", n, acked, op, out)
	return true, err != nil
}

func child(role, dir string, env ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], "-test.run=^TestChild$")
	c.Env = append(os.Environ(), append(env, "SLUICE_CHILD="+role, "SLUICE_CHILD_DIR="+dir)...)
	return c
}

// faultChild runs the workload while the write of the number in SLUICE_CHILD_OP fails, and all later ones of that file.
func faultChild(dir string) {
	op, _ := strconv.Atoi(os.Getenv("SLUICE_CHILD_OP"))
	errno, _ := strconv.Atoi(os.Getenv("SLUICE_CHILD_ERRNO"))
	var mu sync.Mutex
	writes, broken := 0, ""
	files := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(o errorfs.Op) error {
		if o.Kind.ReadOrWrite() != errorfs.OpIsWrite || o.Kind == errorfs.OpFileClose {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if writes++; writes == op {
			broken = o.Path
		}
		if broken != "" && o.Path == broken {
			return syscall.Errno(errno)
		}
		return nil
	}))
	err := workload(files, dir, func(int) { fmt.Println("acked") })
	mu.Lock()
	defer mu.Unlock()
	if broken == "" {
		fmt.Println("no fault", err)
	}
}

// TestAKilledProcessLosesNothing kills a process that appends as fast as it can.
func TestAKilledProcessLosesNothing(t *testing.T) {
	dir := t.TempDir()
	acked := make([]uint64, killWriters)
	for round := range 5 {
		c := child("append", dir)
		out, err := c.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			var w int
			var last uint64
			_, err := fmt.Sscan(lines.Text(), &w, &last)
			require.NoError(t, err)
			acked[w] = last
			if n == 200*(round+1) {
				require.NoError(t, c.Process.Kill()) // the lines printed by then can still be read
			}
		}
		require.Error(t, c.Wait(), "it was killed")

		s := open(t, dir, disk.Config{})
		for w, last := range acked {
			values := mustRead(t, s, fmt.Sprint("run", w))
			require.GreaterOrEqual(t, uint64(len(values)), last, "run %d", w)
			for i, v := range values {
				require.Equal(t, fmt.Sprint(i), v)
			}
			acked[w] = uint64(len(values))
		}
		require.NoError(t, s.Close())
	}
}

const killWriters = 8

// appendChild appends to some runs at once, from their ends, and prints acknowledged appends until it is killed.
func appendChild(dir string) {
	s, err := disk.Open(dir, disk.Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var wg sync.WaitGroup
	for w := range killWriters {
		wg.Go(func() {
			run := fmt.Sprint("run", w)
			values, _ := read(s, run, 1)
			for last := uint64(len(values)); ; last++ {
				if _, err := s.Append(context.Background(), run, last, one(fmt.Sprint(last)), journal.Head{}); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				_, _ = io.WriteString(os.Stdout, fmt.Sprintln(w, last+1))
			}
		})
	}
	wg.Wait()
}
