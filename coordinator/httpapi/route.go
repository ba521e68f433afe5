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
	Preview any     // the same, of a preview, if its status is not that of the act

	serve func(*exchange) error
}

// Param is a parameter of a query, or a header.
type Param struct{ Name, Summary string }

// Parameters that several routes have.
var (
	dryParam     = Param{"dry", "true: only report the effect"}
	cursorParam  = Param{"cursor", "the member next of the previous page"}
	waitParam    = Param{"wait", "true: answer when the act or the job has ended"}
	limitParam   = Param{"limit", "the largest number of items, up to 1000"}
	pointerParam = Param{"pointer", "a JSON pointer to the part of the output to return"}
	rangeParam   = Param{"Range", "bytes=FROM-TO: only these bytes of the JSON"}

	atParam  = Param{"at", "the past state to show: the number of an event, or an RFC 3339 instant"}
	ofStep   = Param{"step", "only the entries about the step with this key"}
	ifMatch  = Param{"If-Match", `the ETag of the state on which the act is based, such as "17": if the run has gone on since, the act is refused with the code changed. The comparison takes place just before the act.`}
	behalfOf = Param{names.BehalfHeader, "the name of the person for whom the owner of the token acts, in UTF-8 with escapes as in a path: the journal and the audit have both names. The actor, TOKEN on_behalf_of NAME, has at most 256 bytes"}
	idemKey  = Param{"Idempotency-Key", "a key of at most 256 bytes, with which the request can be repeated safely"}
	prefer   = Param{"Prefer", "wait=SECONDS: answer when the run has ended, or after this number of seconds, at most 60"}
	viewOf   = Param{"view", "steps (default): the statuses of steps, and the progress of maps; net: the tokens and step-runs of a playbook; events: every event, once; log: the output of the programs and workers of one run"}
	openMap  = Param{"open", "in the view steps: the key of a map, or of a step-run with a loop, to show with its items; * means all"}
	after    = Param{"after", "resume after this id, as with Last-Event-ID"}
	lastSeen = Param{"Last-Event-ID", "the id of the last frame that the client has read: resume after it"}
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
		{"q", "a query, such as status:failed label.team:payments"}, {"limit", "the largest number of items, up to 1000; default 50"},
		cursorParam, {"labels", "a JSON object of labels that the runs have"}, {"dry", "true: only explain how the query would be carried out"},
	}},
	{Method: "POST", Path: "/v1/runs", Role: Operator, Summary: "Start a run of a published workflow, or of a workflow in the request", Large: true, Body: StartBody{}, Status: 201, Once: true,
		Answer: api.Run{}, Headers: []Param{idemKey, prefer}, serve: startRun},
	{Method: "GET", Path: "/v1/runs/{run}", Role: Viewer, Summary: "Show a run", Answer: api.Run{}, Query: []Param{atParam, {"document", "true: an answer of lines also has the document of the workflow"}},
		Headers: []Param{prefer}, serve: showRun},
	{Method: "DELETE", Path: "/v1/runs/{run}", Role: Admin, Summary: "Delete a run that has ended, with the runs that it has started", Answer: api.Done{},
		Once: true, Query: []Param{dryParam}, Headers: []Param{ifMatch, idemKey}, serve: deleteRun},
	{Method: "GET", Path: "/v1/runs/{run}/steps", Role: Viewer, Summary: "Show the steps of a run", Answer: StepList{},
		Query: []Param{atParam}, serve: listSteps},
	{Method: "GET", Path: "/v1/runs/{run}/steps/{key}", Role: Viewer, Summary: "Show a step", Answer: api.Step{}, Query: []Param{atParam},
		serve: showStep},
	{Method: "GET", Path: "/v1/runs/{run}/output", Role: Viewer, Summary: "Read the output of a run: any JSON", Query: []Param{pointerParam}, Headers: []Param{rangeParam}, serve: readOutput},
	{Method: "GET", Path: "/v1/runs/{run}/steps/{key}/output", Role: Viewer, Summary: "Read the output of a step: any JSON",
		Query: []Param{{"participant", "a participant that the step has asked: only its answer"}, pointerParam}, Headers: []Param{rangeParam}, serve: readOutput},
	{Method: "GET", Path: "/v1/runs/{run}/events", Role: Viewer, Summary: "Read the events of a run; an event with a value above 1 KiB has the beginning of the value, and the address of the whole event", Answer: EventPage{}, serve: listEvents,
		Query: []Param{ofStep, {"limit", "the largest number of items, up to 1000; default 100"}, cursorParam}},
	{Method: "GET", Path: "/v1/runs/{run}/events/{seq}", Role: Viewer, Summary: "Show an event of a run with all of its values", Answer: api.Event{}, serve: showEvent},
	{Method: "GET", Path: "/v1/runs/{run}/explain", Role: Viewer, Summary: "Explain why a run or a step has its status",
		Answer: coordinator.Explanation{}, Query: []Param{{"step", "key of the step; default: the run"}, atParam}, serve: explainRun},
	{Method: "GET", Path: "/v1/runs/{run}/graph", Role: Viewer, Summary: "Show the calls of a run, and of the runs above and below it",
		Answer: CallList{}, Query: []Param{atParam}, serve: callGraph},
	{Method: "GET", Path: "/v1/runs/{run}/feed", Role: Observer, Summary: "Follow a run: a snapshot, then the changes, until the run ends", Many: "open",
		Query: []Param{viewOf, openMap, {"step", "in the view log: only the output of the calls of this step"}, after, {"until", "parked: an answer of lines also ends when the run cannot go on"}}, Headers: []Param{accept, lastSeen}, serve: feedOfRun},
	act("cancel", "End a run", ReasonBody{}, decode(func(b *ReasonBody, r *api.Request) { r.Reason = b.Reason }), api.Cancel),
	act("pause", "Prevent new starts in a run", ReasonBody{}, decode(func(b *ReasonBody, r *api.Request) { r.Reason = b.Reason }), api.Pause),
	act("resume", "End the pause of a run", EmptyBody{}, decode(func(*EmptyBody, *api.Request) {}), api.Resume),
	act("messages", "Send a message to a run", MessageBody{},
		decode(func(b *MessageBody, r *api.Request) { r.Message, r.Payload, r.Same = b.Name, b.Payload, true }), api.Send),
	act("patch", "Write to the context of a playbook's run", PatchBody{},
		decode(func(b *PatchBody, r *api.Request) { r.Payload, r.Reason = b.Changes, b.Reason }), api.Patch),
	act("steps/{key}/retry", "Make a new attempt of a step", RetryBody{}, decode(func(b *RetryBody, r *api.Request) { r.Work, r.NewKey = b.Work, b.NewKey }), api.Retry),
	act("steps/{key}/abort", "Stop a step", ReasonBody{}, decode(func(b *ReasonBody, r *api.Request) { r.Reason = b.Reason }), api.Abort),
	act("steps/{key}/decide", "Decide whether the task of a step is done", DecideBody{},
		decode(func(b *DecideBody, r *api.Request) { r.Decision, r.Reason, r.Payload = b.Decision, b.Reason, b.Payload }), api.Decide),
	{Method: "GET", Path: "/v1/feed", Role: Observer, Summary: "Follow runs: the heads of the runs of a query, and each named run as its own feed does", Many: "run open",
		Query: []Param{{"q", "a query; default: all runs, unless some are named"}, {"run", "the id of a run to follow as its own feed does; at most 64"}, viewOf, openMap, after}, Headers: []Param{accept, lastSeen}, serve: feedOfAll},
	{Method: "GET", Path: "/v1/counts", Role: Observer, Summary: "Count the runs of a query by status, and by their waits", Answer: query.Counts{},
		Query: []Param{{"q", "a query; default: all runs"}}, serve: countRuns},
	{Method: "GET", Path: "/v1/runs/{run}/history", Role: Observer, Summary: "Show the events of a run as columns", Answer: columns.History{},
		Query: []Param{cursorParam}, serve: history},
	{Method: "GET", Path: "/v1/runs/{run}/views", Role: Viewer, Summary: "Show the occurrences in the net of a playbook, or the results of the steps of a world", Answer: ViewList{},
		Query: []Param{ofStep, cursorParam}, serve: listViews},
	{Method: "GET", Path: "/v1/runs/{run}/cells", Role: Viewer, Summary: "List the cells of a world", Answer: CellList{}, Query: []Param{
		{"machine", "only the cells of this machine"}, {"status", "failed, waiting, running, completed or paused"}, {"if", "only the cells for which this condition holds"},
		{"index", "NAME=VALUE: only the cells with this value in this index"}, {"cell", "only the cell with this address"}, limitParam,
	}, serve: listCells},
	{Method: "GET", Path: "/v1/runs/{run}/cells/{cell}", Role: Viewer, Summary: "Show a cell of a world", Answer: api.Cell{},
		Query: []Param{atParam, {"await", "answer when this condition holds for the cell"}}, serve: showCell},
	{Method: "POST", Path: "/v1/runs/{run}/rerun", Role: Operator, Summary: "Start a new run that keeps results of a run", Body: RerunBody{}, Large: true,
		Once: true, Status: 201, Answer: api.Done{}, Preview: RerunPlan{}, Query: []Param{dryParam}, Headers: []Param{ifMatch, idemKey}, serve: rerun},
	{Method: "POST", Path: "/v1/runs/{run}/move", Role: Operator, Summary: "Move a run to another workflow; the answer has the differences from here on",
		Body: MoveBody{}, Large: true, Once: true, Answer: api.Shadowed{}, Query: []Param{dryParam}, Headers: []Param{ifMatch, idemKey}, serve: moveRun},
	{Method: "POST", Path: "/v1/runs/{run}/shadow", Role: Viewer, Summary: "Compare a run with a replay under another workflow", Body: ShadowBody{},
		Large: true, Answer: ShadowList{}, serve: shadow},
	{Method: "POST", Path: "/v1/shadow", Role: Viewer, Summary: "Compare the runs of a query with replays under another workflow", Body: ShadowBody{},
		Large: true, Answer: ShadowList{}, serve: shadow},
	{Method: "GET", Path: "/v1/diff", Role: Viewer, Summary: "Compare a published workflow with another one, and show the effect on open runs",
		Answer: versions.Diff{}, Query: []Param{{"from", "NAME or NAME@NUMBER"}, {"to", "NAME or NAME@NUMBER"}}, serve: diff},
	{Method: "POST", Path: "/v1/diff", Role: Author, Summary: "Compare workflows in the request with each other, or with published ones", Body: DiffBody{}, Large: true,
		Answer: versions.Diff{}, serve: diffDocuments},
	{Method: "GET", Path: "/v1/workflows", Role: Observer, Summary: "List the published workflows, by name", Answer: WorkflowPage{},
		Query: []Param{{"begins", "only the workflows whose names begin with this"}, limitParam, cursorParam}, serve: listWorkflows},
	{Method: "POST", Path: "/v1/workflows", Role: Author, Summary: "Publish a workflow as the newest version of its name", Body: PublishBody{}, Large: true, Once: true,
		Answer: api.Done{}, Query: []Param{dryParam}, Headers: []Param{idemKey}, serve: publish},
	{Method: "GET", Path: "/v1/workflows/{name}", Role: Viewer, Summary: "Show the newest version of a workflow", Answer: Definition{}, serve: showWorkflow},
	{Method: "GET", Path: "/v1/workflows/{name}/versions", Role: Viewer, Summary: "List the versions of a workflow, newest first", Answer: VersionPage{},
		Query: []Param{limitParam, cursorParam}, serve: listVersions},
	{Method: "GET", Path: "/v1/workflows/{name}/versions/{hash}", Role: Viewer, Summary: "Show a version of a workflow", Answer: Definition{},
		serve: showWorkflow},
	{Method: "POST", Path: "/v1/check", Role: Author, Summary: "Check a document without storing it: its faults, its drawing and the possible ends of its runs",
		Large: true, Body: CheckBody{}, Answer: draft.Check{}, serve: checkDraft},
	{Method: "GET", Path: "/v1/workflows/{name}/versions/{hash}/layout", Role: Viewer, Summary: "Show the positions of the steps in the drawing of a workflow",
		Answer: drawing.Drawing{}, serve: drawWorkflow},
	{Method: "GET", Path: "/v1/decisions", Role: Viewer, Summary: "List the open decisions", Answer: DecisionPage{},
		Query: []Param{{"q", "a query; default: all runs"}, limitParam, cursorParam}, serve: listDecisions},
	{Method: "GET", Path: "/v1/decisions/{id}", Role: Viewer, Summary: "Show a task that waits for the decision of a person", Answer: Decision{},
		serve: showDecision},
	{Method: "POST", Path: "/v1/decisions/{id}", Role: Operator, Summary: "Decide whether a task is done", Body: DecideBody{}, Once: true, Answer: api.Done{},
		Query: []Param{dryParam}, Headers: []Param{ifMatch, idemKey}, serve: decide},
	{Method: "GET", Path: "/v1/bulk", Role: Viewer, Summary: "List the acts on many runs, newest first", Answer: ActList{}, serve: listActs},
	{Method: "POST", Path: "/v1/bulk", Role: Operator, Summary: "Start an act on many runs", Body: BulkBody{}, Large: true, Once: true, Status: 202, Answer: api.Act{},
		Preview: api.ActPreview{}, Query: []Param{dryParam}, Headers: []Param{idemKey}, serve: beginBulk},
	{Method: "GET", Path: "/v1/bulk/{id}", Role: Viewer, Summary: "Show an act on many runs, with its outcome for each run", Answer: ActAnswer{},
		Query: []Param{waitParam}, serve: showAct},
	{Method: "DELETE", Path: "/v1/bulk/{id}", Role: Operator, Summary: "Stop an act on many runs", Answer: api.Act{}, Once: true, Query: []Param{dryParam},
		Headers: []Param{idemKey}, serve: stopAct},
	{Method: "GET", Path: "/v1/keep", Role: Viewer, Summary: "Show how long runs are kept after they have ended", Answer: RuleList{}, serve: listRules},
	{Method: "POST", Path: "/v1/keep", Role: Admin, Summary: "Set how long runs are kept after they have ended", Body: KeepBody{}, Once: true, Answer: api.Done{},
		Query: []Param{dryParam}, Headers: []Param{idemKey}, serve: setRule},
	{Method: "POST", Path: "/v1/gc", Role: Admin, Summary: "Delete expired runs and unused data", Body: CollectBody{}, Answer: CollectAnswer{}, Once: true,
		Query: []Param{dryParam}, Headers: []Param{idemKey}, serve: collect},
	{Method: "GET", Path: "/v1/export", Role: Admin, Summary: "Export runs with everything that they need, as lines of JSON", Query: []Param{
		{"q", "a query; default: all runs"}, {"runs", "instead of a query: the ids of runs, as a JSON list"},
	}, serve: export},
	{Method: "POST", Path: "/v1/import", Role: Admin, Summary: "Import exported runs: lines of JSON, at most 1 GiB", Answer: ImportList{}, serve: importRuns},
	{Method: "POST", Path: "/v1/backup", Role: Admin, Summary: "Start a backup: the journal is copied, and the copy is read back", Body: jobs.BackupBody{}, Once: true, Status: 202, Answer: jobs.Job{},
		Headers: []Param{idemKey}, serve: beginBackup},
	{Method: "GET", Path: "/v1/backup/{id}", Role: Admin, Summary: "Show a backup", Answer: jobs.Job{}, Query: []Param{waitParam}, serve: showJob(jobs.Backup)},
	{Method: "POST", Path: "/v1/doctor", Role: Admin, Summary: "Start a search for faults in a copy of the journal, while the runs go on", Body: EmptyBody{}, Once: true, Status: 202,
		Answer: jobs.Job{}, Headers: []Param{idemKey}, serve: beginDoctor},
	{Method: "GET", Path: "/v1/doctor/{id}", Role: Admin, Summary: "Show the result of a search for faults", Answer: jobs.Job{}, Query: []Param{waitParam}, serve: showJob(jobs.Doctor)},
	{Method: "GET", Path: "/v1/audit", Role: Admin, Summary: "List the audited requests, newest first", Answer: audit.Page{}, serve: listAudit, Query: []Param{
		{"kind", "only requests of this kind: act, refused, login, logout, token.created, token.revoked or damaged"}, {"actor", "only requests with the token of this name"}, {"run", "only requests about this run"}, limitParam, cursorParam,
	}},
	act("cells/{cell}/pause", "Pause a cell of a world", ReasonBody{}, decode(func(b *ReasonBody, r *api.Request) { r.Reason = b.Reason }), api.Pause),
	act("cells/{cell}/resume", "End the pause of a cell of a world", EmptyBody{}, decode(func(*EmptyBody, *api.Request) {}), api.Resume),
	act("snapshot", "Make a snapshot of the state of a world", EmptyBody{}, decode(func(*EmptyBody, *api.Request) {}), api.Keep),
	act("sweep", "Delete the content and the events of a world that its last two snapshots do not need", SweepBody{}, decode(func(b *SweepBody, r *api.Request) { r.Events = b.Events }), api.Sweep),
	{Method: "GET", Path: "/v1/me", Role: Observer, Summary: "Show the identity of the caller", Answer: Me{}, serve: showMe},
	{Method: "GET", Path: "/login", Summary: "Log in a browser with an address that the server has printed; it works once", Status: 303,
		Query: []Param{{"key", "the key in the address"}}, serve: acceptInvitation},
	{Method: "GET", Path: "/v1/session", Summary: "Show the browser's session; without one its role is nobody", Answer: Me{}, serve: showSession},
	{Method: "POST", Path: "/v1/session", Summary: "Log in a browser with a token; a cookie identifies the browser from then on", Body: LoginBody{}, Answer: Me{}, serve: logIn},
	{Method: "DELETE", Path: "/v1/session", Summary: "Log out the browser", Answer: Me{}, serve: logOut},
	{Method: "GET", Path: "/version", Role: Observer, Summary: "Show the version of the server", Answer: VersionAnswer{}, serve: version},
	{Method: "GET", Path: "/metrics", Role: Observer, Summary: "Show the metrics of the server, in the text format of Prometheus", serve: showMetrics},
	{Method: "GET", Path: "/openapi.json", Role: Observer, Summary: "Describe this API in OpenAPI 3.1", serve: describe},
	{Method: "POST", Path: "/v1/worker/take", Role: Worker, Summary: "Take calls as a worker, or wait for calls if there are none", Body: wire.TakeBody{},
		Answer: wire.TakeAnswer{}, serve: worker(door.Door.Take)},
	{Method: "POST", Path: "/v1/worker/give", Role: Worker, Summary: "Deliver results, reports, texts and signs of life of a worker", Body: wire.GiveBody{}, Most: door.GiveMax,
		Answer: wire.GiveAnswer{}, serve: worker(door.Door.Give)},
	{Method: "GET", Path: "/v1/worker/input", Role: Worker, Summary: "Read the input of a call that was delivered without it: any JSON",
		Query: []Param{{"lease", "the lease of the call"}}, serve: inputOfCall},
	{Method: "GET", Path: "/v1/workers", Role: Viewer, Summary: "List the workers, and the operations that they carry out", Answer: wire.WorkerList{},
		serve: worker(listWorkers)},
	{Method: "GET", Path: "/livez", AnyHost: true, Summary: "Report that the process answers", Answer: HealthAnswer{}, serve: live},
	{Method: "GET", Path: "/readyz", AnyHost: true, Summary: "Report that the engine accepts requests", Answer: HealthAnswer{}, serve: ready},
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
