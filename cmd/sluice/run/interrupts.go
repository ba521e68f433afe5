package run

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// interrupts counts the requests to stop: a signal of cli.StopSignals, or Ctrl-C as a key. The first closes asked; the second ends the
// process at once. The loss of the reader of the output counts as a first request, but never as a second.
type interrupts struct {
	signals    chan os.Signal
	pipes      chan os.Signal  // SIGPIPE; never received from
	readerGone <-chan struct{} // closed when the reader of the output is gone; nil: the output is not a Stdout
	asked      chan struct{}   // closed by the first request
	mu         sync.Mutex
	beforeExit []func() // called before the process is ended at once
	ended      chan struct{}
}

// listen counts requests until close. It catches SIGPIPE, so that a write fails instead of ending the process, and does not count it: the
// signal is sent for every pipe and socket with a closed other end, also if a program does not read its input, or a process that watches
// the run has ended. Only a failed write to the output shows that its reader is gone.
func listen(readerGone <-chan struct{}) *interrupts {
	i := &interrupts{
		signals: make(chan os.Signal, 2), pipes: make(chan os.Signal, 1), readerGone: readerGone,
		asked: make(chan struct{}), ended: make(chan struct{}),
	}
	signal.Notify(i.signals, cli.StopSignals()...)
	signal.Notify(i.pipes, syscall.SIGPIPE)
	go i.count()
	return i
}

func (i *interrupts) count() {
	select {
	case <-i.ended:
		return
	case <-i.readerGone:
	case <-i.signals:
	}
	close(i.asked)
	select {
	case <-i.ended:
		return
	case <-i.signals:
	}
	i.mu.Lock()
	for _, f := range i.beforeExit {
		f()
	}
	os.Exit(cli.Interrupted)
}

// first returns a channel that the first request closes.
func (i *interrupts) first() <-chan struct{} { return i.asked }

// Press counts a Ctrl-C that was read as a key.
func (i *interrupts) Press() {
	select {
	case i.signals <- os.Interrupt:
	default:
	}
}

// BeforeExit registers a function to be called before a second request ends the process at once.
func (i *interrupts) BeforeExit(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.beforeExit = append(i.beforeExit, f)
}

func (i *interrupts) close() {
	signal.Stop(i.signals)
	signal.Stop(i.pipes)
	close(i.ended)
}
