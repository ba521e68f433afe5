package usercode

import (
	"context"
	"log/slog"
	"os"
)

// Logger returns a logger that survives its handler: if that panics or ends its goroutine, the line goes to standard error.
// Every line costs a goroutine, so it is for occasional lines.
func Logger(l *slog.Logger) *slog.Logger {
	if _, ok := l.Handler().(*handler); ok {
		return l
	}
	return slog.New(&handler{theirs: l.Handler(), ours: slog.NewTextHandler(os.Stderr, nil)})
}

// handler calls the program's handler on a separate goroutine. ours writes to standard error.
type handler struct{ theirs, ours slog.Handler }

func (h *handler) Enabled(ctx context.Context, level slog.Level) (enabled bool) {
	if Apart(func() error { enabled = h.theirs.Enabled(ctx, level); return nil }) != nil {
		return true // Handle then fails likewise, and the line goes to standard error
	}
	return enabled
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	err := Apart(func() error { return h.theirs.Handle(ctx, r.Clone()) })
	if _, panicked := err.(*Panic); panicked {
		return h.ours.Handle(ctx, r)
	}
	return err
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.with(h.ours.WithAttrs(attrs), func() slog.Handler { return h.theirs.WithAttrs(attrs) })
}

func (h *handler) WithGroup(name string) slog.Handler {
	return h.with(h.ours.WithGroup(name), func() slog.Handler { return h.theirs.WithGroup(name) })
}

func (h *handler) with(ours slog.Handler, made func() slog.Handler) slog.Handler {
	theirs := h.theirs
	if Apart(func() error { theirs = made(); return nil }) != nil || theirs == nil {
		return ours
	}
	return &handler{theirs: theirs, ours: ours}
}
