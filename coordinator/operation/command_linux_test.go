package operation_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/template"
)

// victimFolder is the environment variable of a copy of this test that will be killed.
const victimFolder = "SLUICE_TEST_VICTIM"

// runAsVictim makes a call that does not end, if this process is such a copy.
func runAsVictim() bool {
	dir := os.Getenv(victimFolder)
	if dir == "" {
		return false
	}
	checked, err := template.Check(&template.Workflow{Name: "victim", Operations: map[string]template.Binding{
		"op": {Command: &template.Command{Dir: dir, Argv: []string{"sh", "-c", "exec 3>alive; for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done; (trap '' TERM; tail -f /dev/null > /dev/null 2>&1) & echo >up; exec tail -f /dev/null"}}},
	}}, template.Known{})
	if err != nil {
		panic(err)
	}
	caller, err := operation.Bind(checked.Bindings["op"])
	if err != nil {
		panic(err)
	}
	_, err = caller.Call(newCall(nil))
	panic(errors.Join(errors.New("the command has ended by itself"), err))
}

// TestCommandsDieWithAKilledProcess: commands and their child processes die. The pipe ends when all of them are dead.
func TestCommandsDieWithAKilledProcess(t *testing.T) {
	dir := t.TempDir()
	up, alive := pipe(t, dir, "up"), pipe(t, dir, "alive")
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), victimFolder+"="+dir)
	victim.Stderr = os.Stderr
	require.NoError(t, victim.Start())
	ended := make(chan string)
	go func() { ended <- readAll(t, alive) }()
	readAll(t, up)

	require.NoError(t, victim.Process.Kill())
	require.Error(t, victim.Wait())
	require.Empty(t, <-ended)
}

func TestCommandsDoNotDieWithAThread(t *testing.T) {
	dir := t.TempDir()
	caller := bind(t, template.Binding{Command: &template.Command{
		Dir: dir, Output: "text", Argv: []string{"sh", "-c", "echo >up.$0; read line <gate.$0; echo done", "{{ input }}"},
	}})
	const calls = 32
	var all sync.WaitGroup
	gates := make([]string, calls)
	for i := range calls {
		id := strconv.Itoa(i)
		up := pipe(t, dir, "up."+id)
		gates[i] = pipe(t, dir, "gate."+id)
		all.Go(func() {
			out, err := caller.Call(newCall(id))
			if err != nil || out != "done" {
				t.Errorf("call %s = %v, %v", id, out, err)
			}
		})
		readAll(t, up)
	}
	// A goroutine that exits while it is locked to its thread ends the thread. These goroutines end many threads.
	var threads sync.WaitGroup
	for range 64 {
		threads.Go(runtime.LockOSThread)
	}
	threads.Wait()
	for _, gate := range gates {
		// Do not wait for a reader: if the command is gone, its call reports that.
		f, err := os.OpenFile(gate, os.O_RDWR, 0)
		require.NoError(t, err)
		defer func() { _ = f.Close() }()
		_, err = f.WriteString("\n")
		require.NoError(t, err)
	}
	all.Wait()
}
