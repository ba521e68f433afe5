// Package wire has the messages between workers and servers, as JSON: POST /v1/worker/take and /v1/worker/give.
package wire

import (
	"encoding/json"
	"time"
)

// RetryAfterTime bounds the time for which a worker may delay the next attempt after a failure.
const RetryAfterTime = 365 * 24 * time.Hour

type (
	// TakeBody asks for calls.
	TakeBody struct {
		Worker     string   `json:"worker"`               // the worker's name, of its own choice: other workers have others
		Operations []string `json:"operations,omitempty"` // whose calls; default: those that the token names
		Max        *int     `json:"max,omitempty"`        // at most so many calls; default: 1; 0: none, only cancellations
		Wait       string   `json:"wait,omitempty"`       // how long to wait for the first, such as 30s; default and longest: 60s
	}

	// TakenCall is a call that a worker has taken.
	TakenCall struct {
		Lease       string          `json:"lease"`                 // names the call in deliveries
		Run         string          `json:"run"`                   // id
		Step        string          `json:"step"`                  // key
		Attempt     int32           `json:"attempt"`               // from 1
		Participant string          `json:"participant,omitempty"` // that is asked; "": the call has none
		Operation   string          `json:"operation"`             // name
		Key         string          `json:"key"`                   // idempotency key: the same if the call is asked again
		Input       json.RawMessage `json:"input,omitempty"`       // any JSON
		InputHref   string          `json:"input_href,omitempty"`  // where a large input is read, in its place
		Deadline    time.Time       `json:"deadline,omitzero"`     // when the answer comes too late; absent: never
		Expires     time.Time       `json:"expires"`               // when the call is asked again, unless the lease is alive before
	}

	// TakeAnswer is the calls that a worker has taken.
	TakeAnswer struct {
		Calls  []TakenCall  `json:"calls"`  // maybe none
		Cancel []CancelCall `json:"cancel"` // earlier ones, whose results are no longer wanted
	}

	// CancelCall asks a worker to stop.
	CancelCall struct {
		Lease  string  `json:"lease"`  // of the call
		Reason string  `json:"reason"` // for people
		Grace  float64 `json:"grace"`  // seconds that the worker may take for it
	}

	// GiveBody is a delivery of a worker. It renews each lease that it names.
	GiveBody struct {
		Worker  string       `json:"worker"`            // the worker's name
		Results []GiveResult `json:"results,omitempty"` // ends of calls
		Reports []GiveReport `json:"reports,omitempty"` // of progress, journaled
		Log     []GiveLog    `json:"log,omitempty"`     // texts for the log of the server
		Alive   []string     `json:"alive,omitempty"`   // leases of the calls that the worker works on
	}

	// GiveResult ends a call: with its output, or with an error.
	GiveResult struct {
		Lease  string          `json:"lease"`            // of the call
		Output json.RawMessage `json:"output,omitempty"` // any JSON; default: null
		About  json.RawMessage `json:"about,omitempty"`  // an object with the values that rules of playbooks read besides the output
		Error  *GiveError      `json:"error,omitempty"`  // why there is no output
	}

	// GiveError is the failure of a call.
	GiveError struct {
		Code       string          `json:"code"`                  // that workflows distinguish, and retry by
		Message    string          `json:"message,omitempty"`     // for people
		Details    json.RawMessage `json:"details,omitempty"`     // any JSON
		Retryable  bool            `json:"retryable,omitempty"`   // another attempt may do better
		RetryAfter float64         `json:"retry_after,omitempty"` // seconds before which it is in vain; at most 31536000
	}

	// GiveReport is a report of progress.
	GiveReport struct {
		Lease   string          `json:"lease"`             // of the call
		Number  int32           `json:"number,omitempty"`  // from 1 within the lease; default: one more than the last
		Kind    string          `json:"kind"`              // of the worker's choice
		Payload json.RawMessage `json:"payload,omitempty"` // any JSON
	}

	// GiveLog is text that a worker writes about a call, for the log of the server and for clients that follow the log of the run.
	GiveLog struct {
		Lease string `json:"lease"` // of the call
		Text  string `json:"text"`  // at most 4 KiB of it are kept
	}

	// GiveAnswer acknowledges a delivery: all of it is durable except the late parts.
	GiveAnswer struct {
		Cancel  []CancelCall `json:"cancel"`  // calls whose results are no longer wanted
		Late    []LateLease  `json:"late"`    // parts that do not count
		Expires time.Time    `json:"expires"` // of the leases that were named
	}

	// LateLease has the reason that the delivery for a lease does not count.
	LateLease struct {
		Lease string `json:"lease"` // of the call
		Was   string `json:"was"`   // the status of its step, or another reason
	}
)

// The list of workers, with its parts.
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
		Since    time.Time `json:"since,omitzero"`    // since when the oldest of the runs waits, or longer
		Unserved time.Time `json:"unserved,omitzero"` // since when no worker serves it, at the earliest since this server began; absent: one does
	}
)
