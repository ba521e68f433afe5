package goroutines_test

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/internal/goroutines"
)

// id returns the name of the goroutine in the text of its stack.
func id() string {
	text := make([]byte, 64)
	return strings.Fields(string(text[:runtime.Stack(text, false)]))[1]
}

func TestAnIdleGoroutineRunsTheNextFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := goroutines.New()
		run := func(f func()) (where string) {
			g.Reuse(func() { where = id(); f() })
			g.Wait()
			synctest.Wait() // until it waits for the next
			return where
		}
		first := run(func() {})
		require.Equal(t, first, run(func() {}))
		time.Sleep(9 * time.Millisecond)
		require.Equal(t, first, run(func() {}))
		time.Sleep(11 * time.Millisecond)
		later := run(func() {})
		require.NotEqual(t, first, later, "the first has ended")
		require.Equal(t, later, run(runtime.Goexit))
		require.NotEqual(t, later, run(func() {}), "the function has ended it")
		g.Close()
		require.NotEqual(t, run(func() {}), run(func() {}))
	})
}

func TestABusyGoroutineDelaysNoFunction(t *testing.T) {
	g, hold, done := goroutines.New(), make(chan struct{}), make(chan string)
	g.Reuse(func() { <-hold })
	for range 3 {
		g.Reuse(func() { done <- id() })
	}
	ids := map[string]bool{<-done: true, <-done: true, <-done: true}
	require.NotEmpty(t, ids)
	close(hold)
	g.Wait()
	g.Close()
}
