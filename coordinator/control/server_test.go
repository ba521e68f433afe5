package control_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/control"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

func connect(t *testing.T, dir string) *net.UnixConn {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(dir, "control.sock"), Net: "unix"})
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestTheProtocolIsLinesOfJSON(t *testing.T) {
	e, _, dir := held(t)
	start(t, e, "r1")
	conn := connect(t, dir)
	_, err := io.WriteString(conn, `{"v":1,"verb":"pause","run":"r1","actor":"ann"}`+"\n")
	require.NoError(t, err)
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Equal(t, `{"taken":true}`+"\n"+`{"done":{"run":"r1","driven":true,"did":"pause"}}`+"\n", string(answer))

	conn = connect(t, dir)
	_, err = io.WriteString(conn, `{"v":1,"verb":"events","run":"r1","from":3}`) // ends without a line end
	require.NoError(t, err)
	require.NoError(t, conn.CloseWrite())
	lines := bufio.NewScanner(conn)
	require.True(t, lines.Scan())
	require.Equal(t, `{"taken":true}`, lines.Text())
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), `"type":"run.paused","actor":"ann"}}`)
	require.True(t, lines.Scan())
	require.Equal(t, `{"done":{"run":"r1"}}`, lines.Text())
}

func TestHostileInputIsRefusedAndHarmsNothing(t *testing.T) {
	e, c, dir := held(t)
	start(t, e, "r1")
	before := events(t, c, "r1")
	for name, text := range map[string]string{
		"garbage":           "\x00\xff\x01 GET / HTTP/1.1\r\n",
		"an empty line":     "\n",
		"no object":         `[1,2,3]` + "\n",
		"null":              "null\n",
		"no version":        `{"verb":"cancel","run":"r1","actor":"eve"}` + "\n",
		"another version":   `{"v":2,"verb":"cancel","run":"r1","actor":"eve"}` + "\n",
		"an unknown verb":   `{"v":1,"verb":"rm","run":"r1","actor":"eve"}` + "\n",
		"an unknown field":  `{"v":1,"verb":"cancel","run":"r1","actor":"eve","force":true}` + "\n",
		"a wrong type":      `{"v":1,"verb":"cancel","run":7,"actor":"eve"}` + "\n",
		"two on a line":     `{"v":1,"verb":"runs"} {"v":1,"verb":"cancel","run":"r1","actor":"eve"}` + "\n",
		"half a request":    `{"v":1,"verb":"cancel","run":"r1"`,
		"no actor":          `{"v":1,"verb":"cancel","run":"r1"}` + "\n",
		"a negative number": `{"v":1,"verb":"events","run":"r1","from":-1}` + "\n",
		"too deep":          `{"v":1,"verb":"send","run":"r1","actor":"eve","message":"letter","payload":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}\n",
		"a bad payload":     `{"v":1,"verb":"send","run":"r1","actor":"eve","message":"letter","payload":1e999}` + "\n",
		"too large":         `{"v":1,"verb":"send","run":"r1","actor":"eve","message":"letter","payload":"` + strings.Repeat("x", api.RequestMax) + "\"}\n",
		"no end":            strings.Repeat(" ", api.RequestMax+10),
	} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, dir)
			io.WriteString(conn, text) // fails if the server refuses a request that is too large before its end
			conn.CloseWrite()
			var answer api.Reply
			for d := json.NewDecoder(conn); answer.Error == nil; {
				require.NoError(t, d.Decode(&answer))
			}
			require.NotNil(t, answer.Error)
			require.Equal(t, "bad_request", answer.Error.Code)
		})
	}
	require.NoError(t, connect(t, dir).Close(), "a client that sends nothing")
	require.Equal(t, before, events(t, c, "r1"))
}

func TestARequestThatIsTooLargeIsNotSent(t *testing.T) {
	_, c, _ := held(t)
	payload := []byte(`"` + strings.Repeat("x", api.RequestMax) + `"`)
	_, err := c.Do(t.Context(), &api.Request{Verb: api.Send, Run: "r1", Actor: "ann", Message: "letter", Payload: payload})
	require.ErrorIs(t, err, api.ErrBadRequest)
	_, err = c.Do(t.Context(), &api.Request{Verb: api.Send, Run: "r1", Actor: "ann", Message: "letter", Payload: []byte(`{`)})
	require.ErrorIs(t, err, api.ErrBadRequest)
}

func TestRequestsBeyondThePlacesAreAnswered(t *testing.T) {
	e, c, _ := held(t)
	start(t, e, "r1")
	errs := make(chan error)
	for range 300 {
		go func() {
			_, err := c.Show(t.Context(), "r1")
			errs <- err
		}()
	}
	for range 300 {
		require.NoError(t, <-errs)
	}
}

func TestTheSocketIsForItsOwnerAndGoesWithTheServer(t *testing.T) {
	dir := t.TempDir()
	s, err := control.Serve(dir, newEngine(t, memory.New()))
	require.NoError(t, err)
	path := filepath.Join(dir, "control.sock")
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, os.ModeSocket|0o600, info.Mode())
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	_, err = folder.Dial(dir)
	require.ErrorIs(t, err, api.ErrNotHeld)
}

func TestTheSocketOfADeadProcessIsReplaced(t *testing.T) {
	dir := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "control.sock"), Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".control-1", "s"), 0o700)) // left by a process that died while making its socket
	_, err = folder.Dial(dir)
	require.ErrorIs(t, err, api.ErrNotHeld)

	first, err := control.Serve(dir, newEngine(t, memory.New()))
	require.NoError(t, err)
	_, err = folder.Dial(dir)
	require.NoError(t, err)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)

	serve(t, dir, newEngine(t, memory.New()))
	require.NoError(t, first.Close(), "the socket belongs to another server now")
	_, err = folder.Dial(dir)
	require.NoError(t, err)
}

func TestADirectoryMayLieDeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30), strings.Repeat("longer", 30))
	if runtime.GOOS == "linux" { // no temporary folder is made, which a killed process would leave
		t.Setenv("TMPDIR", filepath.Join(dir, "nowhere"))
	}
	require.NoError(t, os.MkdirAll(dir, 0o700))
	e := newEngine(t, memory.New())
	s := serve(t, dir, e)
	c, err := folder.Dial(dir)
	require.NoError(t, err)
	start(t, e, "r1")
	_, err = c.Show(t.Context(), "r1")
	require.NoError(t, err)
	require.NoError(t, s.Close())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestWatchingEndsWithTheServerAndWithTheWatcher(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, memory.New())
	s := serve(t, dir, e)
	c, err := folder.Dial(dir)
	require.NoError(t, err)
	start(t, e, "r1")

	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	enough := errors.New("enough")
	for _, err := range c.Watch(ctx, "r1", 1) {
		if err != nil {
			require.ErrorIs(t, err, enough)
			break
		}
		cancel(enough)
	}
	ended := false
	for _, err := range c.Watch(t.Context(), "r1", 1) {
		if err != nil {
			require.ErrorIs(t, err, api.ErrHungUp)
			ended = true
			continue
		}
		go s.Close()
	}
	require.True(t, ended)
}

// stuckStore blocks appends.
type stuckStore struct {
	journal.Store
	begun, let chan struct{}
}

func (s *stuckStore) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if len(events) > 0 && events[0].Type == journal.RunPaused {
		s.begun <- struct{}{}
		<-s.let
	}
	return s.Store.Append(ctx, stream, after, events, head)
}

func TestClosingWaitsForACommandInProgress(t *testing.T) {
	dir := t.TempDir()
	store := &stuckStore{memory.New(), make(chan struct{}), make(chan struct{})}
	e := newEngine(t, store)
	s := serve(t, dir, e)
	c, err := folder.Dial(dir)
	require.NoError(t, err)
	start(t, e, "r1")
	answer := make(chan error)
	go func() {
		_, err := c.Do(t.Context(), &api.Request{Verb: api.Pause, Run: "r1", Actor: "ann"})
		answer <- err
	}()
	<-store.begun
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	select {
	case <-closed:
		require.Fail(t, "closed while a command is in progress")
	case store.let <- struct{}{}:
	}
	require.NoError(t, <-answer)
	require.NoError(t, <-closed)
}

func TestTheEngineShutsDownUnderAServer(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t, memory.New())
	start(t, e, "r1")
	serve(t, dir, e)
	c, err := folder.Dial(dir)
	require.NoError(t, err)
	require.NoError(t, e.Shutdown(t.Context()))
	_, err = c.Do(t.Context(), &api.Request{Verb: api.Pause, Run: "r1", Actor: "ann"})
	require.Error(t, err)
}

func FuzzARequestIsAnsweredWhateverItSays(f *testing.F) {
	for _, seed := range []string{
		`{"v":1,"verb":"runs"}`, `{"v":1,"verb":"decide","run":"r1","step":"contract","decision":"fulfilled","actor":"a"}`,
		`{"v":1,"verb":"send","run":"r","message":"letter","payload":{"a":[1,2.5,null]},"actor":"a"}`,
		`{"v":1,"verb":"events","run":"r1","from":18446744073709551615}`, `{"v":1`, "", "{}",
	} {
		f.Add([]byte(seed))
	}
	e := newEngine(f, memory.New())
	start(f, e, "r1")
	f.Fuzz(func(t *testing.T, line []byte) {
		req, err := api.DecodeRequest(line)
		if err != nil {
			require.ErrorIs(t, err, api.ErrBadRequest)
			return
		}
		if req.Verb.Follows() {
			return // it may wait for the run's end
		}
		ended := false
		err = api.Handle(t.Context(), e, req, func(r *api.Reply) error {
			require.False(t, ended)
			ended = r.Done != nil
			_, err := json.Marshal(r)
			return err
		})
		_, known := errors.AsType[*api.Error](err)
		require.True(t, ended != known, "%v", err)
		again, err := req.Encode()
		if err == nil {
			same, err := api.DecodeRequest(bytes.TrimSpace(again))
			require.NoError(t, err)
			require.Equal(t, req.Run, same.Run)
		}
	})
}

func ExampleHandle() {
	ctx := context.Background()
	engine, err := coordinator.New(ctx, memory.New(), coordinator.Config{})
	if err != nil {
		panic(err)
	}
	defer engine.Shutdown(ctx)
	err = api.Handle(ctx, engine, &api.Request{Verb: api.Show, Run: "tuesday"}, func(r *api.Reply) error {
		return json.NewEncoder(os.Stdout).Encode(r)
	})
	e, _ := errors.AsType[*api.Error](err)
	json.NewEncoder(os.Stdout).Encode(&api.Reply{Error: e})
	// Output: {"error":{"code":"run_not_found","message":"no such run: tuesday"}}
}
