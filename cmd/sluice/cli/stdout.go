package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
)

// Stdout is the standard output of the program. It records the first failed write, so that a verb need not check each one: see
// Check. Only one goroutine may write; any may receive from the channel of ReaderGone.
type Stdout struct {
	file *os.File
	err  error         // of the first failed write
	gone chan struct{} // closed when a write has found that the reader is gone
}

// NewStdout returns a Stdout that writes to file, which the caller closes.
func NewStdout(file *os.File) *Stdout { return &Stdout{file: file, gone: make(chan struct{})} }

// Write writes to the file, without a buffer.
func (s *Stdout) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	if err != nil && s.err == nil {
		s.err = err
		if errors.Is(err, syscall.EPIPE) {
			close(s.gone)
		}
	}
	return n, err
}

// Check returns the final error of a verb that has returned err: an Exit with the code Failed if a write has failed and err is not
// an Exit, else err. A write to a pipe that the reader has closed does not count as failed.
func (s *Stdout) Check(err error) error {
	_, said := errors.AsType[*Exit](err)
	if !said && s.err != nil && !errors.Is(s.err, syscall.EPIPE) {
		return Fail(fmt.Errorf("write the output: %w", s.err))
	}
	return err
}

// ReaderGone returns a channel that is closed when a write to w finds that the reader of the pipe is gone; nil if w is not a Stdout.
func ReaderGone(w io.Writer) <-chan struct{} {
	if out, ok := w.(*Stdout); ok {
		return out.gone
	}
	return nil
}

// FileOf returns the file below w, or nil if there is none.
func FileOf(w io.Writer) *os.File {
	switch w := w.(type) {
	case *os.File:
		return w
	case *Stdout:
		return w.file
	case *Delayed:
		return FileOf(w.to)
	case *colorprofile.Writer:
		return FileOf(w.Forward)
	}
	return nil
}

// IsTerminal reports whether w writes to a terminal.
func IsTerminal(w io.Writer) bool {
	file := FileOf(w)
	return file != nil && term.IsTerminal(file.Fd())
}

// ForPeople returns a text to be written to w: for a terminal, without control sequences, see progress.CleanLines; for a file or a
// pipe, unchanged.
func ForPeople(w io.Writer, text string) string {
	if IsTerminal(w) {
		return progress.CleanLines(text)
	}
	return text
}
