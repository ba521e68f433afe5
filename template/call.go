package template

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// Timing bounds a step's attempts in time and number. The zero value sets no bound and makes one attempt.
type Timing struct {
	Timeout      time.Duration // of one attempt; 0: none
	Retry        *Retry        // nil: one attempt
	OnTimeout    OnTimeout     // after the last attempt. Default: FailOnTimeout
	TotalTimeout time.Duration // of all attempts and their backoffs, from the first attempt on; 0: none
	QueueTimeout time.Duration // of waiting for a worker to take the call; 0: none
	Pos          document.Pos  // where it was written; zero: built in Go
}

// OnTimeout is the effect of a timeout after the last attempt.
type OnTimeout string

// The effects of a final timeout.
const (
	FailOnTimeout  OnTimeout = "fail"           // the step fails with code timeout
	SkipOnTimeout  OnTimeout = "skip"           // the step is skipped, its output is null
	AbortOnTimeout OnTimeout = "abort_workflow" // the run ends as step_timeout
)

// Retry defines how often and when a call is repeated. The delay before attempt n+1 is Backoff × Multiplier^(n−1), at most MaxBackoff.
type Retry struct {
	MaxAttempts int           // in all, the first included; at least 1
	Backoff     time.Duration // before the second attempt; 0: at once
	Multiplier  float64       // at least 1. Default: 1
	MaxBackoff  time.Duration // 0: no ceiling
	Jitter      float64       // share of the delay that varies, in [0, 1]; drawn from a hash, so replays agree. Default: 0
	On          []string      // when not empty: the only codes that are retried
	Never       []string      // codes that are final although marked retryable
	Scope       string        // the participants that a fan-out asks again: ScopeMissing (default) or ScopeAll
	Pos         document.Pos  // where it was written; zero: built in Go
}

// The participants that the retry of a fan-out asks again.
const (
	ScopeMissing = "missing" // those without a usable answer; answers are kept
	ScopeAll     = "all"     // all; earlier answers are dropped
)

// Target selects the participants that a call asks.
type Target struct {
	Resolve      string                 // ResolveStatic, ResolveCapability or ResolveTaskType
	Participants []string               // static: ids, asked in this order
	CapabilityID string                 // capability, task_type. Default of task_type: the step's operation
	Filter       map[string]value.Value // capability: attributes that must be equal
	Limit        int                    // capability: maximum number of participants; 0: no limit
	Pos          document.Pos           // where it was written; zero: built in Go
}

// The ways in which a Target selects participants.
const (
	ResolveStatic     = "static"     // the participants listed in Participants
	ResolveCapability = "capability" // those with a valid passport for a capability when the attempt starts
	ResolveTaskType   = "task_type"  // the first provider of the operation with a valid passport for it
)

// FanIn defines how the answers of several participants become one output.
type FanIn struct {
	Policy       string        // AnyOne (default), All, Quorum or BestOf
	MinResponses int           // quorum: number that suffices; best_of: minimum. any_one: 1
	ScoreField   string        // best_of: RFC 6901 pointer
	ScoreOrder   string        // best_of: "desc" (default) or "asc"
	HedgeAfter   time.Duration // any_one: time without an answer before the next participant is asked; 0: all at once
	Pos          document.Pos  // where it was written; zero: built in Go
}

// The fan-in policies.
const (
	AnyOne = "any_one" // the first usable answer
	All    = "all"     // every answer; one error fails
	Quorum = "quorum"  // at least MinResponses answers
	BestOf = "best_of" // the answer with the best score within the attempt's window
)

// Fulfillment defines the decision whether a completed call has fulfilled its task.
type Fulfillment struct {
	Policy         string          // OutputMatch, ExternalDecision, RequesterConfirmation, Auto or Never
	Source         *DecisionSource // the decider; nil: see Policy
	ResultMatch    *ResultMatch    // reads the decision from an output, or from the source's answer; nil: see Policy
	OnNotFulfilled string          // ThenFail (default), ThenPause, ThenSkip or ThenAbort
	OnError        string          // as OnNotFulfilled, or ThenRetry
	Pos            document.Pos    // where it was written; zero: built in Go
}

// The fulfillment policies.
const (
	OutputMatch           = "output_match"           // by the step's own output
	ExternalDecision      = "external_decision"      // by the decision source
	RequesterConfirmation = "requester_confirmation" // by the requester of the run
	Auto                  = "auto"                   // the answer is enough
	Never                 = "never"                  // only an explicit decision by a person
)

// The values of OnNotFulfilled and OnError. Retry is for OnError alone: it requests the decision again.
const (
	ThenFail  = "fail"
	ThenPause = "pause"
	ThenSkip  = "skip"
	ThenAbort = "abort_workflow"
	ThenRetry = "retry"
)

// DecisionSource is the person or participant that decides.
type DecisionSource struct {
	Kind         string       // DecidedByCapability, DecidedByOperator, DecidedByRequester or DecidedAutomatically
	CapabilityID string       // of DecidedByCapability: a holder of it is called
	Operation    string       // called for the decision. Default of DecidedByCapability: the operation with the capability's name
	Input        value.Value  // of that call, expressions anywhere in it; nil is null
	Timing       *Timing      // of that call; nil: one attempt without a limit
	Pos          document.Pos // where it was written; zero: built in Go
}

// The kinds of decision sources.
const (
	DecidedByCapability  = "capability" // a call to a holder of the capability
	DecidedByOperator    = "operator"   // a person who runs the engine
	DecidedByRequester   = "requester"  // the person who started the run
	DecidedAutomatically = "automatic"  // an operation called for the decision
)

// ResultMatch reads a decision from any JSON value.
type ResultMatch struct {
	Path               string        // RFC 6901 pointer
	FulfilledValues    []value.Value // at Path, any of them means yes
	NotFulfilledValues []value.Value // at Path, any of them means no
	Pos                document.Pos  // where it was written; zero: built in Go
}

// Directory lists the participants that can be targeted.
type Directory struct {
	Participants map[string]value.Value // by id: the value of `participant` in a binding
	Capabilities map[string][]Passport  // by capability id, in order
	Pos          document.Pos           // where it was written; zero: built in Go
}

// Passport states that a participant offers a capability during a period. Without dates it is always valid.
type Passport struct {
	Participant string                 // id, a key of Directory.Participants
	ValidFrom   time.Time              // zero: always
	ValidUntil  time.Time              // zero: for ever
	Revoked     bool                   // not valid, whatever the dates
	Attributes  map[string]value.Value // compared by filters; nil: none
	Pos         document.Pos           // where it was written; zero: built in Go
}

// Binding defines how an operation is called: exactly one field is set.
type Binding struct {
	Command  *Command     // runs a program
	HTTP     *HTTP        // makes a request
	Sleep    *Sleep       // waits for a time
	Wait     *Wait        // waits for a message
	Workflow *Child       // starts a child run
	Value    *Constant    // returns a value
	Fail     *Fail        // fails
	Pos      document.Pos // where it was written; zero: built in Go
}

// Command runs a program. Argv or Shell, not both.
type Command struct {
	Argv   []string          // program and arguments, each with expressions; null is omitted
	Shell  string            // a script for /bin/sh, without expressions
	Stdin  value.Value       // expressions anywhere in it; a value that is not a text is written as JSON; nil: empty
	Env    map[string]string // variables by name, with expressions; null is omitted
	Dir    string            // with expressions; "": the directory of the process
	Output string            // "": {exit_code, stdout, stderr}; "text", "json" or "lines": the contents of stdout
}

// HTTP makes one request.
type HTTP struct {
	Method          string            // default GET, POST with a body
	URL             string            // with expressions
	Headers         map[string]string // by name, with expressions; null is omitted
	Body            value.Value       // expressions anywhere in it; a value that is not a text is sent as JSON; nil: none
	FollowRedirects string            // default FollowSameHost
}

// The redirects that an HTTP request follows. Another port is another host.
const (
	FollowSameHost = "same_host" // those to the same host; any other fails the call
	FollowAny      = "any"       // those to other hosts too: with the method, and without the binding's headers and body
)

// Sleep completes after For: an ISO 8601 duration or an expression that returns one.
type Sleep struct{ For string }

// Wait completes with the payload of the oldest message with that name that no other wait has taken.
type Wait struct{ Message string }

// Child runs another workflow: Path (relative to the file that names it) or Name.
type Child struct {
	Pos        document.Pos // of the one that is set
	Path, Name string       // without expressions; exactly one is set
}

// Fault returns the error that the workflow cannot be run, with the place of the binding. It returns an error within the
// document of the workflow unchanged, because that error has its own place.
func (c *Child) Fault(err error, known []string) error {
	if _, inside := errors.AsType[*document.Error](err); inside {
		return err
	}
	text := cmp.Or(c.Path, c.Name)
	suggestion, _ := expr.Nearest(text, known)
	return &document.Error{Pos: c.Pos, Text: text, Suggestion: suggestion, Err: err,
		Msg: fmt.Sprintf("there is no workflow %q: %v", text, err)}
}

// Constant returns Value, which may contain expressions.
type Constant struct{ Value value.Value }

// Fail fails the call with Code and Message, which may contain expressions. An empty Message means none.
type Fail struct{ Code, Message string }
