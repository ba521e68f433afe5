//go:build unix

package coordinator_test

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/calllog"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

const talkative = `
keychain:
  - {name: k, kind: env, data: {s: SLUICE_TEST_SAID}}
workflow:
  - step: talk
    tool:
      - {name: sh, kind: shell, shell: "echo out $S; echo err $S >&2; read x < %[1]s; printf after", env: {S: "{{ keychain.k.s }}"}%[2]s}
`

// Readers receive the text that a program writes while it runs, without secrets, regardless of its output.
func TestWhatAProgramWritesIsFollowedWhileItRuns(t *testing.T) {
	t.Setenv("SLUICE_TEST_SAID", "a very secret word")
	for _, output := range []string{", output: text", ""} {
		gate := filepath.Join(t.TempDir(), "gate")
		require.NoError(t, syscall.Mkfifo(gate, 0o600))
		e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{})
		require.NoError(t, err)
		r := begin(t, e, fmt.Sprintf(talkative, gate, output), nil)
		next, stop := iter.Pull2(r.Log(t.Context(), "talk"))
		said := map[string]string{}
		read := func() bool {
			b, err, more := next()
			require.NoError(t, err)
			require.False(t, b.Lost)
			for _, e := range b.Entries {
				require.True(t, calllog.About(e.Step, "talk"), e.Step)
				require.Equal(t, int32(1), e.Attempt)
				said[e.Stream] += e.Text
			}
			return more
		}
		for strings.Count(said["stdout"], "\n")+strings.Count(said["stderr"], "\n") < 2 {
			require.True(t, read())
		}
		require.NotContains(t, said["stdout"], "after")
		require.NoError(t, os.WriteFile(gate, []byte("go\n"), 0))
		for read() {
		}
		stop()
		require.Equal(t, map[string]string{"stdout": "out ‹keychain:k.s›\nafter", "stderr": "err ‹keychain:k.s›\n"}, said)
		for _, err := range r.Log(t.Context(), "none") {
			require.ErrorIs(t, err, coordinator.ErrStepNotFound)
		}
		require.NoError(t, e.Shutdown(t.Context()))
	}
}

// A worker's texts are followed, too, and readers end with the engine.
func TestWhatAWorkerWritesIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t, memory.New(), workers.NewKey())
		r := c.begin(`{kind: Workflow, name: w, steps: [{operation: a}]}`, "r")
		calls := c.take(1, time.Second)
		read := func() (text string, failed error) {
			for b, err := range r.Log(t.Context(), "") {
				for _, e := range b.Entries {
					require.Equal(t, calllog.Worker, e.Stream)
					require.Equal(t, "a", e.Step)
					text += e.Text
				}
				failed = errors.Join(failed, err)
			}
			return text, failed
		}
		type answer struct {
			text string
			err  error
		}
		ended := make(chan answer, 2)
		follow := func() { text, err := read(); ended <- answer{text, err} }
		go follow()
		long := strings.Repeat("x", 8<<10)
		for _, text := range []string{"half ", "done ", long} {
			_, err := c.Workers().Give(t.Context(), bob, &workers.Delivery{Logs: []workers.Log{{Lease: calls[0].Lease, Text: text}}})
			require.NoError(t, err)
		}
		synctest.Wait()
		require.Empty(t, ended)
		c.give(calls[0].Lease, 7)
		got := <-ended
		require.NoError(t, got.err)
		require.Equal(t, "half done "+long[:4<<10]+"…", got.text, "a text is cut at 4 KiB")

		open := c.begin(`{kind: Workflow, name: w, steps: [{operation: a}]}`, "open")
		r = open
		go follow()
		synctest.Wait()
		require.NoError(t, c.Shutdown(t.Context()))
		require.ErrorIs(t, (<-ended).err, coordinator.ErrShutdown)
	})
}
