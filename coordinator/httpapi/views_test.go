package httpapi

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/feed"
)

// both reads a feed that ends, as lines and as server-sent events, which have the same content.
func both(t *testing.T, s *site, path string) []line {
	read := func(accept string, list func(*testing.T, io.Reader) []line) []line {
		resp := s.do("GET", path, "", "Accept", accept)
		defer resp.Body.Close()
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Equal(t, accept, resp.Header.Get("Content-Type"))
		return list(t, resp.Body)
	}
	list := read("application/x-ndjson", lines)
	require.Equal(t, list, read("text/event-stream", sentEvents))
	return list
}

// sentEvents reads server-sent events.
func sentEvents(t *testing.T, from io.Reader) (list []line) {
	var l line
	for s := bufio.NewScanner(from); s.Scan(); {
		name, text, _ := strings.Cut(s.Text(), ": ")
		switch name {
		case "event":
			l.Event = text
		case "id":
			l.ID = text
		case "data":
			l.Data = json.RawMessage(text)
		case "":
			if l.Event != "" {
				list = append(list, l)
			}
			l = line{}
		default:
			require.Equal(t, "retry", name)
		}
	}
	return list
}

func TestTheViewsOfARunHaveNoPayloadsAndAreTheSameByEveryMediaType(t *testing.T) {
	s := newSite(t, nil)
	s.token = "admin"
	const net = `{apiVersion: sluice/v1, kind: Playbook, metadata: {name: p}, workflow: [
 {step: a, set: {ctx.secret: "` + canary + `"}, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: c}]}},
 {step: b, tool: {kind: noop}, next: {arcs: [{step: c}]}}, {step: c, spec: {join: {mode: all}}, tool: {kind: noop}}]}`
	ok[api.Run](s, "POST", "/v1/runs", `{"id": "p", "document": `+quoted(net)+`}`)
	const loop = `{apiVersion: sluice/v1, kind: Playbook, metadata: {name: l}, workflow: [{step: a, tool: {kind: noop}, next: {arcs: [{step: c, when: "{{ ctx.seen == true }}"}, {step: b}]}},
 {step: b, tool: {kind: noop}, set: {ctx.seen: true}, next: {arcs: [{step: a}]}}, {step: c, tool: {kind: noop}}]}`
	ok[api.Run](s, "POST", "/v1/runs", `{"id": "l", "document": `+quoted(loop)+`}`)
	const maps = `{kind: Workflow, name: w, operations: {say: {value: "` + canary + `"}}, steps: [{map: {id: m, over: "{{ [1, 2] }}", steps: [{id: a, operation: say}]}}]}`
	ok[api.Run](s, "POST", "/v1/runs", `{"id": "w", "document": `+quoted(maps)+`}`)
	for _, run := range []string{"p", "w", "l"} {
		require.Equal(t, "completed", ok[api.Run](s, "GET", "/v1/runs/"+run, "", "Prefer", "wait=60").Status)
	}
	s.token = "observer"
	last := func(path string) (updates []line, snapshot json.RawMessage) {
		list := both(t, s, path)
		require.Equal(t, []string{feed.KindSnapshot, feed.KindEnd}, []string{list[0].Event, list[1].Event})
		updates = both(t, s, with(path, "after=0"))
		for _, l := range append(updates, list...) {
			require.NotContains(t, string(l.Data), canary)
		}
		return updates, list[0].Data
	}

	updates, data := last("/v1/runs/p/feed?view=net")
	var snapshot feed.NetSnapshot
	require.NoError(t, json.Unmarshal(data, &snapshot))
	now, revision := map[string]feed.NetStep{}, uint64(0)
	for _, l := range updates {
		var u feed.Update
		require.NoError(t, json.Unmarshal(l.Data, &u))
		for _, n := range u.Net {
			now[n.Step] = n
		}
		revision = max(revision, u.Revision)
	}
	require.Equal(t, map[string]feed.NetStep{"a": {Step: "a", Runs: 1, Arcs: []int{0, 1}, Taken: []int{0, 1}}, "b": {Step: "b", Runs: 1, Arcs: []int{0}, Taken: []int{0}}, "c": {Step: "c", Runs: 1}}, now)
	require.Len(t, snapshot.Net, len(now))
	for _, n := range snapshot.Net {
		require.Equal(t, now[n.Step], n)
	}
	require.Equal(t, snapshot.Revision, revision)
	require.NotZero(t, revision)

	_, data = last("/v1/runs/l/feed?view=net")
	require.NoError(t, json.Unmarshal(data, &snapshot))
	require.Contains(t, snapshot.Net, feed.NetStep{Step: "a", Runs: 2, Arcs: []int{0}, Taken: []int{0, 1}})

	for path, steps := range map[string]int{"/v1/runs/w/feed": 1, "/v1/runs/w/feed?open=m": 3} {
		_, data := last(path)
		var snapshot feed.Snapshot
		require.NoError(t, json.Unmarshal(data, &snapshot))
		require.Len(t, snapshot.Steps, steps)
		require.Equal(t, []feed.MapCount{{Map: "m", Of: 2, OK: 2}}, snapshot.Maps)
	}
}

func TestEventsAreSmallWhateverTheyCarry(t *testing.T) {
	s := newSite(t, nil)
	const size = 1 << 18
	ok[api.Run](s, "POST", "/v1/runs", `{"workflow": "approval", "id": "a", "input": "`+strings.Repeat("x", size)+`"}`)
	ok[api.Done](s, "POST", "/v1/runs/a/messages", `{"name": "approved", "payload": {"by": "`+strings.Repeat("y", size)+`"}}`)
	ok[api.Run](s, "GET", "/v1/runs/a", "", "Prefer", "wait=60")
	for _, path := range []string{"/v1/runs/a/events", "/v1/runs/a/feed?view=events&after=0", "/v1/feed?run=a&view=events"} {
		resp := s.do("GET", path, "")
		if strings.HasPrefix(path, "/v1/feed") { // it continues after the end
			lines := bufio.NewScanner(resp.Body)
			lines.Buffer(nil, 1<<20)
			for lines.Scan() && !strings.Contains(lines.Text(), `"run.finished"`) {
				require.Less(t, len(lines.Text()), 20_000)
			}
			resp.Body.Close()
			continue
		}
		data, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(t, err)
		require.Contains(t, string(data), "run.finished")
		require.Less(t, len(data), 20_000, path)
	}
	first := ok[EventPage](s, "GET", "/v1/runs/a/events", "").Items[0]
	require.Equal(t, &api.Large{Kind: "string", Bytes: size + 2, Preview: `"` + strings.Repeat("x", 255)}, first.Large)
	require.Len(t, ok[api.Event](s, "GET", first.Whole, "").Value, size+2)
	s.refused("no_moment", "GET", "/v1/runs/a/events/99", "")
	s.refused("no_moment", "GET", "/v1/runs/a/events/x", "")
	s.refused("run_not_found", "GET", "/v1/runs/b/events/1", "")
}
