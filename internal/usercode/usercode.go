package usercode

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
)

// reasonMax bounds, in bytes, the text of a panic's value.
const reasonMax = 16 << 10

// Panic is the error of code that panicked or ended its goroutine instead of returning.
type Panic struct {
	Reason string // text of the panic's value
	Stack  string // of the goroutine, for people
}

func (p *Panic) Error() string { return "panic: " + p.Reason }

// exited is the Reason of code that ended its goroutine.
const exited = "the function ended its goroutine (runtime.Goexit)"

// Call calls f and returns its error, or a *Panic when f panics.
func Call(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanic(v)
		}
	}()
	return f()
}

// CallExit is Call for a goroutine of Sluice. If f ends it, CallExit calls exit with the *Panic; only the deferred calls of
// CallExit's callers run after that.
func CallExit(f func() error, exit func(*Panic)) error {
	returned := false
	defer func() {
		if !returned {
			exit(&Panic{Reason: exited, Stack: string(debug.Stack())})
		}
	}()
	err := Call(f)
	returned = true
	return err
}

// Apart is Call on a separate goroutine. If f ends that goroutine, Apart returns a *Panic.
func Apart(f func() error) error {
	done := make(chan error, 1)
	go func() {
		done <- CallExit(f, func(p *Panic) { done <- p })
	}()
	return <-done
}

// All calls functions in order, each apart, and returns when all have returned or ctx has ended. The channel receives their
// errors, joined, when all have returned.
func All(ctx context.Context, fs []func() error) <-chan error {
	result := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var errs []error
		for _, f := range fs {
			errs = append(errs, Apart(f))
		}
		result <- errors.Join(errs...)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	return result
}

// newPanic returns the error for a recovered value. The deferred function that recovered must call it, while the stack still
// shows the panic. Formatting calls methods of v, and package fmt survives their panics.
func newPanic(v any) *Panic {
	reason := fmt.Sprint(v)
	if len(reason) > reasonMax {
		reason = reason[:reasonMax] + "…"
	}
	return &Panic{Reason: strings.ToValidUTF8(reason, "\uFFFD"), Stack: string(debug.Stack())}
}
