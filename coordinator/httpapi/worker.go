package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/coordinator/workers/wire"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template/value"
)

// Limits of what workers send.
const (
	giveMax       = 64 << 20  // bytes of a body
	giftsMax      = 1000      // results, and so on, of one request; also calls that are taken at once
	workerNameMax = 128       // bytes of the name of a worker
	inputHereMax  = 256 << 10 // bytes of an input that comes with its call
)

// takeTime is the longest wait for calls, and the default.
const takeTime = 60 * time.Second

// What is said about workers.
type (
	// WorkerList is the workers and their operations.
	WorkerList struct {
		Workers    []ListedWorker    `json:"workers"`    // by name
		Operations []WorkerOperation `json:"operations"` // by name
	}

	// ListedWorker is a worker that was heard of in the last minute, or has calls.
	ListedWorker struct {
		Name       string    `json:"name"`       // of its own choice
		Token      string    `json:"token"`      // name of its token
		Operations []string  `json:"operations"` // whose calls it takes
		Calls      int       `json:"calls"`      // that it has
		Waits      bool      `json:"waits"`      // it waits for calls
		Seen       time.Time `json:"seen"`       // when it was last heard of
	}

	// WorkerOperation is an operation that workers carry out.
	WorkerOperation struct {
		Name     string    `json:"name"`              // of the operation
		Runs     int       `json:"runs"`              // that wait for a worker
		Calls    int       `json:"calls"`             // that workers had and have lost: they are asked again
		Since    time.Time `json:"since,omitzero"`    // when the oldest of the runs came
		Unserved time.Time `json:"unserved,omitzero"` // since when no worker serves it; absent: one does
	}
)

// worker returns where calls are taken, and who takes them.
func (c *exchange) worker(name, pointer string) (*workers.Hub, workers.Worker, error) {
	who := workers.Worker{Token: c.who.Name, Name: name}
	hub := c.engine.Workers()
	switch {
	case hub == nil:
		return nil, who, problem(CodeNoWorkers, "this program has no operations for workers: its engine has no Config.Workers")
	case name == "" || len(name) > workerNameMax:
		return nil, who, problem(CodeBadRequest, "a worker has a name of its own, of 1 to %d bytes", workerNameMax).at(pointer)
	}
	return hub, who, nil
}

func takeCalls(c *exchange) error {
	b := wire.TakeBody{Max: 1}
	if err := c.body(&b); err != nil {
		return err
	}
	hub, who, err := c.worker(b.Worker, "/worker")
	if err != nil {
		return err
	}
	operations, err := c.operations(b.Operations)
	if err != nil {
		return err
	}
	if b.Max < 0 || b.Max > giftsMax {
		return problem(CodeBadRequest, "max is a number from 0 to %d", giftsMax).at("/max")
	}
	wait := takeTime
	if b.Wait != "" {
		if wait, err = time.ParseDuration(b.Wait); err != nil || wait < 0 || wait > takeTime {
			return problem(CodeBadRequest, "a wait is a duration such as 30s, at most %s", takeTime).at("/wait")
		}
	}
	c.unhurried()
	calls, cancels, err := hub.Take(c.req.Context(), who, operations, b.Max, wait)
	if err != nil {
		return shuttingDown(err)
	}
	answer := wire.TakeAnswer{Calls: make([]wire.TakenCall, 0, len(calls)), Cancel: cancelCalls(cancels)}
	for i := range calls {
		taken, err := takenCall(&calls[i])
		if err != nil {
			return err
		}
		answer.Calls = append(answer.Calls, taken)
	}
	return c.reply(http.StatusOK, answer)
}

// operations returns the operations of a take, of which the token must name each.
func (c *exchange) operations(wanted []string) ([]string, error) {
	if len(wanted) == 0 {
		wanted = c.who.Operations
	}
	if len(wanted) == 0 || len(wanted) > giftsMax {
		return nil, problem(CodeBadRequest, "name 1 to %d operations whose calls are wanted", giftsMax).at("/operations")
	}
	for i, name := range wanted {
		if c.who.Role == Worker && !slices.Contains(c.who.Operations, name) {
			return nil, problem(CodeForbidden, "the token does not name this operation: sluice token create --role worker --operation NAME makes one that does").
				at(fmt.Sprintf("/operations/%d", i))
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

func readInput(c *exchange) error {
	hub, who, err := c.worker("input", "")
	if err != nil {
		return err
	}
	input, err := hub.Input(who, c.query("lease"))
	switch {
	case errors.Is(err, workers.ErrGone):
		return problem(CodeLate, "%v", err)
	case err != nil:
		return problem(CodeLease, "%v", err).at("query/lease")
	}
	data, err := value.JSON(input)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, json.RawMessage(data))
}

func giveResults(c *exchange) error {
	var b wire.GiveBody
	if err := c.bodyUpTo(giveMax, &b); err != nil {
		return err
	}
	hub, who, err := c.worker(b.Worker, "/worker")
	if err != nil {
		return err
	}
	gift, err := giftOf(&b)
	if err != nil {
		return err
	}
	ctx, cancel := c.lasting()
	defer cancel()
	thanks, err := hub.Give(ctx, who, gift)
	if place, ok := errors.AsType[*workers.PlaceError](err); ok {
		return problem(CodeLease, "%v", place.Err).at(place.Pointer)
	}
	if err != nil {
		return shuttingDown(err)
	}
	answer := wire.GiveAnswer{Cancel: cancelCalls(thanks.Cancel), Late: make([]wire.LateLease, 0, len(thanks.Late)), Expires: thanks.Expires.UTC()}
	for _, l := range thanks.Late {
		answer.Late = append(answer.Late, wire.LateLease(l))
	}
	return c.reply(http.StatusOK, answer)
}

// gift reads what a worker gives.
func giftOf(b *wire.GiveBody) (*workers.Gift, error) {
	if max(len(b.Results), len(b.Reports), len(b.Log), len(b.Alive)) > giftsMax {
		return nil, problem(CodeBadRequest, "a request has at most %d results, reports, texts and leases each", giftsMax)
	}
	g := &workers.Gift{Alive: b.Alive}
	for i := range b.Results {
		result, err := resultOf(&b.Results[i], fmt.Sprintf("/results/%d", i))
		if err != nil {
			return nil, err
		}
		g.Results = append(g.Results, workers.Result{Lease: b.Results[i].Lease, Result: result})
	}
	for i, r := range b.Reports {
		payload, err := given(r.Payload, fmt.Sprintf("/reports/%d/payload", i))
		if err != nil {
			return nil, err
		}
		if err := operation.CheckReport(int(r.Number), r.Kind, payload); err != nil {
			return nil, problem(CodeBadRequest, "%v", err).at(fmt.Sprintf("/reports/%d", i))
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
		output, err := given(r.Output, pointer+"/output")
		result := call.Result{Output: output}
		if err == nil && len(r.About) > 0 {
			var about any
			about, err = given(r.About, pointer+"/about")
			if result.About, _ = about.(map[string]any); err == nil && result.About == nil && about != nil {
				err = problem(CodeBadRequest, "what is said about an output is an object").at(pointer + "/about")
			}
		}
		return result, err
	}
	if len(r.Output) > 0 {
		return call.Result{}, problem(CodeBadRequest, "a result is an output or an error").at(pointer)
	}
	details, err := given(r.Error.Details, pointer+"/error/details")
	if err != nil {
		return call.Result{}, err
	}
	failure := &operation.Error{Code: r.Error.Code, Message: r.Error.Message, Details: details, Permanent: !r.Error.Retryable}
	if s := r.Error.RetryAfter; s > 0 {
		failure.RetryAt = time.Now().Add(time.Duration(min(s, 1e9) * float64(time.Second)))
	}
	return operation.ResultOf(nil, failure), nil
}

// given reads a value that a worker gives; none is null.
func given(data json.RawMessage, pointer string) (any, error) {
	if len(data) == 0 {
		return nil, nil
	}
	v, err := value.ParseInput(data)
	if err != nil {
		return nil, problem(CodeBadRequest, "it is not a value: %v", err).at(pointer)
	}
	return v, nil
}

// shuttingDown gives the error of a hub that has closed the code for it.
func shuttingDown(err error) error {
	if errors.Is(err, workers.ErrClosed) {
		return problem("shutdown", "the server shuts down: try again, with the same leases")
	}
	return err
}

func listWorkers(c *exchange) error {
	hub, _, err := c.worker("list", "")
	if err != nil {
		return err
	}
	list := WorkerList{Workers: []ListedWorker{}, Operations: []WorkerOperation{}}
	known, demands := hub.List()
	for _, w := range known {
		list.Workers = append(list.Workers, ListedWorker{w.Name, w.Token, w.Operations, w.Calls, w.Waits, w.Seen.UTC()})
	}
	for _, d := range demands {
		list.Operations = append(list.Operations, WorkerOperation{d.Operation, d.Runs, d.Calls, d.Since.UTC(), d.Unserved.UTC()})
	}
	return c.reply(http.StatusOK, list)
}
