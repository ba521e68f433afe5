package runs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator/calllog"
	"github.com/sluiceflow/sluice/coordinator/folder"
)

// readLog prints the output of the run's calls. If no process works on the run, nothing is written.
func (w *watcher) readLog(ctx context.Context, c *folder.Client) error {
	if !c.Held() {
		r, err := c.Show(ctx, w.run)
		w.finished = err == nil && r.Finished && !r.Late
		return err
	}
	for b, err := range c.Log(ctx, w.run, w.step) {
		if err != nil {
			return errors.Join(err, w.log.flush())
		}
		for i := range b.Entries {
			w.records.Print(&b.Entries[i])
		}
		w.log.batch(*b)
		if err := errors.Join(w.records.Flush(), w.log.w.Flush()); err != nil {
			return err
		}
	}
	w.finished = true
	return w.log.flush()
}

// logLines prints the output of calls, line by line, each line after the key of its step.
type logLines struct {
	w     *bufio.Writer
	begun map[calllog.Entry]string // beginnings of lines that have not ended, by stream
	order []calllog.Entry          // the streams of begun, in the order of their first output
}

func newLogLines(w io.Writer) *logLines {
	return &logLines{w: bufio.NewWriter(w), begun: map[calllog.Entry]string{}}
}

// lineMax is the length in bytes above which a line is printed before it ends.
const lineMax = 16 << 10

func (l *logLines) batch(b calllog.Batch) {
	if b.Lost {
		fmt.Fprintln(l.w, "… (what was written here is not kept any more)")
	}
	for _, e := range b.Entries {
		stream := calllog.Entry{Step: e.Step, Attempt: e.Attempt, Participant: e.Participant, Stream: e.Stream}
		before, open := l.begun[stream]
		text := before + e.Text
		if e.Stream == calllog.Worker && !strings.HasSuffix(text, "\n") {
			text += "\n" // each text of a worker ends a line
		}
		for line := range strings.Lines(text) {
			if text = line; strings.HasSuffix(line, "\n") || len(line) > lineMax {
				l.line(&stream, line)
				text = ""
			}
		}
		if l.begun[stream] = text; !open {
			l.order = append(l.order, stream)
		}
	}
}

func (l *logLines) line(of *calllog.Entry, text string) {
	name := of.Step
	if of.Participant != "" {
		name += "/" + of.Participant
	}
	fmt.Fprintf(l.w, "%s  %s\n", progress.Clean(name), progress.CleanLines(strings.TrimRight(text, "\r\n")))
}

// flush prints the lines that have not ended.
func (l *logLines) flush() error {
	for i := range l.order {
		if text := l.begun[l.order[i]]; text != "" {
			l.line(&l.order[i], text)
		}
	}
	clear(l.begun)
	l.order = nil
	return l.w.Flush()
}
