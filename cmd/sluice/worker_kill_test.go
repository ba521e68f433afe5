//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/httpapi"
	"github.com/sluiceflow/sluice/coordinator/httpapi/tokens"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/worker"
)

// In each round workers or their host are killed crewKills times, and the runs of a round end before the next round. There are
// crewRoundsAll rounds if SLUICE_EXHAUSTIVE is set, else one.
const (
	crewKills     = 40
	crewRoundsAll = 25
)

// parts has calls that workers carry out: the second call must not be made twice.
const parts = `
kind: Workflow
name: parts
steps:
  - {id: before, operation: work}
  - {id: once, operation: charge, idempotent: false}
  - {id: after, operation: work}
`

// charges has one call, which must not be made twice.
const charges = `{kind: Workflow, name: charges, steps: [{id: once, operation: charge, idempotent: false}]}`

// executionsFile is the name of the file with a line for each execution of a call: the key and the output of the call. The output begins with the
// name of the worker.
const executionsFile = "makings"

// workerMain is a worker in a process of its own: `teller NAME`, in the folder of a test.
func workerMain() {
	if err := serveOperations(context.Background(), ".", os.Args[1], os.Getenv(folder.TokenVariable), nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveOperations carries out the operations of parts for the current host. An execution of `charge` calls made, if it is not nil, before it
// returns.
func serveOperations(ctx context.Context, dir, name, token string, made func()) error {
	var n atomic.Int64
	do := func(ctx context.Context, _ any) (string, error) {
		said := fmt.Sprintf("%s %d", name, n.Add(1))
		f, err := os.OpenFile(filepath.Join(dir, executionsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		defer f.Close()
		_, err = fmt.Fprintf(f, "%-63s\n", operation.CallOf(ctx).Key()+" "+said) // within one page, so a reader sees all of it, and SIGKILL cuts none
		if made != nil && operation.CallOf(ctx).Operation == "charge" {
			made()
		}
		return said, err
	}
	toHost := func(ctx context.Context, network, _ string) (net.Conn, error) {
		url, err := os.ReadFile(filepath.Join(dir, "url"))
		if err != nil {
			return nil, err
		}
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(strings.TrimSpace(string(url)), "http://"))
	}
	transport := &http.Transport{DialContext: toHost, MaxIdleConnsPerHost: 4}
	defer transport.CloseIdleConnections()
	return worker.Serve(ctx, worker.Config{
		URL: "http://127.0.0.1", Token: token, Name: name, Calls: 16, Client: &http.Client{Transport: transport}, Logger: slog.New(slog.DiscardHandler),
		Operations: []worker.Operation{operation.Define("work", do), operation.Define("charge", do)},
	})
}

// workerCrew is a host with workers that carry out its calls, the executions of these calls, and the number of acknowledged runs.
type workerCrew struct {
	t       *testing.T
	dir     string
	parcel  []byte
	host    *process
	token   string
	tellers []*exec.Cmd
	born    int             // workers so far
	killed  map[string]bool // workers
	seen    io.Reader       // reads the lines of makings that were not read yet
	made    []string        // lines of makings
	started int             // runs, acknowledged
}

func newCrewed(t *testing.T, document string) *workerCrew {
	c := &workerCrew{t: t, dir: t.TempDir(), killed: map[string]bool{}}
	c.serve()
	file := writeFile(t, c.dir, "w.yaml", document)
	p, _, _, err := cli.LoadForHost(t.Context(), file, c.journal())
	require.NoError(t, err)
	c.parcel, err = (&api.Attachment{Parcel: p}).Encode()
	require.NoError(t, err)
	c.token, err = tokens.Of(c.journal()).Create("crew", httpapi.Worker.String(), time.Now(), time.Time{}, "work", "charge")
	require.NoError(t, err)
	c.seen, err = os.OpenFile(filepath.Join(c.dir, executionsFile), os.O_CREATE|os.O_RDONLY, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { c.seen.(io.Closer).Close() })
	return c
}

func (c *workerCrew) journal() string { return filepath.Join(c.dir, "journal") }

// serve starts a host, at a new address, and waits until it is ready.
func (c *workerCrew) serve() {
	c.host = launch(c.t, c.dir, "serve", "--data", "journal", "--listen", "127.0.0.1:0", "--ready-file", "url")
	eventually(c.t, "the host is ready", exists(filepath.Join(c.dir, "url")))
}

// killHost kills the host, and starts another.
func (c *workerCrew) killHost() {
	c.host.signal(syscall.SIGKILL)
	c.host.wait()
	require.NoError(c.t, os.Remove(filepath.Join(c.dir, "url")))
	c.serve()
}

// restart stops the host with SIGTERM, and starts another.
func (c *workerCrew) restart() {
	c.host.signal(syscall.SIGTERM)
	require.Equal(c.t, cli.Done, c.host.wait(), "%s", &c.host.stderr)
	c.serve()
}

// startWorker starts a worker.
func (c *workerCrew) startWorker() *exec.Cmd {
	cmd := exec.Command("teller", fmt.Sprint("t", c.born))
	c.born++
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), folder.TokenVariable+"="+c.token)
	require.NoError(c.t, cmd.Start())
	return cmd
}

// killWorker kills a worker.
func (c *workerCrew) killWorker(cmd *exec.Cmd) {
	c.killed[cmd.Args[1]] = true
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// start starts a run in the current host.
func (c *workerCrew) start() {
	id := fmt.Sprint("r", c.started)
	host, err := folder.Dial(c.journal())
	require.NoError(c.t, err)
	_, err = host.Do(c.t.Context(), &api.Request{Verb: api.Begin, ID: id, Dir: c.dir, Actor: "load", Attachment: c.parcel})
	require.NoError(c.t, err)
	c.started++
}

// readExecutions reads the new lines of makings, and returns the number of all lines.
func (c *workerCrew) readExecutions() int {
	text, err := io.ReadAll(c.seen)
	require.NoError(c.t, err)
	for line := range bytes.Lines(text) {
		c.made = append(c.made, strings.TrimRight(string(line), " \n"))
	}
	return len(c.made)
}

// settle waits until all runs have ended: calls of dead workers are requested again when their leases have expired.
func (c *workerCrew) settle() {
	host, err := folder.Dial(c.journal())
	require.NoError(c.t, err)
	eventually(c.t, "all runs have ended", func() bool {
		open := false
		_, err := host.List(c.t.Context(), api.Request{Query: "status:running,waiting", Limit: 1}, func(*api.Run) error { open = true; return nil })
		require.NoError(c.t, err)
		return !open
	})
}

// stop ends the workers and the host.
func (c *workerCrew) stop() {
	for _, cmd := range c.tellers {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	c.host.signal(syscall.SIGTERM)
	require.Equal(c.t, cli.Done, c.host.wait(), "%s", &c.host.stderr)
}

// answers returns the answers and the codes of failures of the calls in the journal, by key.
func (c *workerCrew) answers() (answers, failures map[string]string) {
	answers, failures = map[string]string{}, map[string]string{}
	store, err := disk.Open(c.journal(), disk.Config{})
	require.NoError(c.t, err)
	defer func() { require.NoError(c.t, store.Close()) }()
	ended := 0
	for head, err := range store.Heads(c.t.Context(), "") {
		require.NoError(c.t, err)
		for e, err := range store.Read(c.t.Context(), head.Run, 1) {
			require.NoError(c.t, err)
			key := head.Run + "/" + e.Node
			switch e.Type {
			case journal.CallResponded:
				require.NotContains(c.t, answers, key, "it is answered twice")
				answers[key] = e.Value.(string)
			case journal.CallError:
				failures[key] = e.Detail.Failure.Code
			case journal.RunFinished:
				ended++
			}
		}
	}
	require.Equal(c.t, c.started, ended, "what was acknowledged is there, and has ended")
	return answers, failures
}

// judge compares the journal with the executions of calls. A call is repeated only if its worker was killed, and never after it was
// answered; so its answer is the output of its last execution. Calls of `once` are not repeated. judge returns the numbers of repeated and
// of interrupted calls.
func (c *workerCrew) judge() (again, interrupted int) {
	c.readExecutions()
	last := map[string]string{} // the output of the newest execution of a call
	for _, line := range c.made {
		key, said, _ := strings.Cut(line, " ")
		if before, isAgain := last[key]; isAgain {
			require.True(c.t, c.killed[workerOf(before)], "%s was made by %s, which lives, and again by %s", key, before, said)
			require.False(c.t, strings.HasSuffix(key, "/once"), "%s was made twice", key)
			again++
		}
		last[key] = said
	}
	answers, failures := c.answers()
	for key, said := range answers {
		require.Equal(c.t, last[key], said, "%s was made again after it had been answered", key)
	}
	for key, code := range failures {
		require.Equal(c.t, "interrupted", code, key)
		require.True(c.t, strings.HasSuffix(key, "/once"), "%s may be asked again", key)
		if said, isMade := last[key]; isMade { // otherwise its worker had not begun
			require.True(c.t, c.killed[workerOf(said)], "%s was made by %s, which lives", key, said)
		}
		interrupted++
	}
	for key := range last {
		require.True(c.t, answers[key] != "" || failures[key] != "", "%s has no answer", key)
	}
	return again, interrupted
}

// workerOf returns the name of the worker in an output.
func workerOf(said string) string {
	name, _, _ := strings.Cut(said, " ")
	return name
}

// TestWorkersAndTheirHostKilledUnderLoad kills workers and host with SIGKILL, again and again.
func TestWorkersAndTheirHostKilledUnderLoad(t *testing.T) {
	t.Parallel()
	rounds := 1
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		rounds = crewRoundsAll
	}
	c := newCrewed(t, parts)
	for range 3 {
		c.tellers = append(c.tellers, c.startWorker())
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range rounds {
		for range crewKills {
			before := c.readExecutions()
			for range 8 {
				c.start()
			}
			more := 1 + rng.IntN(8)
			eventually(t, "calls are made", func() bool { return c.readExecutions() >= before+more })
			if n := rng.IntN(4 * len(c.tellers)); n < len(c.tellers) {
				c.killWorker(c.tellers[n])
				c.tellers[n] = c.startWorker()
			} else {
				c.killHost()
			}
		}
		c.settle()
	}
	c.stop()
	again, interrupted := c.judge()
	t.Logf("%d kills, %d of them of workers: %d runs, %d makings, %d calls made again, %d interrupted", rounds*crewKills, len(c.killed), c.started,
		len(c.made), again, interrupted)
}

// A worker that outlives its host delivers its answer to the next host, also for a call that must not be made twice.
func TestAWorkerOutlivesItsHost(t *testing.T) {
	c := newCrewed(t, parts)
	made, goOn, served := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		served <- serveOperations(ctx, c.dir, "t", c.token, func() {
			made <- struct{}{}
			<-goOn
		})
	}()
	c.start()
	<-made
	c.killHost()
	c.restart()
	close(goOn)
	c.settle()
	stop()
	require.NoError(t, <-served)
	c.stop()
	again, interrupted := c.judge()
	require.Zero(t, again+interrupted)
	require.Len(t, c.made, 3)
}

// Calls that must not be made twice, and that no worker has taken yet, survive a restart and a kill of their host: no call fails, and each
// call is made once when a worker connects.
func TestCallsThatNoWorkerHasTakenOutliveRestarts(t *testing.T) {
	calls := 1000
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		calls = 10_000
	}
	c := newCrewed(t, charges)
	for range calls {
		c.start()
	}
	c.restart()
	c.killHost()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	served := make(chan error, 1)
	go func() { served <- serveOperations(ctx, c.dir, "t", c.token, nil) }()
	c.settle()
	stop()
	require.NoError(t, <-served)
	c.stop()
	again, interrupted := c.judge()
	require.Zero(t, again+interrupted)
	require.Len(t, c.made, calls)
}
