package worker

import (
	"context"
	"errors"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/workers/wire"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template/value"
)

// ErrCancelled is the cause of the end of a call's context if the result of the call is no longer wanted.
var ErrCancelled = errors.New("worker: the result of the call is not wanted any more")

// job is a call that the worker carries out. It is the call's operation.Host.
type job struct {
	operation.Call
	w     *worker
	lease string
	stop  func() // of its parent; nil: it has no deadline
}

var _ operation.Host = (*job)(nil)

type jobKey struct{}

// Log writes a text about the call that ctx belongs to: to the log of the server, and for clients that follow the log of the run. Outside a
// call of a worker it does nothing.
func Log(ctx context.Context, text string) {
	if j, ok := ctx.Value(jobKey{}).(*job); ok {
		j.w.send(func(o *outbox) { o.logs = append(o.logs, wire.GiveLog{Lease: j.lease, Text: text}) })
	}
}

// begin makes calls, each on a separate goroutine, in reserved places.
func (w *worker) begin(list []wire.TakenCall, places int) {
	jobs := make([]*job, len(list))
	for i := range list {
		jobs[i] = w.newJob(&list[i])
	}
	w.mu.Lock()
	for _, j := range jobs {
		w.calls[j.lease] = j
	}
	w.running += len(jobs)
	w.asked -= places
	w.mu.Unlock()
	signal(w.freed)
	for i, j := range jobs {
		go j.run(&list[i])
	}
}

func (w *worker) newJob(from *wire.TakenCall) *job {
	j := &job{w: w, lease: from.Lease}
	j.Run, j.Node, j.Operation, j.Participant, j.Attempt = from.Run, from.Step, from.Operation, from.Participant, from.Attempt
	j.Asked = strings.TrimPrefix(from.Key, from.Run+"/") // so that Key returns the key
	if j.Participant != "" {
		j.Asked = strings.TrimSuffix(j.Asked, "/"+j.Participant)
	}
	parent := context.WithValue(w.life, jobKey{}, j)
	if !from.Deadline.IsZero() {
		timed, stop := context.WithDeadline(parent, from.Deadline)
		release := context.AfterFunc(timed, func() { j.End(context.Cause(timed)) })
		parent, j.stop = timed, func() { release(); stop() }
	}
	j.Begin(parent)
	j.HostBy(j)
	return j
}

// endCalls ends the contexts of calls whose operations have not returned in time.
func (w *worker) endCalls() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range w.calls {
		j.End(context.Cause(w.life))
	}
}

// run makes the call, and delivers its result.
func (j *job) run(from *wire.TakenCall) {
	var result call.Result
	ended := func(p *usercode.Panic) { j.end(operation.Settle(nil, nil, p)) }
	err := usercode.CallExit(func() error {
		input, err := j.w.input(j, from)
		if err != nil {
			return err
		}
		j.Input = input
		caller := j.w.callers[j.Operation]
		out, err := caller.Call(&j.Call)
		result = operation.Settle(caller, out, usercode.Finite(err))
		return nil
	}, ended)
	if err != nil {
		result = operation.Settle(nil, nil, err)
	}
	j.end(result)
}

func (j *job) end(result call.Result) {
	if j.stop != nil {
		j.stop()
	}
	j.w.finish(resultOf(j.lease, &result))
}

// input returns the input of a call. It reads a large one from the server.
func (w *worker) input(ctx context.Context, from *wire.TakenCall) (any, error) {
	text := []byte(from.Input)
	if from.InputHref != "" {
		var err error
		if text, err = w.get(ctx, from.InputHref); err != nil {
			return nil, err
		}
	}
	if len(text) == 0 {
		return nil, nil
	}
	return value.ParseInput(text)
}

// outputMax bounds, in bytes, the JSON of an output; no server takes a larger value.
const outputMax = 48 << 20

// resultOf returns a result in the form of its delivery.
func resultOf(lease string, r *call.Result) wire.GiveResult {
	g := wire.GiveResult{Lease: lease}
	output, err := value.JSON(r.Output)
	if err == nil && r.About != nil {
		g.About, err = value.JSON(r.About)
	}
	switch f := r.Failure; {
	case f != nil:
		g.About, g.Error = nil, &wire.GiveError{Code: f.Code, Message: f.Message, Retryable: f.Retryable}
		if f.Details != nil {
			g.Error.Details, _ = value.JSON(f.Details) // an error is valid without its details
		}
		if at := retryAfter(r.RetryAt); at > 0 {
			g.Error.RetryAfter = at
		}
	case err != nil:
		g.About, g.Error = nil, &wire.GiveError{Code: operation.CodeInvalidOutput, Message: err.Error()}
	case len(output)+len(g.About) > outputMax:
		g.About, g.Error = nil, &wire.GiveError{Code: "output_too_large", Message: "the worker's output is larger than any server takes"}
	default:
		g.Output = output
	}
	return g
}

// cancel ends the contexts of calls whose results are not wanted. They keep their places until they return.
func (w *worker) cancel(list []wire.CancelCall) {
	for _, c := range list {
		w.mu.Lock()
		j := w.calls[c.Lease]
		w.mu.Unlock()
		if j != nil {
			j.End(ErrCancelled)
		}
	}
}

// finish passes a result on, and frees the place of its call.
func (w *worker) finish(r wire.GiveResult) {
	w.send(func(o *outbox) {
		o.results = append(o.results, r)
		w.running--
	})
	signal(w.freed)
}

// leave forgets calls whose results the server has. The caller does not hold mu.
func (w *worker) leave(results []wire.GiveResult) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range results {
		delete(w.calls, r.Lease)
	}
	signal(w.freed)
	if len(w.calls) == 0 {
		signal(w.idle)
	}
}

// Report implements operation.Reporter.
func (j *job) Report(p operation.Progress) (<-chan error, error) {
	done := make(chan error, 1)
	payload, err := value.JSON(p.Payload)
	if err != nil {
		return nil, err
	}
	j.w.send(func(o *outbox) {
		o.reports = append(o.reports, report{wire.GiveReport{Lease: j.lease, Number: p.Number, Kind: p.Kind, Payload: payload}, done})
	})
	return done, nil
}

// TakeText implements operation.Room: a worker bounds its calls only.
func (j *job) TakeText(context.Context, int) error { return nil }

// TakeValue implements operation.Room.
func (j *job) TakeValue(context.Context, int) error { return nil }

// Redactor implements operation.Host: workers get no secrets.
func (j *job) Redactor() operation.Redactor { return nil }
