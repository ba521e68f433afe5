package coordinator_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// deaf blocks when it is encoded to JSON.
type deaf struct{ until chan struct{} }

func (d deaf) MarshalJSON() ([]byte, error) { <-d.until; return []byte("1"), nil }

// hanging returns operations that do not return, by the text with which the error of Shutdown names them.
func hanging(until chan struct{}) map[string]coordinator.Operation {
	return map[string]coordinator.Operation{
		"a call":        operation.Define("hangs", func(context.Context, any) (any, error) { <-until; return 1, nil }),
		"its output":    operation.Define("hangs", func(context.Context, any) (any, error) { return deaf{until}, nil }),
		"its failure":   operation.Define("hangs", func(context.Context, any) (any, error) { return nil, &operation.Error{Details: deaf{until}} }),
		"the run's own": operation.DefinePure("hangs", func(any) (any, error) { <-until; return 1, nil }),
	}
}

// TestShutdownAbandonsCallsThatDoNotReturn: no other method waits for them either, and late results have no effect.
func TestShutdownAbandonsCallsThatDoNotReturn(t *testing.T) {
	const text = `{kind: Workflow, name: w, steps: [{operation: echo}, {operation: hangs, input: "{{ steps.echo.output }}"}]}`
	for name := range hanging(nil) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				until := make(chan struct{})
				var said strings.Builder
				store := memory.New()
				e, err := coordinator.New(t.Context(), store, coordinator.Config{
					Operations: []coordinator.Operation{hanging(until)[name], echo}, Logger: slog.New(slog.NewTextHandler(&said, nil)),
				})
				require.NoError(t, err)
				r := start(t, e, text, coordinator.WithID("r"))
				synctest.Wait()
				waiting := []func() error{func() error { _, err := r.Wait(context.Background()); return err }}
				names := "run r: step hangs, attempt 1"
				if name == "the run's own" {
					names = "run r: Go code that the run itself has called"
					waiting = append(waiting, func() error { return r.Pause(context.Background(), "") })
				}
				answered := make(chan error, len(waiting))
				for _, wait := range waiting {
					go func() { answered <- wait() }()
				}
				synctest.Wait()

				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				began := time.Now()
				err = e.Shutdown(ctx)
				require.ErrorIs(t, err, coordinator.ErrUnreturned)
				require.True(t, strings.HasSuffix(err.Error(), ": "+names), err)
				require.Equal(t, 8*time.Second, time.Since(began))
				require.NoError(t, e.Shutdown(t.Context()))
				for range waiting {
					require.ErrorIs(t, <-answered, coordinator.ErrShutdown)
				}
				_, err = e.Run(t.Context(), "r")
				require.ErrorIs(t, err, coordinator.ErrShutdown)
				for _, err := range store.Read(t.Context(), "r", 1) {
					require.Error(t, err, "the store is closed")
				}
				close(until)
				synctest.Wait()
				require.Empty(t, said.String(), "late results are not logged")
			})
		})
	}
}

// TestShutdownNamesAFew of very many calls, and the number of the others.
func TestShutdownNamesAFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{Operations: []coordinator.Operation{hanging(until)["a call"]}})
		require.NoError(t, err)
		start(t, e, `{kind: Workflow, name: w, steps: [{map: {id: m, over: "{{ 1..50 }}", steps: [{operation: hangs}]}}]}`)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err = e.Shutdown(ctx)
		require.ErrorIs(t, err, coordinator.ErrUnreturned)
		require.Equal(t, 20, strings.Count(err.Error(), "attempt 1"))
		require.ErrorContains(t, err, "; 30 more")
		close(until)
	})
}

// TestACallThatReturnsInTimeIsNotNamed: a call has five seconds after its context has ended.
func TestACallThatReturnsInTimeIsNotNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := operation.Define("slow", func(ctx context.Context, _ any) (any, error) {
			<-ctx.Done()
			time.Sleep(4 * time.Second)
			return nil, ctx.Err()
		})
		e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{Operations: []coordinator.Operation{slow}})
		require.NoError(t, err)
		start(t, e, `{kind: Workflow, name: w, steps: [{operation: slow}]}`)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, e.Shutdown(ctx))
	})
}

// ownCause is an error that is its own cause.
type ownCause struct{}

func (*ownCause) Error() string   { return "no end" }
func (e *ownCause) Unwrap() error { return e }

func TestAnEndlessErrorChainFailsItsCall(t *testing.T) {
	for _, err := range []error{&ownCause{}, errors.Join(io.EOF, &ownCause{}), &operation.Error{Code: "c", Err: &ownCause{}}} {
		e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{
			operation.Define("fails", func(context.Context, any) (any, error) { return nil, err }),
		}})
		result := run(t, e, parse(t, `{kind: Workflow, name: w, steps: [{operation: fails}]}`), nil)
		require.Equal(t, reactive.RunFailed, result.Status)
		require.Contains(t, result.Failure.Message, "no end")
	}
}
