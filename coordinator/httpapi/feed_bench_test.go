package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// The benchmarks of feeds have server and clients in one process, which talk over loopback: the processor time of a frame includes both.

const observers = 1000 // of each benchmark

// feedServer is a server on disk whose feeds are watched.
type feedServer struct {
	testing.TB
	store  *timed
	engine *coordinator.Engine
	server *Server
	addr   string
	conns  []net.Conn
	read   [4 << 10]byte // the bytes that have come with the headers of the newest feed
}

// timed is a store that records when events become durable, and how long that takes.
type timed struct {
	*disk.Store

	mu   sync.Mutex
	at   map[string]map[uint64]time.Time // by stream and sequence
	took []time.Duration
}

func (s *timed) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	begun := time.Now()
	last, err := s.Store.Append(ctx, stream, after, events, head)
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = append(s.took, now.Sub(begun))
	if s.at[stream] == nil {
		s.at[stream] = map[uint64]time.Time{}
	}
	for seq := after + 1; seq <= last; seq++ {
		s.at[stream][seq] = now
	}
	return last, err
}

// durable returns when an event has become durable; false: its append has not returned yet.
func (s *timed) durable(stream string, seq uint64) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known := s.at[stream][seq]
	return at, known
}

func newTheatre(t testing.TB) *feedServer {
	store, err := disk.Open(t.TempDir(), disk.Config{})
	require.NoError(t, err)
	stamped := &timed{Store: store, at: map[string]map[uint64]time.Time{}}
	engine, err := coordinator.New(context.Background(), stamped, coordinator.Config{})
	require.NoError(t, err)
	server, err := Handler(engine, Config{
		Logger: slog.New(slog.DiscardHandler), Open: Identity{Name: "bench", Role: Admin}, Streams: 2 * observers, StreamsOfAClient: 2 * observers,
	})
	require.NoError(t, err)
	listening := httptest.NewServer(server)
	house := &feedServer{TB: t, store: stamped, engine: engine, server: server, addr: strings.TrimPrefix(listening.URL, "http://")}
	t.Cleanup(func() {
		for _, conn := range house.conns {
			conn.Close()
		}
		require.NoError(t, engine.Shutdown(context.Background()))
		listening.Close()
	})
	return house
}

// start starts runs of some steps that end at once, and some that each wait for a message.
func (t *feedServer) start(runs, done, waiting int) (list []*coordinator.Run) {
	var ops, steps []string
	for i := range done {
		steps = append(steps, fmt.Sprintf("{id: done%d, operation: done}", i))
	}
	for i := range waiting {
		ops = append(ops, fmt.Sprintf("o%d: {wait: {message: m%d}}", i, i))
		steps = append(steps, fmt.Sprintf("{id: s%d, operation: o%d}", i, i))
	}
	text := fmt.Sprintf("{kind: Workflow, name: chain, operations: {done: {value: 1}, %s}, steps: [%s]}", strings.Join(ops, ", "), strings.Join(steps, ", "))
	checked, err := kinds.Load("chain.yaml", []byte(text), template.Known{})
	require.NoError(t, err)
	for range runs {
		run, err := t.engine.Start(context.Background(), checked.Workflow, nil)
		require.NoError(t, err)
		list = append(list, run)
	}
	for done > 0 && !t.waits(list[0]) {
		require.NoError(t, t.store.AwaitChange(context.Background(), ""))
	}
	return list
}

// waits reports whether a run has come to the step that waits for the first message.
func (t *feedServer) waits(run *coordinator.Run) bool {
	state, err := run.State(context.Background())
	require.NoError(t, err)
	return slices.ContainsFunc(state.Steps, func(s coordinator.StepState) bool { return s.Step == "s0" && s.Status.String() == "running" })
}

// watch opens a feed, and reads its headers, and the bytes that have come with them. The next one overwrites that.
func (t *feedServer) watch(path string) (conn net.Conn, more []byte) {
	conn, err := net.Dial("tcp", t.addr)
	if err == nil {
		t.conns = append(t.conns, conn)
		_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", path, t.addr)
	}
	var n, at int
	got := t.read[:]
	for end := -1; err == nil && end < 0; at += n {
		n, err = conn.Read(got[at:])
		end = bytes.Index(got[:at+n], []byte("\r\n\r\n"))
	}
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(got, []byte("HTTP/1.1 200 OK")), string(got[:at]))
	return conn, got[:at]
}

// readers are the readers of feeds, with the number of updates and the lags that they have seen.
type readers struct {
	*feedServer
	all    sync.WaitGroup
	begun  sync.WaitGroup // each has its snapshot
	frames atomic.Int64   // updates

	mu  sync.Mutex
	lag []time.Duration // of the first event of each update, since it was durable
}

// sit reads the feed of a run until an event.
func (s *readers) sit(run string, until uint64) {
	conn, more := s.watch("/v1/runs/" + run + "/feed")
	s.begun.Add(1)
	r := bufio.NewReader(io.MultiReader(bytes.NewReader(bytes.Clone(more)), conn))
	s.all.Go(func() {
		var lag []time.Duration
		var first []uint64
		for at := uint64(0); at < until; {
			line, err := r.ReadSlice('\n')
			if err != nil && err != bufio.ErrBufferFull { // the rest of a line, behind its first numbers, does not matter
				s.Error(err)
				return
			}
			if bytes.HasPrefix(line, []byte(`data: {"run":`)) {
				s.begun.Done()
			}
			from, update := number(line, `data: {"from":`)
			if !update {
				continue
			}
			now := time.Now()
			durable, known := s.store.durable(run, from)
			if !known { // the append is about to return
				durable = now
			}
			first, lag = append(first, from), append(lag, now.Sub(durable))
			at, _ = number(line[bytes.IndexByte(line, ','):], `,"seq":`)
		}
		s.frames.Add(int64(len(first)))
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lag = append(s.lag, lag...)
	})
}

// echo sends frames over loopback at a steady pace until took is called, which returns how long each took: under the same load of process
// and machine, no lag is shorter. At first it sends many, and returns the processor time of one: no frame costs less.
func (t *feedServer) echo(pause time.Duration) (cost time.Duration, took func() []time.Duration) {
	const many = 20_000
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	to, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	from, err := listener.Accept()
	require.NoError(t, err)
	var list []time.Duration
	var both sync.WaitGroup
	sent, stop, read := make(chan time.Time), make(chan struct{}), make(chan struct{})
	both.Go(func() {
		b := make([]byte, 4<<10)
		for at := range sent {
			if _, err := from.Read(b); err == nil && !at.IsZero() {
				list = append(list, time.Since(at))
			}
			read <- struct{}{}
		}
	})
	send := func(at time.Time) {
		sent <- at
		_, _ = to.Write(make([]byte, 250))
		<-read
	}
	cpu := processorTime()
	for range many {
		send(time.Time{})
	}
	cost = (processorTime() - cpu) / many
	both.Go(func() {
		defer close(sent)
		pace := time.NewTicker(pause)
		defer pace.Stop()
		for {
			select {
			case <-pace.C:
				send(time.Now())
			case <-stop:
				return
			}
		}
	})
	return cost, func() []time.Duration {
		close(stop)
		both.Wait()
		for _, c := range []io.Closer{listener, to, from} {
			c.Close()
		}
		return list
	}
}

// number returns the number at the beginning of a line behind a text.
func number(line []byte, behind string) (uint64, bool) {
	rest, found := bytes.CutPrefix(line, []byte(behind))
	if !found {
		return 0, false
	}
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	value, err := strconv.ParseUint(string(rest[:n]), 10, 64)
	return value, err == nil
}

// quantile returns the smallest value that is as large as a part of all.
func quantile(list []time.Duration, part float64) time.Duration {
	slices.Sort(list)
	return list[min(len(list)-1, int(part*float64(len(list))))]
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// play sends messages to runs at a steady pace while readers watch them to their end, and reports the lags, the frames and the processor time.
func (t *feedServer) play(b *testing.B, runs []*coordinator.Run, steps int, pause time.Duration) {
	last, err := runs[0].Last(context.Background())
	require.NoError(b, err)
	each := observers / len(runs)
	all := &readers{feedServer: t}
	for _, run := range runs {
		for range each {
			all.sit(run.ID(), last+uint64(steps)*t.eventsOfAStep())
		}
	}
	all.begun.Wait()
	least, bare := t.echo(pause)
	cpu := processorTime()
	pace := time.NewTicker(pause)
	defer pace.Stop()
	var sent sync.WaitGroup
	for i := range steps {
		for _, run := range runs {
			<-pace.C
			sent.Go(func() {
				if err := run.Send(context.Background(), fmt.Sprint("m", i), i); err != nil {
					b.Error(err)
				}
			})
		}
	}
	sent.Wait()
	all.all.Wait()
	require.False(b, b.Failed())
	cpu = processorTime() - cpu
	b.ReportMetric(float64(least.Nanoseconds())/1000, "bare-cpu-µs/frame")
	b.ReportMetric(float64(quantile(bare(), .99).Microseconds())/1000, "bare-p99-ms")
	b.ReportMetric(float64(quantile(all.lag, .5).Microseconds())/1000, "lag-p50-ms")
	b.ReportMetric(float64(quantile(all.lag, .99).Microseconds())/1000, "lag-p99-ms")
	b.ReportMetric(float64(all.frames.Load())/float64(steps*observers), "frames/step")
	b.ReportMetric(float64(cpu.Microseconds())/float64(all.frames.Load()), "cpu-µs/frame")
	b.ReportMetric(0, "ns/op")
}

// eventsOfAStep returns the number of events that follow a message.
func (t *feedServer) eventsOfAStep() uint64 { return 3 }

// BenchmarkFeedsOfManyRuns has a thousand observers, each of a run of its own that makes a step a second.
func BenchmarkFeedsOfManyRuns(b *testing.B) {
	for b.Loop() {
		t := newTheatre(b)
		t.play(b, t.start(observers, 0, 11), 10, time.Second/observers)
	}
}

// BenchmarkFeedsOfOneRun has a thousand observers of a run that makes twenty steps a second.
func BenchmarkFeedsOfOneRun(b *testing.B) {
	for b.Loop() {
		t := newTheatre(b)
		t.play(b, t.start(1, 0, 201), 200, time.Second/20)
	}
}

// BenchmarkIdleFeeds measures the memory of observers that have read their snapshot, or at least the headers, and whose runs are idle.
// The clients are bare connections, and count, too.
func BenchmarkIdleFeeds(b *testing.B) {
	for _, steps := range []int{1, 5000} {
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			t := newTheatre(b)
			run := t.start(1, steps, 1)[0]
			t.watch("/v1/runs/" + run.ID() + "/feed")
			for b.Loop() {
				heap, stacks := t.inUse()
				goroutines := runtime.NumGoroutine()
				for range observers {
					t.watch("/v1/runs/" + run.ID() + "/feed")
				}
				nowHeap, nowStacks := t.inUse()
				b.ReportMetric((nowHeap-heap+nowStacks-stacks)/observers, "B/observer")
				b.ReportMetric((nowStacks-stacks)/observers, "stack-B/observer")
				b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/observers, "goroutines/observer")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// inUse returns the bytes of heap and stacks.
func (t *feedServer) inUse() (heap, stacks float64) {
	<-time.After(time.Second) // until all have sent their frames
	runtime.GC()
	runtime.GC() // drops the pooled objects
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse), float64(m.StackInuse)
}

// BenchmarkAppendsBesideFeeds measures how long appends take while there are a thousand idle observers, or one that reads a byte a second of the
// run that goes on.
func BenchmarkAppendsBesideFeeds(b *testing.B) {
	const steps = 2000
	for _, beside := range []string{"none", "idle", "slow"} {
		b.Run(beside, func(b *testing.B) {
			for b.Loop() {
				t := newTheatre(b)
				idle, busy := t.start(1, 0, 1)[0], t.start(1, 0, steps+1)[0]
				switch beside {
				case "idle":
					for range observers {
						t.watch("/v1/runs/" + idle.ID() + "/feed")
					}
				case "slow":
					conn, _ := t.watch("/v1/runs/" + busy.ID() + "/feed?view=events")
					go func() {
						for b := make([]byte, 1); ; <-time.After(time.Second) { // ends with the connection
							if _, err := conn.Read(b); err != nil {
								return
							}
						}
					}()
				}
				t.store.mu.Lock()
				t.store.took = nil
				t.store.mu.Unlock()
				cpu := processorTime()
				for i := range steps {
					require.NoError(b, busy.Send(context.Background(), fmt.Sprint("m", i), i))
				}
				cpu = processorTime() - cpu
				t.store.mu.Lock()
				b.ReportMetric(float64(quantile(t.store.took, .5).Microseconds()), "p50-µs")
				b.ReportMetric(float64(quantile(t.store.took, .99).Microseconds()), "p99-µs")
				t.store.mu.Unlock()
				b.ReportMetric(float64(cpu.Microseconds())/steps, "cpu-µs/step")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}
