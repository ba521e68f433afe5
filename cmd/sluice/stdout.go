package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/charmbracelet/colorprofile"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
)

// stdout is the standard output, which remembers that something could not be written: what has not arrived is no success,
// also where a verb does not look at each line.
type stdout struct {
	file   *os.File
	err    error         // the first
	unread chan struct{} // closed when a write has found that the reader has gone
}

func newStdout(file *os.File) *stdout { return &stdout{file: file, unread: make(chan struct{})} }

func (s *stdout) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if err != nil && s.err == nil {
		s.err = err
		if errors.Is(err, syscall.EPIPE) {
			close(s.unread)
		}
	}
	return n, err
}

// unreadOf is closed when the reader of what a verb writes to has gone; nil: nobody would know.
func unreadOf(w io.Writer) <-chan struct{} {
	if out, ok := w.(*stdout); ok {
		return out.unread
	}
	return nil
}

// missing is what a verb that has done well ends with all the same. A reader that has gone away has read what he wanted.
func (s *stdout) missing(err error) error {
	_, said := errors.AsType[*exit](err)
	if !said && s.err != nil && !errors.Is(s.err, syscall.EPIPE) {
		return &exit{failed, fmt.Errorf("what was asked for could not be written: %w", s.err)}
	}
	return err
}

// forReading is what a run has given, as it may be shown to people: nothing in it commands their terminal. Where there is none,
// data stays as it is.
func forReading(w io.Writer, text string) string {
	if isTerminal(w) {
		return progress.CleanLines(text)
	}
	return text
}

// fileOf is the file that a verb writes to; nil: it writes elsewhere.
func fileOf(w io.Writer) *os.File {
	switch w := w.(type) {
	case *os.File:
		return w
	case *stdout:
		return w.file
	case *heldBack:
		return fileOf(w.to)
	case *colorprofile.Writer:
		return fileOf(w.Forward)
	}
	return nil
}
