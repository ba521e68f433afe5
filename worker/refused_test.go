//go:build unix

package worker_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/workers/wire"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// say makes a request as a worker, and reads the answer or the problem.
func (s *server) say(t *testing.T, token, path, body string, answer any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.NoError(t, json.NewDecoder(resp.Body).Decode(answer))
	return resp.StatusCode
}

func TestWhatWorkersAskWronglyIsRefusedWhole(t *testing.T) {
	s := serve(t, memory.New())
	run := s.start(t, `{kind: Workflow, name: w, steps: [{operation: a}], output: "{{ steps.a.output }}"}`, "r")
	var taken wire.TakeAnswer
	require.Equal(t, 200, s.say(t, "a", "/v1/worker/take", `{"worker": "w"}`, &taken))
	lease := taken.Calls[0].Lease
	for _, c := range []struct {
		token, path, body string
		status            int
		code, pointer     string
	}{
		{"b", "take", `{"worker": "w", "operations": ["a"]}`, 403, "forbidden", "/operations/0"},
		{"a", "take", `{"worker": ""}`, 400, "bad_request", "/worker"},
		{"a", "take", `{"worker": "w", "max": 1001}`, 400, "bad_request", "/max"},
		{"a", "take", `{"worker": "w", "wait": "61s"}`, 400, "bad_request", "/wait"},
		{"a", "take", `{"worker": "w", "operation": "a"}`, 400, "bad_request", "/operation"},
		{"b", "give", `{"worker": "w", "results": [{"lease": "` + lease + `", "output": 1}]}`, 403, "foreign_lease", "/results/0/lease"},
		{"a", "give", `{"worker": "w", "results": [{"lease": "` + lease + `", "output": 1}], "alive": ["made up"]}`, 403, "foreign_lease", "/alive/0"},
		{"a", "give", `{"worker": "w", "results": [{"lease": "` + lease + `", "output": 1, "error": {"code": "x"}}]}`, 400, "bad_request", "/results/0"},
		{"a", "give", `{"worker": "w", "results": [{"lease": "` + lease + `", "error": {"code": "x", "retry_after": 1e300}}]}`, 400, "bad_request", "/results/0/error/retry_after"},
		{"a", "give", `{"worker": "w", "results": [{"lease": "` + lease + `", "error": {"code": "x", "retry_after": -1}}]}`, 400, "bad_request", "/results/0/error/retry_after"},
		{"a", "give", `{"worker": "w", "results": [{"lease": "` + lease + `", "output": {"a": 1, "a": 2}}]}`, 400, "bad_request", ""},
		{"a", "give", `no JSON`, 400, "bad_request", ""},
	} {
		var problem struct {
			Code   string
			Errors []struct{ Pointer string }
		}
		require.Equal(t, c.status, s.say(t, c.token, "/v1/worker/"+c.path, c.body, &problem), c.body)
		require.Equal(t, c.code, problem.Code, c.body)
		if c.pointer != "" {
			require.Equal(t, c.pointer, problem.Errors[0].Pointer, c.body)
		}
	}
	var ack wire.GiveAnswer
	give := `{"worker": "w", "results": [{"lease": "` + lease + `", "output": 7}]}`
	require.Equal(t, 200, s.say(t, "a", "/v1/worker/give", give, &ack))
	require.Empty(t, ack.Late, "nothing of what was refused was taken")
	require.EqualValues(t, 7, s.wait(t, run).Output)
	require.Equal(t, 200, s.say(t, "a", "/v1/worker/give", give, &ack))
	require.Equal(t, []wire.LateLease{{Lease: lease, Was: "the run has ended"}}, ack.Late, "it gives twice")
}
