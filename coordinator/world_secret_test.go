package coordinator_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

const secretWorld = `
kind: World
name: teller
keychain: [{name: bank, kind: env, data: {token: SLUICE_TEST_TOKEN, other: SLUICE_TEST_OTHER}}]
types: {Ask: {record: {id: text, text: text, code: nat}}}
effects:
  ask:
    params: {record: {text: text, code: nat}}
    receipt: {record: {said: text}}
    http: {method: POST, url: "%s/{{ input.code }}", headers: {Authorization: "Bearer {{ keychain.bank.token }}"}, body: "{{ input.text }}"}
    payload: {said: "{{ string(output.body) }}"}
machines:
  talk:
    key: text
    state: {record: {said: text}}
    event: [Ask]
    emits: [ask]
    lifecycle: entity
    rules:
      - {event: Ask, set: {said: ""}, emit: [{effect: ask, params: {text: "{{ event.text }}", code: "{{ event.code }}"}}]}
      - {event: ask, when: '{{ event.status == "ok" }}', set: {said: "{{ event.payload.said }}"}}
      - {event: ask, set: {said: "{{ event.error.message }} {{ toJSON(event.error.details) }}"}}
routing: {subscriptions: [{event: Ask, machine: talk, key_field: id}]}
`

// TestSecretsOfAWorldStayOut: with any answer of a server, also an error, journal, state and explanation have no secret.
func TestSecretsOfAWorldStayOut(t *testing.T) {
	var got, body, answer string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		data, err := io.ReadAll(r.Body)
		body = string(data)
		require.NoError(t, err)
		if r.URL.Path == "/500" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprint(w, answer)
	}))
	defer server.Close()
	checked, err := kinds.Load("teller.yaml", fmt.Appendf(nil, secretWorld, server.URL), template.Known{Lenient: true})
	require.NoError(t, err)
	rapid.Check(t, func(r *rapid.T) {
		token := rapid.StringMatching(`[QXZJ]{8,30}`).Draw(r, "token")
		t.Setenv("SLUICE_TEST_TOKEN", token)
		t.Setenv("SLUICE_TEST_OTHER", "other-secret")
		form := rapid.SampledFrom([]func(string) string{func(s string) string { return s }, url.QueryEscape,
			func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }, func(s string) string { return fmt.Sprintf("%x", s) }}).Draw(r, "form")
		answer = rapid.StringMatching(`[a-z ]{0,9}`).Draw(r, "before") + " " + form(token) + " other-secret"
		store := stays{memory.New()}
		e, err := coordinator.New(context.Background(), store, coordinator.Config{})
		require.NoError(r, err)
		run, err := e.Start(context.Background(), checked.Workflow, nil, coordinator.WithID("teller"))
		require.NoError(r, err)
		code := rapid.SampledFrom([]int{200, 500}).Draw(r, "code")
		_, err = run.SendMessage(context.Background(), cells.Message{Name: "Ask", Payload: map[string]any{"id": "a", "text": "‹keychain:bank.other›", "code": code}})
		require.NoError(r, err)
		c, err := run.Await(context.Background(), "talk[a]", func(c *cells.State) bool { return c.Status == world.Completed })
		require.NoError(r, err)
		require.Equal(r, "Bearer "+token, got)
		require.Equal(r, "‹keychain:bank.other›", body, "a mark in a message reveals nothing")
		require.Contains(r, fmt.Sprint(c.State), "‹keychain:bank.token›")
		require.NoError(r, e.Shutdown(context.Background()))
		codec := journal.Codec{}
		e, err = coordinator.New(context.Background(), store, coordinator.Config{})
		require.NoError(r, err)
		run, err = e.Run(context.Background(), "teller")
		require.NoError(r, err)
		got = ""
		_, err = run.SendMessage(context.Background(), cells.Message{Name: "Ask", Payload: map[string]any{"id": "b", "text": "", "code": code}})
		require.NoError(r, err)
		_, err = run.Await(context.Background(), "talk[b]", func(c *cells.State) bool { return c.Status == world.Completed })
		require.NoError(r, err)
		require.Equal(r, "Bearer "+token, got, "a world that was opened again fetches its secrets anew")
		require.NoError(r, e.Shutdown(context.Background()))
		for event, err := range store.Read(context.Background(), "teller", 1) {
			require.NoError(r, err)
			data, err := codec.Append(nil, &event)
			require.NoError(r, err)
			for _, secret := range []string{token, form(token), "other-secret"} {
				require.NotContains(r, string(data), secret)
			}
		}
	})
}

// TestAWorldWithoutItsSecretsDoesNotStart, and the refusal names the secret, its variable and no value.
func TestAWorldWithoutItsSecretsDoesNotStart(t *testing.T) {
	t.Setenv("SLUICE_TEST_OTHER", "other-secret")
	require.NoError(t, os.Unsetenv("SLUICE_TEST_TOKEN"))
	checked, err := kinds.Load("teller.yaml", fmt.Appendf(nil, secretWorld, "http://127.0.0.1:1"), template.Known{Lenient: true})
	require.NoError(t, err)
	e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Shutdown(context.Background())) }()
	_, err = e.Start(t.Context(), checked.Workflow, nil, coordinator.WithID("teller"))
	require.ErrorIs(t, err, keychain.ErrUnavailable)
	require.ErrorContains(t, err, "SLUICE_TEST_TOKEN")
	_, err = e.Run(t.Context(), "teller")
	require.ErrorIs(t, err, decide.ErrRunNotFound)
}
