package run

import (
	"log/slog"
	"os"
	"sync"

	"github.com/sluiceflow/sluice/cmd/sluice/view"
)

// log receives what the engine and the journal log: it goes to standard error until there is a view. It may be used by any goroutine.
type log struct {
	mu   sync.Mutex
	view view.View
}

// logger returns a logger that writes to l, one record a Write.
func (l *log) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// to sends what is logged from now on to a view; with nil to standard error again.
func (l *log) to(v view.View) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.view = v
}

// Write takes one record.
func (l *log) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.view == nil {
		return os.Stderr.Write(text)
	}
	l.view.Note(string(text))
	return len(text), nil
}
