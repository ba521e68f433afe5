package operation

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// process is one run of a program, including all processes that the program starts.
//
//	start ──▶ exited (its id stays taken) ──▶ output closed, or grace over ──▶ group killed ──▶ reaped
//	   └─ call ends: SIGTERM to the group, grace begins ─┘
//
// Invariants:
//
//  1. on Linux, the group is signaled only before its leader is reaped, so no unrelated group with the same id is signaled (see
//     awaitExit for other systems);
//  2. when run returns, no process of the group is alive, and all goroutines of p have ended.
type process struct {
	cmd    *exec.Cmd
	stdin  []byte
	grace  time.Duration
	stdout capture
	stderr capture

	redactor Redactor // redacts output before it is cut; nil: no secrets
	whole    bool     // standard output is not cut, and is redacted after parsing

	state *os.ProcessState // exit status; set when run returns nil

	mu     sync.Mutex
	reaped bool        // guarded by mu
	timer  *time.Timer // guarded by mu: kills the group when grace is over; nil before it begins

	killed chan struct{} // closed when grace is over
}

// run runs the program and returns when its group has ended. It returns an error if the program could not be started.
func (p *process) run(c *Call) error {
	// Linux ends a child when the thread that started it ends, and a thread ends when a goroutine exits while locked to it. The
	// lock keeps this thread alive until the child has ended. It costs nothing: waiting for a process occupies a thread anyway.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	p.killed = make(chan struct{})
	p.cmd.SysProcAttr = attributes()
	dieWithParent(p.cmd.SysProcAttr)
	pipes, err := p.open()
	if err != nil {
		return err
	}
	programs.prepare()
	if err := p.cmd.Start(); err != nil {
		return err // Start has closed the pipes
	}
	programs.add(p.cmd.Process.Pid)
	defer programs.remove(p.cmd.Process.Pid)
	drained := p.copy(pipes)
	stop := context.AfterFunc(c, p.terminate)
	p.awaitExit()
	p.beginGrace()
	select {
	case <-drained:
	case <-p.killed:
	}
	stop()
	p.kill()
	pipes.close() // only processes that have left the group still hold the other ends
	<-drained
	return p.reap()
}

// pipes are this process's ends of the program's standard streams.
type pipes struct {
	stdin          io.WriteCloser // nil: the program's input is empty
	stdout, stderr io.ReadCloser
}

func (p *process) open() (s pipes, err error) {
	if s.stdout, err = p.cmd.StdoutPipe(); err != nil {
		return s, err
	}
	if s.stderr, err = p.cmd.StderrPipe(); err != nil {
		return s, err
	}
	if len(p.stdin) > 0 {
		s.stdin, err = p.cmd.StdinPipe()
	}
	return s, err
}

func (s pipes) close() {
	if s.stdin != nil {
		_ = s.stdin.Close()
	}
	_ = s.stdout.Close()
	_ = s.stderr.Close()
}

// copy copies the streams. It closes the returned channel when both outputs have ended and the input is written or no longer read.
// An output ends when all its writers have closed it or died.
func (p *process) copy(s pipes) <-chan struct{} {
	var all sync.WaitGroup
	if s.stdin != nil {
		all.Go(func() {
			_, _ = io.Copy(s.stdin, bytes.NewReader(p.stdin)) // a program need not read its input
			_ = s.stdin.Close()
		})
	}
	all.Go(func() { p.keep(&p.stdout, s.stdout, p.whole) })
	all.Go(func() { p.keep(&p.stderr, s.stderr, false) })
	drained := make(chan struct{})
	go func() {
		all.Wait()
		close(drained)
	}()
	return drained
}

// keep reads a stream to its end. It redacts secrets before it drops a part of the stream or passes it to followers.
func (p *process) keep(in *capture, from io.Reader, whole bool) {
	live := in.live
	if live == nil {
		live = discard{io.Discard}
	}
	defer live.Close() // neither it nor a capture returns an error
	kept, followed := io.Writer(in), io.Writer(live)
	if p.redactor != nil {
		redacted := p.redactor.RedactLive(live)
		defer redacted.Close()
		followed = redacted
		if !whole {
			redacted := p.redactor.RedactStream(in)
			defer redacted.Close()
			kept = redacted
		}
	}
	_, _ = io.Copy(io.MultiWriter(kept, followed), from)
}

// discard is the destination of a stream without followers.
type discard struct{ io.Writer }

func (discard) Close() error { return nil }

// terminate sends SIGTERM to the group and starts the grace period, after which the group is killed.
func (p *process) terminate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		signal(p.cmd.Process, termSignal)
		p.startTimer()
	}
}

// beginGrace starts the grace period for the remaining processes of the group, unless it has started.
func (p *process) beginGrace() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.startTimer()
}

// startTimer starts a timer that kills the group after the grace period. The caller holds mu.
func (p *process) startTimer() {
	if p.timer == nil {
		p.timer = time.AfterFunc(p.grace, func() {
			p.kill()
			close(p.killed)
		})
	}
}

// kill kills the whole group at once.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		signal(p.cmd.Process, killSignal)
	}
}

// reap reads the exit status of the program, which frees its id.
func (p *process) reap() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer.Stop()
	p.reaped = true
	p.state, err = p.exitState()
	return err
}
