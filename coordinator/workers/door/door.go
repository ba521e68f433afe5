// Package door reads the requests of workers, in the form of package wire, and hands them to the hub.
package door

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/coordinator/workers/wire"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/value"
)

// Limits of the requests of workers.
const (
	GiveMax       = 64 << 20  // bytes of one delivery
	deliveryMax   = 1000      // results, and so on, of one request; also calls that are taken at once
	workerNameMax = 128       // bytes of the name of a worker
	inputHereMax  = 256 << 10 // bytes of an input that comes with its call
)

// Bounds of waiting.
const (
	takeTime = 60 * time.Second // the longest wait for calls, and the default
	giveTime = 60 * time.Second // parts that are not durable by then have to be delivered again
)

// Codes of refusals.
const (
	CodeLease      = "foreign_lease"
	CodeLate       = "late"
	CodeNoWorkers  = "no_workers"
	codeBadRequest = "bad_request"
	codeForbidden  = "forbidden"
	codeShutdown   = "shutdown"
)

// Refusal is an error in a worker's request. Nothing was done.
type Refusal struct {
	Code    string // of docs/errors.md
	Pointer string // a JSON pointer into the request; "": all of it
	Text    string // for people
}

func (r *Refusal) Error() string { return r.Text }

func refuse(code, pointer, format string, args ...any) error {
	return &Refusal{code, pointer, fmt.Sprintf(format, args...)}
}

// Door serves the workers of one token.
type Door struct {
	Hub        *workers.Hub // nil: there are no operations for workers
	Token      string       // its name
	ID         string       // of the token itself, see workers.Worker
	Operations []string     // that the token names
	Any        bool         // it may take calls of all others, too
}

// workerOf returns the worker of that name.
func (d Door) workerOf(name string) (workers.Worker, error) {
	who := workers.Worker{Token: d.Token, ID: d.ID, Name: name}
	switch {
	case d.Hub == nil:
		return who, refuse(CodeNoWorkers, "", "this program has no operations for workers: its engine has no Config.Workers")
	case name == "" || len(name) > workerNameMax:
		return who, refuse(codeBadRequest, "/worker", "a worker has a name of its own, of 1 to %d bytes", workerNameMax)
	}
	if err := document.Visible(name); err != nil {
		return who, refuse(codeBadRequest, "/worker", "worker %v", err)
	}
	return who, nil
}

// Take waits for calls, as workers.Hub.Take does.
func (d Door) Take(ctx context.Context, b *wire.TakeBody) (*wire.TakeAnswer, error) {
	who, err := d.workerOf(b.Worker)
	if err != nil {
		return nil, err
	}
	operations, err := d.operations(b.Operations)
	if err != nil {
		return nil, err
	}
	most := 1
	if b.Max != nil {
		most = *b.Max
	}
	if most < 0 || most > deliveryMax {
		return nil, refuse(codeBadRequest, "/max", "max is a number from 0 to %d", deliveryMax)
	}
	wait := takeTime
	if b.Wait != "" {
		if wait, err = waitOf(b.Wait); err != nil || wait < 0 || wait > takeTime {
			return nil, refuse(codeBadRequest, "/wait", "a wait is a duration such as 30s or PT30S, at most %s", takeTime)
		}
	}
	calls, cancels, err := d.Hub.Take(ctx, who, operations, most, wait)
	if err != nil {
		return nil, shuttingDown(err)
	}
	answer := &wire.TakeAnswer{Calls: make([]wire.TakenCall, 0, len(calls)), Cancel: cancelCalls(cancels)}
	for i := range calls {
		taken, err := takenCall(&calls[i])
		if err != nil {
			return nil, err
		}
		answer.Calls = append(answer.Calls, taken)
	}
	return answer, nil
}

// waitOf reads a duration as Go writes it, or as documents do.
func waitOf(text string) (time.Duration, error) {
	if strings.HasPrefix(text, "P") {
		return duration.Parse(text)
	}
	return time.ParseDuration(text)
}

// operations returns the operations of a take. The token must name each.
func (d Door) operations(wanted []string) ([]string, error) {
	if len(wanted) == 0 {
		wanted = d.Operations
	}
	if len(wanted) == 0 || len(wanted) > deliveryMax {
		return nil, refuse(codeBadRequest, "/operations", "name 1 to %d operations whose calls are wanted", deliveryMax)
	}
	for i, name := range wanted {
		if !d.Any && !slices.Contains(d.Operations, name) {
			return nil, refuse(codeForbidden, fmt.Sprintf("/operations/%d", i),
				"the token does not name this operation: sluice token create --role worker --operation NAME makes one that does")
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(wanted))), nil
}

func takenCall(from *workers.Call) (wire.TakenCall, error) {
	out := wire.TakenCall{
		Lease: from.Lease, Run: from.Run, Step: from.Node, Attempt: from.Attempt, Participant: from.Participant, Operation: from.Operation,
		Key: from.Key(), Deadline: from.Deadline.UTC(), Expires: from.Expires.UTC(),
	}
	input, err := value.JSON(from.Input)
	if err != nil {
		return out, fmt.Errorf("input of %s: %w", out.Key, err)
	}
	if out.Input = input; len(input) > inputHereMax {
		out.Input, out.InputHref = nil, "/v1/worker/input?lease="+url.QueryEscape(from.Lease)
	}
	return out, nil
}

func cancelCalls(from []workers.Cancel) []wire.CancelCall {
	list := make([]wire.CancelCall, 0, len(from))
	for _, c := range from {
		list = append(list, wire.CancelCall{Lease: c.Lease, Reason: c.Reason, Grace: c.Grace.Seconds()})
	}
	return list
}

// Input returns the input of a call that came without it, as JSON.
func (d Door) Input(lease string) (json.RawMessage, error) {
	who, err := d.workerOf("input") // any worker of the token
	if err != nil {
		return nil, err
	}
	input, err := d.Hub.Input(who, lease)
	switch {
	case errors.Is(err, workers.ErrGone):
		return nil, refuse(CodeLate, "", "%v", err)
	case err != nil:
		return nil, refuse(CodeLease, "query/lease", "%v", err)
	}
	return value.JSON(input)
}

// Give takes a delivery, as workers.Hub.Give does, also if the worker does not wait for the answer.
func (d Door) Give(ctx context.Context, b *wire.GiveBody) (*wire.GiveAnswer, error) {
	who, err := d.workerOf(b.Worker)
	if err != nil {
		return nil, err
	}
	delivery, err := deliveryOf(b)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveTime)
	defer cancel()
	ack, err := d.Hub.Give(ctx, who, delivery)
	if place, ok := errors.AsType[*workers.PlaceError](err); ok {
		return nil, refuse(CodeLease, place.Pointer, "%v", place.Err)
	}
	if err != nil {
		return nil, shuttingDown(err)
	}
	answer := &wire.GiveAnswer{Cancel: cancelCalls(ack.Cancel), Late: make([]wire.LateLease, 0, len(ack.Late)), Expires: ack.Expires.UTC()}
	for _, l := range ack.Late {
		answer.Late = append(answer.Late, wire.LateLease(l))
	}
	return answer, nil
}

// deliveryOf reads a delivery.
func deliveryOf(b *wire.GiveBody) (*workers.Delivery, error) {
	if max(len(b.Results), len(b.Reports), len(b.Log), len(b.Alive)) > deliveryMax {
		return nil, refuse(codeBadRequest, "", "a request has at most %d results, reports, texts and leases each", deliveryMax)
	}
	g := &workers.Delivery{Alive: b.Alive}
	for i := range b.Results {
		result, err := resultOf(&b.Results[i], fmt.Sprintf("/results/%d", i))
		if err != nil {
			return nil, err
		}
		g.Results = append(g.Results, workers.Result{Lease: b.Results[i].Lease, Result: result})
	}
	for i, r := range b.Reports {
		payload, err := valueOf(r.Payload, fmt.Sprintf("/reports/%d/payload", i))
		if err != nil {
			return nil, err
		}
		if err := operation.CheckReport(int(r.Number), r.Kind, payload); err != nil {
			return nil, refuse(codeBadRequest, fmt.Sprintf("/reports/%d", i), "%v", err)
		}
		g.Reports = append(g.Reports, workers.Report{Lease: r.Lease, Number: r.Number, Kind: r.Kind, Payload: payload})
	}
	for _, l := range b.Log {
		g.Logs = append(g.Logs, workers.Log{Lease: l.Lease, Text: l.Text})
	}
	return g, nil
}

func resultOf(r *wire.GiveResult, pointer string) (call.Result, error) {
	if r.Error == nil {
		output, err := valueOf(r.Output, pointer+"/output")
		result := call.Result{Output: output}
		if err == nil && len(r.About) > 0 {
			var about any
			about, err = valueOf(r.About, pointer+"/about")
			if result.About, _ = about.(map[string]any); err == nil && result.About == nil && about != nil {
				err = refuse(codeBadRequest, pointer+"/about", "what is said about an output is an object")
			}
		}
		return result, err
	}
	if len(r.Output) > 0 {
		return call.Result{}, refuse(codeBadRequest, pointer, "a result is an output or an error")
	}
	details, err := valueOf(r.Error.Details, pointer+"/error/details")
	if err != nil {
		return call.Result{}, err
	}
	failure := &operation.Error{Code: r.Error.Code, Message: r.Error.Message, Details: details, Permanent: !r.Error.Retryable}
	switch s := r.Error.RetryAfter; {
	case s < 0, s > wire.RetryAfterTime.Seconds():
		return call.Result{}, refuse(codeBadRequest, pointer+"/error/retry_after", "it is 0 to %.0f seconds", wire.RetryAfterTime.Seconds())
	case s > 0:
		failure.RetryAt = time.Now().Add(time.Duration(s * float64(time.Second)))
	}
	return operation.ResultOf(nil, failure), nil
}

// valueOf reads a value of a delivery; a missing one is null.
func valueOf(data json.RawMessage, pointer string) (any, error) {
	if len(data) == 0 {
		return nil, nil
	}
	v, err := value.ParseInput(data)
	if err != nil {
		return nil, refuse(codeBadRequest, pointer, "it is not a value: %v", err)
	}
	return v, nil
}

// shuttingDown returns the error of a closed hub with its code.
func shuttingDown(err error) error {
	if errors.Is(err, workers.ErrClosed) {
		return refuse(codeShutdown, "", "the server shuts down: try again, with the same leases")
	}
	return err
}

// List returns the workers, and the operations that they carry out.
func (d Door) List() (*wire.WorkerList, error) {
	if _, err := d.workerOf("list"); err != nil {
		return nil, err
	}
	list := &wire.WorkerList{Workers: []wire.ListedWorker{}, Operations: []wire.WorkerOperation{}}
	known, demands := d.Hub.List()
	for _, w := range known {
		list.Workers = append(list.Workers, wire.ListedWorker{
			Name: w.Name, Token: w.Token, Operations: w.Operations, Calls: w.Calls, Waits: w.Waits, Seen: w.Seen.UTC(),
		})
	}
	for _, o := range demands {
		list.Operations = append(list.Operations, wire.WorkerOperation{
			Name: o.Operation, Runs: o.Runs, Calls: o.Calls, Since: o.Since.UTC(), Unserved: o.Unserved.UTC(),
		})
	}
	return list, nil
}
