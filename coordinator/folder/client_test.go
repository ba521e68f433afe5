package folder_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

func TestARequestThatWasNotTakenHasNoEffect(t *testing.T) {
	pause := func(c *folder.Client) error {
		_, err := c.Do(t.Context(), &api.Request{Verb: api.Pause, Run: "r1", Actor: "ann"})
		return err
	}
	collect := func(c *folder.Client) error {
		_, err := c.Collect(t.Context(), api.Request{}, func(*api.Gone) error { return nil })
		return err
	}
	show := func(c *folder.Client) error {
		_, err := c.Show(t.Context(), "r1")
		return err
	}
	list := func(c *folder.Client) error {
		for _, err := range c.Runs(t.Context()) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	taken, part := `{"taken":true}`, `{"taken":true}{"run":{"run":"r1"}}`
	for _, c := range []struct {
		ask    func(*folder.Client) error
		answer string
		want   error
	}{
		{pause, "", api.ErrNotHeld},
		{pause, `{"taken"`, api.ErrNotHeld},
		{pause, taken, api.ErrHungUp},
		{pause, taken + `{"`, api.ErrHungUp},
		{collect, taken, api.ErrHungUp},
		{show, taken, api.ErrNotHeld},
		{show, part, api.ErrNotHeld}, // its caller has seen nothing
		{list, taken, api.ErrNotHeld},
		{list, part, api.ErrHungUp},
	} {
		dir := t.TempDir()
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "control.sock"), Net: "unix"})
		require.NoError(t, err)
		served := make(chan error)
		go func() {
			conn, err := l.Accept() // of Dial
			if err == nil {
				conn.Close()
				conn, err = l.Accept()
			}
			if err == nil {
				_, err = bufio.NewReader(conn).ReadBytes('\n')
				io.WriteString(conn, c.answer)
				conn.Close()
			}
			served <- err
		}()
		holder, err := folder.Dial(dir)
		require.NoError(t, err)
		require.ErrorIs(t, c.ask(holder), c.want, "%q", c.answer)
		require.NoError(t, <-served)
		require.NoError(t, l.Close())
	}
}

// TestACallerMayCancelAndStop: an iteration that its caller has stopped yields nothing more, also if the caller has ended its context.
func TestACallerMayCancelAndStop(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, memory.New())
	start(t, e)
	serve(t, dir, e)
	holder, err := folder.Dial(dir)
	require.NoError(t, err)
	for _, c := range []*folder.Client{holder, folder.Local(e)} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		events := 0
		for _, err := range c.Watch(ctx, "r1", 1) {
			require.NoError(t, err)
			events++
			cancel()
			break
		}
		require.Equal(t, 1, events)
	}
}
