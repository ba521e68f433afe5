package httpapi

import (
	"encoding/json"
	"net/http"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/draft"
	"github.com/sluiceflow/sluice/coordinator/drawing"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
	"github.com/sluiceflow/sluice/coordinator/httpapi/columns"
	"github.com/sluiceflow/sluice/coordinator/httpapi/jobs"
	"github.com/sluiceflow/sluice/coordinator/httpapi/names"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/coordinator/versions"
	"github.com/sluiceflow/sluice/coordinator/workers/door"
	"github.com/sluiceflow/sluice/coordinator/workers/wire"
)

// Route is a method of a path. The table of them is the source of openapi.json.
type Route struct {
	Method  string  // of HTTP
	Path    string  // as http.ServeMux has it
	Role    Role    // the least that may use it; Nobody: no token is needed
	AnyHost bool    // whatever name of the server the client uses
	Summary string  // what it does
	Query   []Param // its parameters
	Many    string  // those that may be given more than once, with spaces between
	Headers []Param // those that mean something here
	Body    any     // a value of the type of the body; nil: none
	Status  int     // of success; 0: 200
	Large   bool    // the body may be large
	Most    int64   // bytes of the body, if it may be larger still
	Once    bool    // with an Idempotency-Key it is done once: its answer is kept
	Answer  any     // a value of the type of the answer; nil: no JSON, or any

	serve func(*exchange) error
}

// Param is a parameter of a query, or a header.
type Param struct{ Name, Summary string }

// Parameters that several routes have.
var (
	dryParam     = Param{"dry", "true: only say what it would do"}
	cursorParam  = Param{"cursor", "next of the part before"}
	waitParam    = Param{"wait", "true: answer when it has ended"}
	limitParam   = Param{"limit", "at most so many, up to 1000"}
	pointerParam = Param{"pointer", "a JSON pointer: only that part of the output"}
	rangeParam   = Param{"Range", "bytes=FROM-TO: only these of the JSON"}

	atParam  = Param{"at", "as it was then: the number of an event, or an instant as in RFC 3339"}
	ofStep   = Param{"step", "only those about the step with this key"}
	ifMatch  = Param{"If-Match", `the ETag of the run as it was seen, such as "17": if the run has gone on since, the act is refused with the code changed. It is compared just before the act.`}
	behalfOf = Param{names.BehalfHeader, "for whom the owner of the token acts, as a name in UTF-8 with escapes as in a path: the journal and the audit name both, which have at most 256 bytes"}
	idemKey  = Param{"Idempotency-Key", "makes it harmless to repeat the request: at most 256 bytes"}
	prefer   = Param{"Prefer", "wait=SECONDS: answer when the run has ended, or after so many seconds, at most 60"}
	viewOf   = Param{"view", "steps (default): statuses of steps, and how far maps have come; net: of a playbook, its tokens and runs of steps; events: every event, once; log: of one run, what its programs and workers write"}
	openMap  = Param{"open", "of the view steps: key of a map of which the items are shown, too, or of a run of a playbook's step with a loop; * is all"}
	after    = Param{"after", "resume behind this id, as Last-Event-ID does"}
	lastSeen = Param{"Last-Event-ID", "the id of the last frame that was read: resume behind it"}
	accept   = Param{"Accept", "text/event-stream, or application/x-ndjson (default): a frame is a line {\"event\":…,\"id\":…,\"data\":…}"}
)

// Bodies of requests.
type (
	// StartBody starts a run.
	StartBody struct {
		Workflow string            `json:"workflow,omitempty"` // name of a published workflow, unless a document comes along
		ID       string            `json:"id,omitempty"`       // of the run; "": a random one
		Input    json.RawMessage   `json:"input,omitempty"`    // any JSON; default: null
		Labels   map[string]string `json:"labels,omitempty"`   // names to texts
		Show     bool              `json:"show,omitempty"`     // an answer of lines has the document of the workflow, too
		Documents
	}
)

// routes has all routes.
var routes = []Route{
	{Method: "GET", Path: "/v1/runs", Role: Observer, Summary: "List runs, newest first", Answer: RunPage{}, serve: listRuns, Query: []Param{
		{"q", "a query, such as status:failed label.team:payments"}, {"limit", "at most so many, up to 1000; default 50"},
		cursorParam, {"labels", "a JSON object of labels that the runs have"}, {"dry", "true: only explain how the query is carried out"},
	}},
	{Method: "POST", Path: "/v1/runs", Role: Operator, Summary: "Start a run of a published workflow, or of one that comes along", Large: true, Body: StartBody{}, Status: 201, Once: true,
		Answer: api.Run{}, Headers: []Param{idemKey, prefer}, serve: startRun},
	{Method: "GET", Path: "/v1/runs/{run}", Role: Viewer, Summary: "Show a run", Answer: api.Run{}, Query: []Param{atParam, {"document", "true: an answer of lines has the document of the workflow, too"}},
		Headers: []Param{prefer}, serve: showRun},
	{Method: "DELETE", Path: "/v1/runs/{run}", Role: Admin, Summary: "Delete a run that has ended, and the runs below it", Answer: api.Done{},
		Once: true, Query: []Param{dryParam}, Headers: []Param{ifMatch, idemKey}, serve: deleteRun},
	{Method: "GET", Path: "/v1/runs/{run}/steps", Role: Viewer, Summary: "Show the steps of a run", Answer: StepList{},
		Query: []Param{atParam}, serve: listSteps},
	{Method: "GET", Path: "/v1/runs/{run}/steps/{key}", Role: Viewer, Summary: "Show a step", Answer: api.Step{}, Query: []Param{atParam},
		serve: showStep},
	{Method: "GET", Path: "/v1/runs/{run}/output", Role: Viewer, Summary: "Read the output of a run: any JSON", Query: []Param{pointerParam}, Headers: []Param{rangeParam}, serve: readOutput},
	{Method: "GET", Path: "/v1/runs/{run}/steps/{key}/output", Role: Viewer, Summary: "Read the output of a step: any JSON",
		Query: []Param{{"participant", "one of those that the step has asked"}, pointerParam}, Headers: []Param{rangeParam}, serve: readOutput},
	{Method: "GET", Path: "/v1/runs/{run}/events", Role: Viewer, Summary: "Read the events of a run: of values of more than 1 KiB the beginning, and where the whole event is", Answer: EventPage{}, serve: listEvents,
		Query: []Param{ofStep, {"limit", "at most so many, up to 1000; default 100"}, cursorParam}},
	{Method: "GET", Path: "/v1/runs/{run}/events/{seq}", Role: Viewer, Summary: "Show an event of a run with all of its values", Answer: api.Event{}, serve: showEvent},
	{Method: "GET", Path: "/v1/runs/{run}/explain", Role: Viewer, Summary: "Explain why a run or a step has its status",
		Answer: coordinator.Explanation{}, Query: []Param{{"step", "key of the step; default: the run"}, atParam}, serve: explainRun},
	{Method: "GET", Path: "/v1/runs/{run}/graph", Role: Viewer, Summary: "Show the calls of a run, and those of the runs around it",
		Answer: CallList{}, Query: []Param{atParam}, serve: callGraph},
	{Method: "GET", Path: "/v1/runs/{run}/feed", Role: Observer, Summary: "Follow a run: a snapshot, then what changes, until it ends", Many: "open",
		Query: []Param{viewOf, openMap, {"step", "of the view log: only what the calls of this step write"}, after, {"until", "parked: an answer of lines ends, too, when the run cannot go on"}}, Headers: []Param{accept, lastSeen}, serve: feedOfRun},
	act("cancel", "End a run", ReasonBody{}, decode(func(b *ReasonBody, r *api.Request) { r.Reason = b.Reason }), api.Cancel),
	act("pause", "Prevent new starts in a run", ReasonBody{}, decode(func(b *ReasonBody, r *api.Request) { r.Reason = b.Reason }), api.Pause),
	act("resume", "End the pause of a run", EmptyBody{}, decode(func(*EmptyBody, *api.Request) {}), api.Resume),
	act("messages", "Send a message to a run", MessageBody{},
		decode(func(b *MessageBody, r *api.Request) { r.Message, r.Payload = b.Name, b.Payload }), api.Send),
	act("patch", "Write to the context of a playbook's run", PatchBody{},
		decode(func(b *PatchBody, r *api.Request) { r.Payload, r.Reason = b.Changes, b.Reason }), api.Patch),
	act("steps/{key}/retry", "Attempt a step again", RetryBody{}, decode(func(b *RetryBody, r *api.Request) { r.Work, r.NewKey = b.Work, b.NewKey }), api.Retry),
	act("steps/{key}/abort", "Stop a step", ReasonBody{}, decode(func(b *ReasonBody, r *api.Request) { r.Reason = b.Reason }), api.Abort),
	act("steps/{key}/decide", "Decide whether the task of a step is done", DecideBody{},
		decode(func(b *DecideBody, r *api.Request) { r.Decision, r.Reason, r.Payload = b.Decision, b.Reason, b.Payload }), api.Decide),
	{Method: "GET", Path: "/v1/feed", Role: Observer, Summary: "Follow runs: those of a query by their heads, and those that are named each by itself", Many: "run open",
		Query: []Param{{"q", "a query; default: all runs, unless some are named"}, {"run", "id of a run that is followed as its own feed does; at most 64"}, viewOf, openMap, after}, Headers: []Param{accept, lastSeen}, serve: feedOfAll},
	{Method: "GET", Path: "/v1/counts", Role: Observer, Summary: "Count the runs of a query by status, and by what they wait for", Answer: query.Counts{},
		Query: []Param{{"q", "a query; default: all runs"}}, serve: countRuns},
	{Method: "GET", Path: "/v1/runs/{run}/history", Role: Observer, Summary: "Show the events of a run as columns", Answer: columns.History{},
		Query: []Param{cursorParam}, serve: history},
	{Method: "GET", Path: "/v1/runs/{run}/views", Role: Viewer, Summary: "Show what has happened in a playbook or a world", Answer: ViewList{},
		Query: []Param{ofStep, cursorParam}, serve: listViews},
	{Method: "GET", Path: "/v1/runs/{run}/cells", Role: Viewer, Summary: "List the cells of a world", Answer: CellList{}, Query: []Param{
		{"machine", "only those of this one"}, {"status", "failed, waiting, running, completed or paused"}, {"if", "only those for which this condition holds"},
		{"index", "NAME=VALUE: only those that have the value in that index"}, {"cell", "only the one with this address"}, limitParam,
	}, serve: listCells},
	{Method: "GET", Path: "/v1/runs/{run}/cells/{cell}", Role: Viewer, Summary: "Show a cell of a world", Answer: api.Cell{},
		Query: []Param{atParam, {"await", "answer when this condition holds for it"}}, serve: showCell},
	{Method: "POST", Path: "/v1/runs/{run}/rerun", Role: Operator, Summary: "Start a new run that keeps results of a run", Body: RerunBody{}, Large: true,
		Once: true, Status: 201, Answer: api.Done{}, Query: []Param{dryParam}, Headers: []Param{ifMatch, idemKey}, serve: rerun},
	{Method: "POST", Path: "/v1/runs/{run}/move", Role: Operator, Summary: "Have a run go on under another workflow: the differences of the answer are those to come",
		Body: MoveBody{}, Large: true, Once: true, Answer: api.Shadowed{}, Query: []Param{dryParam}, Headers: []Param{ifMatch, idemKey}, serve: moveRun},
	{Method: "POST", Path: "/v1/runs/{run}/shadow", Role: Viewer, Summary: "Say how a run would have gone by another workflow", Body: ShadowBody{},
		Large: true, Answer: ShadowList{}, serve: shadow},
	{Method: "POST", Path: "/v1/shadow", Role: Viewer, Summary: "Say how the runs of a query would have gone by another workflow", Body: ShadowBody{},
		Large: true, Answer: ShadowList{}, serve: shadow},
	{Method: "GET", Path: "/v1/diff", Role: Viewer, Summary: "Compare a published workflow with another one, and show the effect on open runs",
		Answer: versions.Diff{}, Query: []Param{{"from", "NAME or NAME@NUMBER"}, {"to", "NAME or NAME@NUMBER"}}, serve: diff},
	{Method: "POST", Path: "/v1/diff", Role: Author, Summary: "Say how workflows differ of which some come along", Body: DiffBody{}, Large: true,
		Answer: versions.Diff{}, serve: diffDocuments},
	{Method: "GET", Path: "/v1/workflows", Role: Observer, Summary: "List the published workflows, by name", Answer: WorkflowPage{},
		Query: []Param{{"begins", "only those whose name begins so"}, limitParam, cursorParam}, serve: listWorkflows},
	{Method: "POST", Path: "/v1/workflows", Role: Author, Summary: "Make a workflow the newest of its name", Body: PublishBody{}, Large: true, Once: true,
		Answer: api.Done{}, Query: []Param{dryParam}, Headers: []Param{idemKey}, serve: publish},
	{Method: "GET", Path: "/v1/workflows/{name}", Role: Viewer, Summary: "Show the newest version of a workflow", Answer: Definition{}, serve: showWorkflow},
	{Method: "GET", Path: "/v1/workflows/{name}/versions", Role: Viewer, Summary: "List the versions of a workflow, newest first", Answer: VersionPage{},
		Query: []Param{limitParam, cursorParam}, serve: listVersions},
	{Method: "GET", Path: "/v1/workflows/{name}/versions/{hash}", Role: Viewer, Summary: "Show a version of a workflow", Answer: Definition{},
		serve: showWorkflow},
	{Method: "POST", Path: "/v1/check", Role: Author, Summary: "Check a document: its faults, its drawing and the possible ends of its runs; nothing is kept",
		Large: true, Body: CheckBody{}, Answer: draft.Check{}, serve: checkDraft},
	{Method: "GET", Path: "/v1/workflows/{name}/versions/{hash}/layout", Role: Viewer, Summary: "Say where the steps of a workflow stand when it is drawn",
		Answer: drawing.Drawing{}, serve: drawWorkflow},
	{Method: "GET", Path: "/v1/decisions", Role: Viewer, Summary: "List the open decisions", Answer: DecisionPage{},
		Query: []Param{{"q", "a query; default: all runs"}, limitParam, cursorParam}, serve: listDecisions},
	{Method: "GET", Path: "/v1/decisions/{id}", Role: Viewer, Summary: "Show a task that a person is to decide about", Answer: Decision{},
		serve: showDecision},
	{Method: "POST", Path: "/v1/decisions/{id}", Role: Operator, Summary: "Decide", Body: DecideBody{}, Once: true, Answer: api.Done{},
		Query: []Param{dryParam}, Headers: []Param{ifMatch, idemKey}, serve: decide},
	{Method: "GET", Path: "/v1/bulk", Role: Viewer, Summary: "List the acts on many runs, newest first", Answer: ActList{}, serve: listActs},
	{Method: "POST", Path: "/v1/bulk", Role: Operator, Summary: "Begin to act on many runs", Body: BulkBody{}, Large: true, Once: true, Status: 202, Answer: api.Act{},
		Query: []Param{dryParam}, Headers: []Param{idemKey}, serve: beginBulk},
	{Method: "GET", Path: "/v1/bulk/{id}", Role: Viewer, Summary: "Show an act on many runs, and what it has done to each", Answer: ActAnswer{},
		Query: []Param{waitParam}, serve: showAct},
	{Method: "DELETE", Path: "/v1/bulk/{id}", Role: Operator, Summary: "Stop an act on many runs", Answer: api.Act{}, Once: true, Query: []Param{dryParam},
		Headers: []Param{idemKey}, serve: stopAct},
	{Method: "GET", Path: "/v1/keep", Role: Viewer, Summary: "Show how long runs are kept that have ended", Answer: RuleList{}, serve: listRules},
	{Method: "POST", Path: "/v1/keep", Role: Admin, Summary: "Set how long runs are kept that have ended", Body: KeepBody{}, Once: true, Answer: api.Done{},
		Query: []Param{dryParam}, Headers: []Param{idemKey}, serve: setRule},
	{Method: "POST", Path: "/v1/gc", Role: Admin, Summary: "Delete expired runs and unused data", Body: CollectBody{}, Answer: CollectAnswer{}, Once: true,
		Query: []Param{dryParam}, Headers: []Param{idemKey}, serve: collect},
	{Method: "GET", Path: "/v1/export", Role: Admin, Summary: "Export runs with all that they need: lines of JSON", Query: []Param{
		{"q", "a query; default: all runs"}, {"runs", "in its place a JSON list of ids"},
	}, serve: export},
	{Method: "POST", Path: "/v1/import", Role: Admin, Summary: "Take in the runs of such lines, of at most 1 GiB", Answer: ImportList{}, serve: importRuns},
	{Method: "POST", Path: "/v1/backup", Role: Admin, Summary: "Begin to copy the journal, and to read the copy back", Body: jobs.BackupBody{}, Once: true, Status: 202, Answer: jobs.Job{},
		Headers: []Param{idemKey}, serve: beginBackup},
	{Method: "GET", Path: "/v1/backup/{id}", Role: Admin, Summary: "Show a backup", Answer: jobs.Job{}, Query: []Param{waitParam}, serve: showJob(jobs.Backup)},
	{Method: "POST", Path: "/v1/doctor", Role: Admin, Summary: "Begin to look for faults in the journal: in a copy, while the runs go on", Body: EmptyBody{}, Once: true, Status: 202,
		Answer: jobs.Job{}, Headers: []Param{idemKey}, serve: beginDoctor},
	{Method: "GET", Path: "/v1/doctor/{id}", Role: Admin, Summary: "Show what was found", Answer: jobs.Job{}, Query: []Param{waitParam}, serve: showJob(jobs.Doctor)},
	{Method: "GET", Path: "/v1/audit", Role: Admin, Summary: "List the audited requests, newest first", Answer: audit.Page{}, serve: listAudit, Query: []Param{
		{"kind", "only act, refused, login, logout, token.created or token.revoked"}, {"actor", "only those of this token"}, {"run", "only those about this run"}, limitParam, cursorParam,
	}},
	act("cells/{cell}/pause", "Hold a cell of a world", ReasonBody{}, decode(func(b *ReasonBody, r *api.Request) { r.Reason = b.Reason }), api.Pause),
	act("cells/{cell}/resume", "Let a cell of a world go on", EmptyBody{}, decode(func(*EmptyBody, *api.Request) {}), api.Resume),
	act("snapshot", "Keep the state of a world as content", EmptyBody{}, decode(func(*EmptyBody, *api.Request) {}), api.Keep),
	act("sweep", "Delete what the last two snapshots of a world do not need", SweepBody{}, decode(func(b *SweepBody, r *api.Request) { r.Events = b.Events }), api.Sweep),
	{Method: "GET", Path: "/v1/me", Role: Observer, Summary: "Show who makes the request", Answer: Me{}, serve: showMe},
	{Method: "GET", Path: "/login", Summary: "Log in a browser by an address that the server has printed, once", Status: 303,
		Query: []Param{{"key", "of the address"}}, serve: acceptInvitation},
	{Method: "GET", Path: "/v1/session", Summary: "Show the browser's session; without one its role is nobody", Answer: Me{}, serve: showSession},
	{Method: "POST", Path: "/v1/session", Summary: "Log in a browser with a token: a cookie names it from then on", Body: LoginBody{}, Answer: Me{}, serve: logIn},
	{Method: "DELETE", Path: "/v1/session", Summary: "Log out the browser", Answer: Me{}, serve: logOut},
	{Method: "GET", Path: "/version", Role: Observer, Summary: "Show the version of the server", Answer: VersionAnswer{}, serve: version},
	{Method: "GET", Path: "/metrics", Role: Observer, Summary: "Show the metrics of the server, as Prometheus reads them", serve: showMetrics},
	{Method: "GET", Path: "/openapi.json", Role: Observer, Summary: "Describe this API: OpenAPI 3.1", serve: describe},
	{Method: "POST", Path: "/v1/worker/take", Role: Worker, Summary: "Take calls as a worker; if there are none, wait for some", Body: wire.TakeBody{},
		Answer: wire.TakeAnswer{}, serve: worker(door.Door.Take)},
	{Method: "POST", Path: "/v1/worker/give", Role: Worker, Summary: "Deliver results, reports, texts and signs of life of a worker", Body: wire.GiveBody{}, Most: door.GiveMax,
		Answer: wire.GiveAnswer{}, serve: worker(door.Door.Give)},
	{Method: "GET", Path: "/v1/worker/input", Role: Worker, Summary: "Read the input of a call that came without it: any JSON",
		Query: []Param{{"lease", "of the call"}}, serve: inputOfCall},
	{Method: "GET", Path: "/v1/workers", Role: Viewer, Summary: "List the workers, and the operations that they carry out", Answer: wire.WorkerList{},
		serve: worker(listWorkers)},
	{Method: "GET", Path: "/livez", AnyHost: true, Summary: "Say that the process answers", Answer: HealthAnswer{}, serve: live},
	{Method: "GET", Path: "/readyz", AnyHost: true, Summary: "Say that the engine takes requests", Answer: HealthAnswer{}, serve: ready},
}

// act returns the route of a command to a run.
func act(name, summary string, body any, read func(*exchange, *api.Request) error, verb api.Verb) Route {
	r := Route{
		Method: http.MethodPost, Path: "/v1/runs/{run}/" + name, Role: Operator, Summary: summary, Body: body, Answer: api.Done{}, Query: []Param{dryParam}, Headers: []Param{ifMatch, idemKey},
		Once: true,
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
