package run

import (
	"log/slog"
	"os"
	"sync"

	"github.com/sluiceflow/sluice/cmd/sluice/view"
)

// log receives the log of the engine and the journal. It writes to standard error until there is a view. It is safe for concurrent use.
type log struct {
	mu   sync.Mutex
	view view.View
}

// logger returns a logger that writes to l, one record per Write.
func (l *log) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// to sends further records to a view; nil: to standard error.
func (l *log) to(v view.View) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.view = v
}

// Write writes one record.
func (l *log) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.view == nil {
		return os.Stderr.Write(text)
	}
	l.view.Note(string(text))
	return len(text), nil
}
