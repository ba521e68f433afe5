package client_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/client"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// An input of null reaches a run as null, also from programs other than the client; in a rerun, it replaces the input of the repeated
// run. A rerun without an input keeps the input of that run.
func TestNullIsAnInputByHTTP(t *testing.T) {
	s := newSite(t)
	w := workflow(t, `{kind: Workflow, name: given, operations: {v: {value: "{{ input }}"}}, steps: [{operation: v, input: "{{ input }}"}], output: "{{ steps.v.output }}"}`)
	run, err := s.remote.Start(t.Context(), w, 3, client.Options{ID: "three"})
	require.NoError(t, err)
	_, err = run.Wait(t.Context())
	require.NoError(t, err)
	input := func(run string) any {
		r, err := s.engine.Run(t.Context(), run)
		require.NoError(t, err)
		_, err = r.Wait(t.Context())
		require.NoError(t, err)
		for e, err := range r.Events(t.Context(), 1) {
			require.NoError(t, err)
			require.Equal(t, journal.RunStarted, e.Type)
			return e.Value
		}
		return "no event"
	}
	attached, err := (&api.Attachment{Input: json.RawMessage("null")}).Encode()
	require.NoError(t, err)
	repeat := func(id string, attachment []byte) {
		req := &api.Request{Verb: api.Repeat, Run: "three", ID: id, Rerun: &api.Rerun{Changed: true}, Attachment: attachment}
		require.NoError(t, s.remote.Ask(t.Context(), req, func(*api.Reply) error { return nil }))
	}
	repeat("client-null", attached)
	require.Nil(t, input("client-null"))
	repeat("client-none", nil)
	require.EqualValues(t, 3, input("client-none"))

	post := func(path, body string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer secret")
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	require.Equal(t, http.StatusCreated, post("/v1/runs/three/rerun", `{"changed": true, "id": "null", "input": null}`))
	require.Nil(t, input("null"))
	require.Equal(t, http.StatusCreated, post("/v1/runs/three/rerun", `{"id": "implied", "input": null}`), "an input means what has changed")
	require.Nil(t, input("implied"))
	require.Equal(t, http.StatusCreated, post("/v1/runs/three/rerun", `{"changed": true, "id": "none"}`))
	require.EqualValues(t, 3, input("none"))
	require.Equal(t, http.StatusBadRequest, post("/v1/runs/three/rerun", `{"id": "unclear"}`))

	// A start without an input has null, too, which a workflow may refuse.
	for name, of := range map[string]string{"any": "{}", "some": `{type: "null"}`, "none": "{type: object}"} {
		w := workflow(t, strings.Replace(`{kind: Workflow, name: NAME, input: `+of+`, operations: {v: {value: 1}}, steps: [{operation: v}]}`, "NAME", name, 1))
		if _, err := s.remote.Start(t.Context(), w, nil, client.Options{ID: "client-" + name}); name == "none" {
			require.ErrorContains(t, err, "got null, want object")
		} else {
			require.NoError(t, err)
			require.Nil(t, input("client-"+name))
		}
		p, err := parcel.Of(t.Context(), s.engine, w)
		require.NoError(t, err)
		publish, err := (&api.Attachment{Parcel: p}).Encode()
		require.NoError(t, err)
		require.NoError(t, s.remote.Ask(t.Context(), &api.Request{Verb: api.Publish, Attachment: publish}, func(*api.Reply) error { return nil }))
		for id, body := range map[string]string{"given-": `, "input": null`, "left-": ""} {
			status := post("/v1/runs", `{"workflow": "`+name+`", "id": "`+id+name+`"`+body+`}`)
			if name == "none" {
				require.Equal(t, http.StatusUnprocessableEntity, status)
				continue
			}
			require.Equal(t, http.StatusCreated, status)
			require.Nil(t, input(id+name))
		}
	}
}
