package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// stops are the wishes to stop, by Ctrl-C, SIGTERM or SIGHUP. The first is for whoever waits for it; the second ends the process
// at once. A reader of the output that has gone is a first one too, and never a second.
type stops struct {
	signals chan os.Signal
	pipes   chan os.Signal  // SIGPIPE, which nobody receives
	unread  <-chan struct{} // closed when the reader of the output has gone; nil: there is none
	asked   chan struct{}   // closed by the first
	mu      sync.Mutex
	atonce  []func() // to be done before the process ends at once
	ended   chan struct{}
}

// listen begins to count wishes. SIGPIPE is caught so that a write fails and does not end the process, and tells nothing else: it
// comes for every pipe and socket whose other end has gone, be it that of a program that does not read its input or of somebody
// who watches. Only a write to the output says that its reader has gone.
func listen(unread <-chan struct{}) *stops {
	s := &stops{
		signals: make(chan os.Signal, 2), pipes: make(chan os.Signal, 1), unread: unread,
		asked: make(chan struct{}), ended: make(chan struct{}),
	}
	signal.Notify(s.signals, stopSignals()...)
	signal.Notify(s.pipes, syscall.SIGPIPE)
	go s.count()
	return s
}

// stopSignals are those by which a process is asked to stop. A process that was started so as to outlive its terminal, as by
// nohup, is not asked by that.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

func (s *stops) count() {
	select {
	case <-s.ended:
		return
	case <-s.unread:
	case <-s.signals:
	}
	close(s.asked)
	select {
	case <-s.ended:
		return
	case <-s.signals:
	}
	s.mu.Lock()
	for _, f := range s.atonce {
		f()
	}
	os.Exit(interrupted)
}

// first is closed by the first wish to stop.
func (s *stops) first() <-chan struct{} { return s.asked }

// press counts a Ctrl-C that came as a key and not as a signal.
func (s *stops) press() {
	select {
	case s.signals <- os.Interrupt:
	default:
	}
}

// beforeExit has something done before the process is ended at once.
func (s *stops) beforeExit(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.atonce = append(s.atonce, f)
}

func (s *stops) close() {
	signal.Stop(s.signals)
	signal.Stop(s.pipes)
	close(s.ended)
}

// resumeCommand is the command line that resumes a run, with this program called as it was. What `go run` has built is
// gone by then.
func resumeCommand(dir, id string) string {
	program := os.Args[0]
	if strings.Contains(program, filepath.Join(os.TempDir(), "go-build")) {
		program = "sluice"
	}
	return quote(program) + " run --data " + quote(dir) + " --resume " + quote(id)
}

// quote writes a word so that a shell reads it as one.
func quote(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
