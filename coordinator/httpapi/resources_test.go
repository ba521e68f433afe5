package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/catalog"
	"github.com/sluiceflow/sluice/coordinator/httpapi/columns"
	"github.com/sluiceflow/sluice/coordinator/versions"
)

// quoted returns a text as JSON.
func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

func sent(text string) string { return `{"document": ` + quoted(text) + `}` }

func TestAWorkflowIsPublishedAndRead(t *testing.T) {
	s := newSite(t, nil)
	s.refused(CodeForbidden, "POST", "/v1/workflows", sent(approval))
	s.token = "author"
	next := strings.Replace(approval, `"by {{ input }}"`, `"from {{ input }}"`, 1)
	preview := ok[PublishPreview](s, "POST", "/v1/workflows?dry=true", sent(next))
	require.Equal(t, "approval", preview.Name)
	require.False(t, preview.Unchanged)
	require.Equal(t, "say", preview.Effect.Changed[0].Step)
	require.True(t, ok[PublishPreview](s, "POST", "/v1/workflows?dry=true", sent(approval)).Unchanged)
	require.Len(t, ok[VersionPage](s, "GET", "/v1/workflows/approval/versions", "").Items, 1, "nothing was published")

	done := ok[api.Done](s, "POST", "/v1/workflows", sent(next))
	require.Equal(t, uint64(2), done.Published.Number)
	require.Equal(t, "the author", done.Published.Actor)
	listed := ok[VersionPage](s, "GET", "/v1/workflows/approval/versions?limit=1", "")
	require.Equal(t, preview.Hash, listed.Items[0].Hash)
	require.Equal(t, uint64(1), ok[VersionPage](s, "GET", "/v1/workflows/approval/versions?cursor="+listed.Next, "").Items[0].Number)
	old := ok[Definition](s, "GET", "/v1/workflows/approval/versions/"+done.Replaced.Hash, "")
	require.Equal(t, uint64(1), old.Version.Number)
	require.Contains(t, string(old.Document), "by {{ input }}")
	now := ok[Definition](s, "GET", "/v1/workflows/approval", "")
	require.Contains(t, string(now.Document), "from {{ input }}")
	require.Equal(t, []catalog.Step{{Step: "ask", Kind: "step", Operation: "ask"}, {Step: "say", Kind: "step", Operation: "say", After: []string{"ask"}}}, now.Steps)
	require.Equal(t, "approval", ok[WorkflowPage](s, "GET", "/v1/workflows?begins=app", "").Items[0].Name)
	require.Empty(t, ok[WorkflowPage](s, "GET", "/v1/workflows?begins=b", "").Items)
	s.refused(CodeBadRequest, "GET", "/v1/workflows?cursor=approval", "")
	d := ok[versions.Diff](s, "GET", "/v1/diff?from=approval@1&to=approval", "")
	require.Equal(t, []string{old.Version.Hash, now.Version.Hash}, []string{d.Old, d.New})
	d = ok[versions.Diff](s, "POST", "/v1/diff", `{"from": "approval", "document": `+quoted(approval)+`}`)
	require.Equal(t, []string{now.Version.Hash, old.Version.Hash}, []string{d.Old, d.New})

	s.refused("not_published", "GET", "/v1/workflows/none", "")
	s.refused("not_published", "GET", "/v1/workflows/approval/versions/none", "")
	s.refused("not_published", "GET", "/v1/diff?from=approval@9&to=approval", "")
	for path, suggestion := range map[string]string{"/v1/diff?from=approvl&to=approval": "approval", "/v1/workflows/aproval": "approval", "/v1/workflows/other/versions": ""} {
		require.Equal(t, suggestion, s.refused("not_published", "GET", path, "").Suggestion, path)
	}
	for _, query := range []string{"", "?from=approval", "?to=approval"} {
		require.Equal(t, "no workflow is named or attached", s.refused(CodeBadRequest, "GET", "/v1/diff"+query, "").Detail)
	}
	s.refused(CodeBadRequest, "GET", "/v1/workflows/approval/versions?cursor=x", "")
	s.refused(CodeBadRequest, "POST", "/v1/workflows", `{}`)
	s.refused(CodeBadRequest, "POST", "/v1/workflows?dry=yes", sent(approval))
	s.refused(CodeBadRequest, "POST", "/v1/workflows", `{"document": "x", "parcel": {}}`)
	p := s.refused(CodeBadDocument, "POST", "/v1/workflows", sent("kind: Workflow\nname: w\nsteps:\n  - {operaton: x}\n"))
	require.Equal(t, 4, p.Errors[0].Line)
	require.Equal(t, "operation", p.Errors[0].Suggestion)
}

// unsafe has a document for each use of the server's machine that the server must allow. The document has no other such use.
var unsafe = map[string]string{
	"command/argv":     `{kind: Workflow, name: w, operations: {o: {command: {argv: [id]}}}, steps: [{operation: o}]}`,
	"command/shell":    `{kind: Workflow, name: w, operations: {o: {command: {shell: id}}}, steps: [{operation: o}]}`,
	"command/unused":   `{kind: Workflow, name: w, operations: {o: {command: {shell: id}}, v: {value: 1}}, steps: [{operation: v}]}`,
	"path/child":       `{kind: Workflow, name: w, operations: {o: {workflow: {path: /etc/passwd}}}, steps: [{operation: o}]}`,
	"command/playbook": "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: w}\nworkflow:\n  - {step: start, tool: {kind: shell, shell: id}}\n",
	"env/keychain": "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: w}\nkeychain: [{name: k, kind: env, data: {t: SLUICE_TOKEN}}]\n" +
		"workflow:\n  - {step: start, tool: {kind: http, url: 'http://127.0.0.1:1/{{ keychain.k.t }}'}}\n",
	"file/keychain": "apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: {name: w}\nkeychain: [{name: k, kind: file, data: {t: /etc/passwd}}]\n" +
		"workflow:\n  - {step: start, tool: {kind: http, url: 'http://127.0.0.1:1/{{ keychain.k.t }}'}}\n",
}

func TestDocumentsMayNotUseTheServersMachineUnlessItIsAllowed(t *testing.T) {
	s := newSite(t, nil)
	s.token = "author"
	s.start("a")
	for name, text := range unsafe {
		t.Run(name, func(t *testing.T) {
			kind, _, _ := strings.Cut(name, "/")
			for path, body := range map[string]string{
				"/v1/workflows": sent(text), "/v1/workflows?dry=true": sent(text), "/v1/runs": sent(text),
				"/v1/runs/a/rerun":  `{"failed": true, "document": ` + quoted(text) + `}`,
				"/v1/runs/a/shadow": sent(text), "/v1/runs/a/move": sent(text), "/v1/diff": `{"from": "approval", "document": ` + quoted(text) + `}`,
			} {
				p := s.refused(CodeNotAllowed, "POST", path, body)
				require.Contains(t, p.Detail, "--allow "+kind)
			}
			var others catalog.Allow
			for _, other := range catalog.Kinds {
				if other != kind {
					others = append(others, other)
				}
			}
			s.server.config.Allow = others
			s.refused(CodeNotAllowed, "POST", "/v1/workflows?dry=true", sent(text))
			s.server.config.Allow = catalog.Allow{kind}
			if kind != catalog.Path {
				require.Equal(t, "w", ok[PublishPreview](s, "POST", "/v1/workflows?dry=true", sent(text)).Name)
			}
			s.server.config.Allow = nil
		})
	}
	require.Len(t, ok[RunPage](s, "GET", "/v1/runs", "").Items, 1, "nothing was started")
	require.Len(t, ok[WorkflowPage](s, "GET", "/v1/workflows", "").Items, 1, "nothing was published")
	s.token = "operator"
	s.refused(CodeForbidden, "POST", "/v1/runs", sent(approval))
	s.token = "author"
	parcel := `{"parcel": {"workflow": "h", "definitions": {"h": {"kind": "Workflow", "name": "w", "operations": {"o": {"command": {"shell": "id"}}}, "steps": [{"operation": "o"}]}}}}`
	s.refused(CodeNotAllowed, "POST", "/v1/workflows", parcel)
	_, err := catalog.ParseAllow("command,shell")
	require.ErrorContains(t, err, `"shell" is none of command, env, file, path`)
}

const judged = `{kind: Workflow, name: judged, operations: {work: {value: 7}},
 steps: [{operation: work, fulfillment: {policy: requester_confirmation}}]}`

func TestTheInboxHasWhatPersonsAreToDecide(t *testing.T) {
	s := newSite(t, nil)
	s.token = "author"
	for _, id := range []string{"a", "b", "c"} {
		ok[api.Run](s, "POST", "/v1/runs", `{"id": "`+id+`", "labels": {"team": "x"}, "document": `+quoted(judged)+`}`)
	}
	s.start("other")
	page := ok[DecisionPage](s, "GET", "/v1/decisions?limit=2", "")
	require.Len(t, page.Items, 2)
	rest := ok[DecisionPage](s, "GET", "/v1/decisions?limit=2&cursor="+page.Next, "")
	require.Len(t, rest.Items, 1)
	require.Empty(t, rest.Next)
	d := page.Items[0]
	require.Equal(t, "work", d.Step)
	require.Equal(t, "7", string(d.Output))
	require.Equal(t, "x", d.Labels["team"])
	resp := s.do("GET", "/v1/decisions/"+d.ID, "")
	resp.Body.Close()
	tag := resp.Header.Get("ETag")
	require.Equal(t, etag(d.Seq), tag)
	s.refused(CodeChanged, "POST", "/v1/decisions/"+d.ID, `{"decision": "fulfilled"}`, "If-Match", `"1"`)
	s.refused(CodeBadRequest, "POST", "/v1/decisions/"+d.ID, `{"decision": "maybe"}`)
	for range 2 {
		done := ok[api.Done](s, "POST", "/v1/decisions/"+d.ID, `{"decision": "fulfilled", "reason": "fine"}`, "If-Match", tag, "Idempotency-Key", "k")
		require.Equal(t, d.Run, done.Run)
	}
	s.refused(CodeKeyUsed, "POST", "/v1/decisions/"+d.ID, `{"decision": "not_fulfilled"}`, "If-Match", tag, "Idempotency-Key", "k")
	s.refused("not_possible", "POST", "/v1/decisions/"+d.ID, `{"decision": "fulfilled"}`)
	require.Equal(t, "completed", ok[api.Run](s, "GET", "/v1/runs/"+d.Run, "", "Prefer", "wait=60").Status)
	require.Len(t, ok[DecisionPage](s, "GET", "/v1/decisions", "").Items, 2)
	for _, id := range []string{"x", "W10", "WyJhIiwiYiIsMSwyXQ"} {
		s.refused("step_not_found", "GET", "/v1/decisions/"+id, "")
	}
	s.token = "viewer"
	s.refused(CodeForbidden, "POST", "/v1/decisions/"+d.ID, `{"decision": "fulfilled"}`)
}

func TestManyRunsAreChangedAtOnce(t *testing.T) {
	s := newSite(t, nil)
	for i := range 3 {
		s.start(fmt.Sprint("r", i))
	}
	preview := ok[api.ActPreview](s, "POST", "/v1/bulk?dry=true", `{"act": "cancel", "q": "workflow:approval"}`)
	require.Equal(t, 3, preview.Will)
	s.refused("count_changed", "POST", "/v1/bulk", `{"act": "cancel", "q": "workflow:approval", "expect": 2}`)
	s.refused(CodeBadRequest, "POST", "/v1/bulk", `{"act": "cancel", "q": "", "expect": 3}`)
	s.refused(CodeForbidden, "POST", "/v1/bulk", `{"act": "delete", "q": "workflow:approval", "expect": 3}`)
	var act api.Act
	for range 2 {
		act = ok[api.Act](s, "POST", "/v1/bulk", `{"act": "cancel", "q": "workflow:approval", "expect": 3, "reason": "storm"}`, "Idempotency-Key", "once")
	}
	require.Equal(t, "the operator", act.Actor)
	answer := ok[ActAnswer](s, "GET", fmt.Sprintf("/v1/bulk/%d?wait=true", act.ID), "")
	require.Equal(t, 3, answer.Act.Done)
	require.Len(t, ok[ActAnswer](s, "GET", fmt.Sprintf("/v1/bulk/%d", act.ID), "").Outcomes, 3)
	require.Len(t, ok[ActList](s, "GET", "/v1/bulk", "").Items, 1)
	again := ok[api.ActPreview](s, "POST", "/v1/bulk?dry=true", `{"act": "rerun", "q": "workflow:approval", "rerun": {"from": "say"}}`)
	require.Equal(t, 3, again.Will, again)
	again = ok[api.ActPreview](s, "POST", "/v1/bulk?dry=true", `{"act": "rerun", "q": "workflow:approval", "rerun": {"changed": true}}`)
	require.Equal(t, [2]int{3, 6}, [2]int{again.Will, again.Steps}, again)
	s.refused(CodeBadRequest, "POST", "/v1/bulk?dry=true", `{"act": "rerun", "q": "workflow:approval", "rerun": {"at": 3}}`)
	s.refused(CodeBadRequest, "POST", "/v1/bulk?dry=true", `{"act": "rerun", "q": "workflow:approval", "rerun": {"from": "say", "failed": true}}`)
	s.refused(CodeForbidden, "POST", "/v1/bulk?dry=true", `{"act": "move", "q": "workflow:approval", "document": "{}"}`)
	s.refused("not_published", "POST", "/v1/bulk?dry=true", `{"act": "move", "q": "workflow:approval", "workflow": "none"}`)
	s.refused("act_not_found", "DELETE", "/v1/bulk/77", "")
	s.refused("act_not_found", "GET", "/v1/bulk/x", "")

	s.token = "admin"
	ok[api.Done](s, "POST", "/v1/keep", `{"keep": "30d"}`)
	for _, keep := range []string{"PT0S", "-1d", "73000d", "1e3d", "0.0000000001s", "30"} { // as the command says
		_, wrong := api.KeepOf(keep)
		for _, path := range []string{"/v1/keep", "/v1/keep?dry=true", "/v1/gc", "/v1/gc?dry=true"} {
			require.Equal(t, api.ErrorOf(wrong).Message, s.refused(CodeBadRequest, "POST", path, `{"keep": "`+keep+`"}`).Detail)
		}
	}
	require.Equal(t, "30d", ok[RuleList](s, "GET", "/v1/keep", "").Items[0].Keep)
	require.Equal(t, 3, ok[CollectAnswer](s, "POST", "/v1/gc?dry=true", `{"keep": "0s"}`).Collected.Runs)
	require.Len(t, ok[RunPage](s, "GET", "/v1/runs", "").Items, 3)
	require.Equal(t, 3, ok[CollectAnswer](s, "POST", "/v1/gc", `{"keep": "0s"}`).Collected.Runs)
	require.Empty(t, ok[RunPage](s, "GET", "/v1/runs", "").Items)
}

func TestARunIsRunAgainAndCompared(t *testing.T) {
	s := newSite(t, nil)
	s.start("a")
	ok[api.Done](s, "POST", "/v1/runs/a/messages", `{"name": "approved", "payload": {"by": "ann", "list": [1, "x/y"]}}`)
	run := ok[api.Run](s, "GET", "/v1/runs/a", "", "Prefer", "wait=60")
	plan := ok[RerunPlan](s, "POST", "/v1/runs/a/rerun?dry=true", `{"from": "say"}`)
	require.Equal(t, "will say", plan.Items[0].Does+" "+plan.Items[0].Step)
	require.Equal(t, "kept ask", plan.Items[1].Does+" "+plan.Items[1].Step)
	s.refused(CodeBadRequest, "POST", "/v1/runs/a/rerun", `{}`)
	s.refused(CodeChanged, "POST", "/v1/runs/a/rerun", `{"from": "say"}`, "If-Match", `"1"`)
	var runs []string
	for range 2 {
		done := ok[api.Done](s, "POST", "/v1/runs/a/rerun", `{"from": "say", "id": "again"}`, "If-Match", etag(run.Events), "Idempotency-Key", "k")
		runs = append(runs, done.Run)
	}
	require.Equal(t, []string{"again", "again"}, runs)
	require.Equal(t, "by ann", ok[string](s, "GET", "/v1/runs/again/output", ""))
	require.Equal(t, "a", ok[ShadowList](s, "POST", "/v1/runs/a/shadow", `{"workflow": "approval"}`).Items[0].Run)
	require.Len(t, ok[ShadowList](s, "POST", "/v1/shadow", `{"workflow": "approval", "q": "workflow:approval"}`).Items, 2)

	const output = "/v1/runs/a/steps/ask/output"
	require.Equal(t, "x/y", ok[string](s, "GET", output+"?pointer=/list/1", ""))
	s.refused(CodeNoValue, "GET", output+"?pointer=/list/2", "")
	s.refused(CodeBadRequest, "GET", output+"?pointer=list", "")
	resp := s.do("GET", output, "", "Range", "bytes=1-4")
	defer resp.Body.Close()
	part, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, 206, resp.StatusCode)
	require.Equal(t, `"by"`, string(part))

	h := ok[columns.History](s, "GET", "/v1/runs/a/history", "")
	require.Len(t, h.Seq, int(run.Events))
	require.Equal(t, "run.started", h.Types[h.Type[0]])
	require.Equal(t, "", h.Steps[h.Step[0]])
	require.Len(t, h.At, len(h.Seq))
	s.refused(CodeBadRequest, "GET", "/v1/runs/a/history?cursor=0", "")
}

func TestWorldsAreShown(t *testing.T) {
	s := newSite(t, nil)
	s.start("a")
	s.refused("not_world", "GET", "/v1/runs/a/cells", "")
	s.refused("not_world", "GET", "/v1/runs/a/cells/x", "")
}

// The lines of an answer are those of package api, whichever route they are of.
func TestAnswersCanBeLines(t *testing.T) {
	s := newSite(t, nil)
	s.start("a")
	resp := s.do("GET", "/v1/runs/a", "", "Accept", LinesType)
	defer resp.Body.Close()
	require.Equal(t, LinesType, resp.Header.Get("Content-Type"))
	var kinds []string
	for d := json.NewDecoder(resp.Body); d.More(); {
		var r api.Reply
		require.NoError(t, d.Decode(&r))
		switch {
		case r.Run != nil:
			kinds = append(kinds, "run")
		case r.Step != nil:
			kinds = append(kinds, "step")
		case r.Done != nil:
			kinds = append(kinds, "done")
		}
	}
	require.Equal(t, []string{"run", "step", "step", "done"}, kinds)
	s.refused("run_not_found", "GET", "/v1/runs/b", "", "Accept", LinesType)
}
