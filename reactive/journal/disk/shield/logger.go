package shield

import (
	"fmt"
	"log/slog"
)

// Logger passes Pebble's errors on and drops the rest.
type Logger struct{ Log *slog.Logger }

// Infof implements pebble.Logger.
func (Logger) Infof(string, ...any) {}

// Errorf implements pebble.Logger.
func (l Logger) Errorf(format string, args ...any) {
	l.Log.Error("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf implements pebble.Logger. Fatalf must not return. It panics, so that opening a database can return an error; anywhere else
// the panic ends the process.
func (l Logger) Fatalf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.Log.Error("pebble: " + text)
	panic("pebble: " + text)
}
