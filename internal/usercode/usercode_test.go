package usercode_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sluiceflow/sluice/internal/usercode"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// spoiled panics when it is formatted.
type spoiled struct{}

func (spoiled) String() string { panic("no text") }

func explode() error { panic("boom") }

func TestAPanicIsAnErrorWithItsStack(t *testing.T) {
	for name, call := range map[string]func(func() error) error{"here": usercode.Call, "apart": usercode.Apart} {
		t.Run(name, func(t *testing.T) {
			plain := errors.New("plain")
			require.NoError(t, call(func() error { return nil }))
			require.Equal(t, plain, call(func() error { return plain }))
			var p *usercode.Panic
			require.ErrorAs(t, call(explode), &p)
			require.Equal(t, "panic: boom", p.Error())
			require.Contains(t, p.Stack, "usercode_test.explode", "the stack names the function that has panicked")
			require.ErrorAs(t, call(func() error { panic(nil) }), &p)
			require.ErrorAs(t, call(func() error { panic(spoiled{}) }), &p)
			require.ErrorAs(t, call(func() error { panic(strings.Repeat("x", 1<<20) + "\xff") }), &p)
			require.Less(t, len(p.Reason), 1<<15)
			require.ErrorAs(t, call(func() error { var none []int; _ = none[3]; return nil }), &p)
			require.Contains(t, p.Reason, "index out of range")
		})
	}
}

func TestCodeThatEndsItsGoroutine(t *testing.T) {
	leave := func() error { runtime.Goexit(); return nil }
	var p *usercode.Panic
	require.ErrorAs(t, usercode.Apart(leave), &p)
	require.Contains(t, p.Reason, "runtime.Goexit")
	require.ErrorAs(t, usercode.Apart(func() error {
		defer runtime.Goexit()
		panic("and leaves")
	}), &p)

	answered := make(chan *usercode.Panic, 1)
	go func() {
		_ = usercode.CallExit(leave, func(p *usercode.Panic) { answered <- p })
		panic("the goroutine goes on")
	}()
	require.Contains(t, (<-answered).Stack, "Goexit")
	require.Error(t, usercode.CallExit(explode, func(*usercode.Panic) { panic("the goroutine has not ended") }))
}

// fickle is a handler; each of its methods may panic or end its goroutine.
type fickle struct{ enabled, handle, with func() }

func (h fickle) Enabled(context.Context, slog.Level) bool  { h.enabled(); return true }
func (h fickle) Handle(context.Context, slog.Record) error { h.handle(); return nil }
func (h fickle) WithAttrs([]slog.Attr) slog.Handler        { h.with(); return h }
func (h fickle) WithGroup(string) slog.Handler             { h.with(); return h }
func nothing()                                             {}
func everything(l *slog.Logger)                            { l.With("a", 1).WithGroup("g").Error("said", "b", 2) }
func fickleLogger(enabled, handle, with func()) (l *slog.Logger) {
	return usercode.Logger(slog.New(fickle{enabled, handle, with}))
}

func TestALoggerSurvivesItsHandler(t *testing.T) {
	for _, harm := range []func(){func() { panic("no disk") }, runtime.Goexit} {
		everything(fickleLogger(harm, nothing, nothing))
		everything(fickleLogger(nothing, harm, nothing))
		everything(fickleLogger(nothing, nothing, harm))
		everything(fickleLogger(harm, harm, harm))
	}
	var text bytes.Buffer
	l := usercode.Logger(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelWarn})))
	require.Same(t, l, usercode.Logger(l))
	l.Info("too low")
	everything(l)
	require.Contains(t, text.String(), "msg=said a=1 g.b=2")
	require.NotContains(t, text.String(), "too low")
}
