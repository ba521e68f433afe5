package httpapi

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/api"
)

// again puts another server before the engine, which keeps no answers of the first.
func (s *site) again() {
	server, err := Handler(s.engine, s.server.config)
	require.NoError(s.t, err)
	listening := httptest.NewServer(server)
	s.t.Cleanup(listening.Close)
	s.url = listening.URL
}

func TestAKeyStandsForOneStartWhateverWasPublishedSince(t *testing.T) {
	s := newSite(t, nil)
	const body = `{"workflow": "approval", "input": 1, "labels": {"a": "b"}}`
	key := []string{"Idempotency-Key", "k"}
	first := ok[api.Run](s, "POST", "/v1/runs", body, key...)
	s.token = "author"
	newer := `{kind: Workflow, name: approval, operations: {no: {fail: {code: refused}}}, steps: [{operation: no}]}`
	ok[api.Done](s, "POST", "/v1/workflows", `{"document": `+quoted(newer)+`}`)
	s.token = "operator"
	for _, server := range []func(){func() {}, s.again} {
		server()
		require.Equal(t, first.Run, ok[api.Run](s, "POST", "/v1/runs", body, key...).Run)
		for _, other := range []string{
			`{"workflow": "approval", "input": 2, "labels": {"a": "b"}}`, `{"workflow": "approval", "input": 1}`,
			`{"workflow": "approval", "input": 1, "labels": {"a": "c"}}`, `{"workflow": "other", "input": 1, "labels": {"a": "b"}}`,
		} {
			s.refused(CodeKeyUsed, "POST", "/v1/runs", other, key...)
		}
	}
	s.refused("not_published", "POST", "/v1/runs", `{"workflow": "later"}`, "Idempotency-Key", "early")
	s.token = "author"
	later := `{kind: Workflow, name: later, operations: {no: {fail: {code: refused}}}, steps: [{operation: no}]}`
	ok[api.Done](s, "POST", "/v1/workflows", `{"document": `+quoted(later)+`}`)
	s.token = "operator"
	ok[api.Run](s, "POST", "/v1/runs", `{"workflow": "later"}`, "Idempotency-Key", "early") // a refusal is not kept
}

func TestAKeyStandsForOneMessage(t *testing.T) {
	s := newSite(t, nil)
	s.start("a")
	key := []string{"Idempotency-Key", "k"}
	send := func(body string) api.Done { return ok[api.Done](s, "POST", "/v1/runs/a/messages", body, key...) }
	first := send(`{"name": "later", "payload": {"n": 1}}`)
	for _, server := range []func(){func() {}, s.again} {
		server()
		require.Equal(t, first.Warning, send(`{"name": "later", "payload": {"n": 1}}`).Warning)
		ok[api.Done](s, "POST", "/v1/runs/a/messages?dry=true", `{"name": "later", "payload": {"n": 1}}`, key...)
		s.refused(CodeKeyUsed, "POST", "/v1/runs/a/messages?dry=true", `{"name": "later", "payload": {"n": 2}}`, key...)
		s.refused(CodeKeyUsed, "POST", "/v1/runs/a/messages", `{"name": "later", "payload": {"n": 2}}`, key...)
		s.refused(CodeKeyUsed, "POST", "/v1/runs/a/messages", `{"name": "sooner", "payload": {"n": 1}}`, key...)
	}
	s.token = "viewer"
	var payloads []string
	for _, e := range ok[EventPage](s, "GET", "/v1/runs/a/events", "").Items {
		if e.Type == "message.received" {
			payloads = append(payloads, string(e.Value))
		}
	}
	require.Equal(t, []string{`{"n":1}`}, payloads)
}

func TestAKeyStandsForOneMessageToAWorld(t *testing.T) {
	s := newSite(t, nil)
	s.token = "admin"
	ok[api.Run](s, "POST", "/v1/runs", `{"id": "a", "document": `+quoted(alarm)+`}`)
	send := func(body string) api.Done {
		return ok[api.Done](s, "POST", "/v1/runs/a/messages", body, "Idempotency-Key", "k")
	}
	first := send(`{"name": "Set", "payload": {"id": "a"}}`)
	s.again() // it has no answers of the server before
	s.refused(CodeKeyUsed, "POST", "/v1/runs/a/messages?dry=true", `{"name": "Set", "payload": {"id": "b"}}`, "Idempotency-Key", "k")
	s.refused(CodeKeyUsed, "POST", "/v1/runs/a/messages", `{"name": "Set", "payload": {"id": "b"}}`, "Idempotency-Key", "k")
	require.Equal(t, first, send(`{"name": "Set", "payload": {"id": "a"}}`))
}
