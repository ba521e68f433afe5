package httpapi

import (
	"encoding/json"
	"net/http"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/workers/wire"
)

// Route is a method of a path. The table of them is the source of openapi.json.
type Route struct {
	Method  string  // of HTTP
	Path    string  // as http.ServeMux has it
	Role    Role    // the least that may use it; Nobody: no token is needed, and any name of the server is allowed
	Summary string  // what it does
	Query   []Param // its parameters
	Headers []Param // those that mean something here
	Body    any     // a value of the type of the body; nil: none
	Status  int     // of success; 0: 200
	Answer  any     // a value of the type of the answer; nil: no JSON, or any

	serve func(*exchange) error
}

// Param is a parameter of a query, or a header.
type Param struct{ Name, Summary string }

// Parameters that several routes have.
var (
	atParam  = Param{"at", "as it was then: the number of an event, or an instant as in RFC 3339"}
	ofStep   = Param{"step", "only those about the step with this key"}
	ifMatch  = Param{"If-Match", `the ETag of the run as it was seen, such as "17": if the run has gone on since, the act is refused with the code changed. It is compared just before the act.`}
	idemKey  = Param{"Idempotency-Key", "makes it harmless to repeat the request: at most 256 bytes"}
	prefer   = Param{"Prefer", "wait=SECONDS: answer when the run has ended, or after so many seconds, at most 60"}
	viewOf   = Param{"view", "steps (default): statuses of steps; events: every event, once"}
	after    = Param{"after", "resume behind this id, as Last-Event-ID does"}
	lastSeen = Param{"Last-Event-ID", "the id of the last frame that was read: resume behind it"}
	accept   = Param{"Accept", "text/event-stream, or application/x-ndjson (default): a frame is a line {\"event\":…,\"id\":…,\"data\":…}"}
)

// Bodies of requests.
type (
	// StartBody starts a run.
	StartBody struct {
		Workflow string            `json:"workflow"`         // name of a published workflow
		ID       string            `json:"id,omitempty"`     // of the run; "": a random one
		Input    json.RawMessage   `json:"input,omitempty"`  // any JSON; default: null
		Labels   map[string]string `json:"labels,omitempty"` // names to texts
	}

	// ReasonBody says why something is done.
	ReasonBody struct {
		Reason string `json:"reason,omitempty"` // for people, and journaled
	}

	// MessageBody is a message to a run.
	MessageBody struct {
		Name    string          `json:"name"`              // of the message
		Payload json.RawMessage `json:"payload,omitempty"` // any JSON; default: null
	}

	// PatchBody writes to the context of a playbook's run.
	PatchBody struct {
		Changes json.RawMessage `json:"changes"`          // an object of values by path
		Reason  string          `json:"reason,omitempty"` // for people, and journaled
	}

	// DecideBody decides whether a step's task is done.
	DecideBody struct {
		Decision string `json:"decision"`         // fulfilled or not_fulfilled
		Reason   string `json:"reason,omitempty"` // for people, and journaled
	}

	// RetryBody attempts a step again.
	RetryBody struct {
		Work bool `json:"work,omitempty"` // repeat the work even if only the decision about it is open
	}

	// EmptyBody is a body without keys.
	EmptyBody struct{}
)

// Answers.
type (
	// RunPage is a part of a list of runs.
	RunPage struct {
		Items []*api.Run `json:"items"`          // newest first
		Next  string     `json:"next,omitempty"` // cursor of the next part; "": this is the last
	}

	// StepList is the steps of a run.
	StepList struct {
		Items []*api.Step `json:"items"` // in the order of the workflow
	}

	// CallList is the calls of a run and those around it.
	CallList struct {
		Items []*api.Call `json:"items"` // in no particular order
	}

	// EventPage is a part of the events of a run.
	EventPage struct {
		Items []*api.Event `json:"items"`          // in order
		Next  string       `json:"next,omitempty"` // cursor of the next part; "": this is the last for now
	}

	// VersionAnswer is the version of the server.
	VersionAnswer struct {
		Version string `json:"version"` // as sluice --version prints it
	}

	// HealthAnswer says that the server works.
	HealthAnswer struct {
		Status string `json:"status"` // ok
	}
)

// routes has all routes.
var routes = []Route{
	{Method: "GET", Path: "/v1/runs", Role: Viewer, Summary: "List runs, newest first", Answer: RunPage{}, serve: listRuns, Query: []Param{
		{"q", "a query, such as status:failed label.team:payments"}, {"limit", "at most so many, up to 1000; default 50"},
		{"cursor", "next of the list before"},
	}},
	{Method: "POST", Path: "/v1/runs", Role: Operator, Summary: "Start a run of a published workflow", Body: StartBody{}, Status: 201,
		Answer: api.Run{}, Headers: []Param{idemKey, prefer}, serve: startRun},
	{Method: "GET", Path: "/v1/runs/{run}", Role: Viewer, Summary: "Show a run", Answer: api.Run{}, Query: []Param{atParam},
		Headers: []Param{prefer}, serve: showRun},
	{Method: "DELETE", Path: "/v1/runs/{run}", Role: Admin, Summary: "Delete a run that has ended, and the runs below it", Answer: api.Done{},
		Headers: []Param{ifMatch}, serve: deleteRun},
	{Method: "GET", Path: "/v1/runs/{run}/steps", Role: Viewer, Summary: "Show the steps of a run", Answer: StepList{},
		Query: []Param{atParam}, serve: listSteps},
	{Method: "GET", Path: "/v1/runs/{run}/steps/{key}", Role: Viewer, Summary: "Show a step", Answer: api.Step{}, Query: []Param{atParam},
		serve: showStep},
	{Method: "GET", Path: "/v1/runs/{run}/output", Role: Viewer, Summary: "Read the output of a run: any JSON", serve: readOutput},
	{Method: "GET", Path: "/v1/runs/{run}/steps/{key}/output", Role: Viewer, Summary: "Read the output of a step: any JSON",
		Query: []Param{{"participant", "one of those that the step has asked"}}, serve: readOutput},
	{Method: "GET", Path: "/v1/runs/{run}/events", Role: Viewer, Summary: "Read the events of a run", Answer: EventPage{}, serve: listEvents,
		Query: []Param{ofStep, {"limit", "at most so many, up to 1000; default 100"}, {"cursor", "next of the part before"}}},
	{Method: "GET", Path: "/v1/runs/{run}/explain", Role: Viewer, Summary: "Explain why a run or a step has its status",
		Answer: coordinator.Explanation{}, Query: []Param{{"step", "key of the step; default: the run"}, atParam}, serve: explainRun},
	{Method: "GET", Path: "/v1/runs/{run}/graph", Role: Viewer, Summary: "Show the calls of a run, and those of the runs around it",
		Answer: CallList{}, Query: []Param{atParam}, serve: callGraph},
	{Method: "GET", Path: "/v1/runs/{run}/feed", Role: Viewer, Summary: "Follow a run: a snapshot, then what changes, until it ends",
		Query: []Param{viewOf, after}, Headers: []Param{accept, lastSeen}, serve: feedOfRun},
	act("cancel", "End a run", ReasonBody{}, decode(func(b *ReasonBody, r *api.Request) { r.Reason = b.Reason }), api.Cancel),
	act("pause", "Prevent new starts in a run", ReasonBody{}, decode(func(b *ReasonBody, r *api.Request) { r.Reason = b.Reason }), api.Pause),
	act("resume", "End the pause of a run", EmptyBody{}, decode(func(*EmptyBody, *api.Request) {}), api.Resume),
	act("messages", "Send a message to a run", MessageBody{},
		decode(func(b *MessageBody, r *api.Request) { r.Message, r.Payload = b.Name, b.Payload }), api.Send),
	act("patch", "Write to the context of a playbook's run", PatchBody{},
		decode(func(b *PatchBody, r *api.Request) { r.Payload, r.Reason = b.Changes, b.Reason }), api.Patch),
	act("steps/{key}/retry", "Attempt a step again", RetryBody{}, decode(func(b *RetryBody, r *api.Request) { r.Work = b.Work }), api.Retry),
	act("steps/{key}/abort", "Stop a step", ReasonBody{}, decode(func(b *ReasonBody, r *api.Request) { r.Reason = b.Reason }), api.Abort),
	act("steps/{key}/decide", "Decide whether the task of a step is done", DecideBody{},
		decode(func(b *DecideBody, r *api.Request) { r.Decision, r.Reason = b.Decision, b.Reason }), api.Decide),
	{Method: "GET", Path: "/v1/feed", Role: Viewer, Summary: "Follow all runs of a query: which have changed, and their heads",
		Query: []Param{{"q", "a query; default: all runs"}, after}, Headers: []Param{accept, lastSeen}, serve: feedOfAll},
	{Method: "GET", Path: "/version", Role: Viewer, Summary: "Show the version of the server", Answer: VersionAnswer{}, serve: version},
	{Method: "GET", Path: "/openapi.json", Role: Viewer, Summary: "Describe this API: OpenAPI 3.1", serve: describe},
	{Method: "POST", Path: "/v1/worker/take", Role: Worker, Summary: "Take calls as a worker; if there are none, wait for some", Body: wire.TakeBody{},
		Answer: wire.TakeAnswer{}, serve: takeCalls},
	{Method: "POST", Path: "/v1/worker/give", Role: Worker, Summary: "Give what a worker has: results, reports, texts, signs of life", Body: wire.GiveBody{},
		Answer: wire.GiveAnswer{}, serve: giveResults},
	{Method: "GET", Path: "/v1/worker/input", Role: Worker, Summary: "Read the input of a call that came without it: any JSON",
		Query: []Param{{"lease", "of the call"}}, serve: readInput},
	{Method: "GET", Path: "/v1/workers", Role: Viewer, Summary: "List the workers, and the operations that they carry out", Answer: WorkerList{},
		serve: listWorkers},
	{Method: "GET", Path: "/livez", Summary: "Say that the process answers", Answer: HealthAnswer{}, serve: live},
	{Method: "GET", Path: "/readyz", Summary: "Say that the engine takes requests", Answer: HealthAnswer{}, serve: ready},
}

// act returns the route of a command to a run.
func act(name, summary string, body any, read func(*exchange, *api.Request) error, verb api.Verb) Route {
	r := Route{
		Method: http.MethodPost, Path: "/v1/runs/{run}/" + name, Role: Operator, Summary: summary, Body: body, Answer: api.Done{}, Headers: []Param{ifMatch},
	}
	if verb == api.Send {
		r.Headers = append(r.Headers, idemKey)
	}
	r.serve = func(c *exchange) error { return command(c, verb, read) }
	return r
}

// decode returns a function that reads a body and copies it to a request.
func decode[T any](set func(*T, *api.Request)) func(*exchange, *api.Request) error {
	return func(c *exchange, r *api.Request) error {
		var b T
		if err := c.body(&b); err != nil {
			return err
		}
		set(&b, r)
		return nil
	}
}
