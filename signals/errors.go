package signals

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
)

// ErrDisposed is the error of creating an object in a disposed scope.
var ErrDisposed = errors.New("signals: scope is disposed")

// ErrPure is the error of a write while a computed runs: a computed only reads.
var ErrPure = errors.New("signals: write inside a computed")

// DepthMax bounds the callbacks that wait for each other on Go's stack: the depth of a chain of computeds that is read for the
// first time, from its end. A read beyond DepthMax fails, but makes progress: the next read continues from there. Once read, a
// chain may have any depth.
const DepthMax = 200_000

// ErrDepth is the error of a read that would nest deeper than [DepthMax].
var ErrDepth = errors.New("signals: computeds read each other too deeply: read again, or the inner ones first")

// PanicError is the error of a node whose callback panicked.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // of the goroutine, at the panic
}

func newPanicError(v any) *PanicError { return &PanicError{Value: v, Stack: debug.Stack()} }

// Error returns the value of the panic, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("signals: panic in callback: %v", e.Value) }

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// CycleError is the error of a computed that needs its own value, or of an effect that has not settled within [RerunsMax]
// re-runs.
type CycleError struct {
	Nodes []string // functions of the nodes in the ring, each with file and line, in order
}

// Error lists the ring.
func (e *CycleError) Error() string { return "signals: cycle: " + strings.Join(e.Nodes, " -> ") }

// cycle returns the error of the cycle that the running node closes by reading n, which waits for it.
func (g *Graph) cycle(n *node) error {
	var names []string
	seen := map[*node]bool{}
	for n != nil {
		seen[n] = true
		names = append(names, n.body.describe())
		if n == g.run.node {
			break
		}
		l := n.deps
		for l != nil && (l.dep.node == nil || l.dep.flags&running == 0 || seen[l.dep.node]) {
			l = l.nextDep
		}
		if l == nil {
			break
		}
		n = l.dep.node
	}
	return &CycleError{Nodes: names}
}

// nameOf returns the name, file and line of a function.
func nameOf(fn any) string {
	f := runtime.FuncForPC(reflect.ValueOf(fn).Pointer())
	if f == nil {
		return "unknown function"
	}
	file, line := f.FileLine(f.Entry())
	return fmt.Sprintf("%s (%s:%d)", f.Name(), file[strings.LastIndexByte(file, '/')+1:], line)
}

// join joins two errors. It returns a single error unchanged.
func join(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}
