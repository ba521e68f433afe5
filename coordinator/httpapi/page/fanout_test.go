package page_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi"
	"github.com/sluiceflow/sluice/coordinator/workers/wire"
)

const freight = `{kind: Workflow, name: freight, steps: [
 {operation: opine, id: credit, target: {resolve: static, participants: [atlas, bureau, credo, delta]}, fan_in: {policy: quorum, min_responses: 2}},
 {operation: locate, id: place, target: {resolve: static, participants: [geo-eu, geo-us]}, fan_in: {policy: any_one}}]}`

// worker takes calls of a site and answers them.
type worker struct {
	s     *site
	url   string
	calls map[string]string // lease by participant
}

func (s *site) worker() *worker {
	handler, err := httpapi.Handler(s.engine, httpapi.Config{Open: httpapi.Identity{Name: "hand", Role: httpapi.Admin}, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(s.t, err)
	return &worker{s, serve(s.t, handler), map[string]string{}}
}

func (w *worker) ask(path string, body, answer any) {
	w.s.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(w.s.t, err)
	resp, err := http.Post(w.url+path, "application/json", bytes.NewReader(text))
	require.NoError(w.s.t, err)
	defer resp.Body.Close()
	require.Equal(w.s.t, http.StatusOK, resp.StatusCode)
	require.NoError(w.s.t, json.NewDecoder(resp.Body).Decode(answer))
}

// take waits for calls of an operation until it has those to some participants.
func (w *worker) take(operation string, participants ...string) {
	w.s.t.Helper()
	missing := func(name string) bool { return w.calls[name] == "" }
	for slices.ContainsFunc(participants, missing) {
		var taken wire.TakeAnswer
		w.ask("/v1/worker/take", wire.TakeBody{Worker: "hand", Operations: []string{operation}, Max: new(10), Wait: "30s"}, &taken)
		for _, c := range taken.Calls {
			w.calls[c.Participant] = c.Lease
		}
	}
}

// give answers for a participant. It takes an expired lease again.
func (w *worker) give(operation, participant, output string) {
	w.s.t.Helper()
	for {
		var given wire.GiveAnswer
		lease := w.calls[participant]
		w.ask("/v1/worker/give", wire.GiveBody{Worker: "hand", Results: []wire.GiveResult{{Lease: lease, Output: json.RawMessage(output)}}}, &given)
		if len(given.Late) == 0 {
			return
		}
		delete(w.calls, participant)
		w.take(operation, participant)
	}
}

// A fan-out fills up to its mark; then the participants that have not answered are cancelled.
func TestAFanOutFillsUpAndItsLoserIsCancelled(t *testing.T) {
	s := newSite(t, httpapi.Operator, freight)
	w := s.worker()
	s.start("freight", "freight-1", "null")
	w.take("opine", "atlas", "bureau", "credo", "delta")
	p := newTab(t, s.url)
	p.open("/runs/freight-1")
	p.click(".tabs a", "Fan-outs")
	p.sees("2 more open it. 4 are still asked.")
	w.give("opine", "atlas", `{"limit": 250000}`)
	p.sees("One more opens it. 3 are still asked.")
	p.until(`document.querySelector(".gauge[aria-label='1 of 4 answered, needed 2']")`)
	p.shoot("fanout-open")
	w.give("opine", "credo", `{"limit": 180000}`)
	state := func(participant string) string {
		return `[...document.querySelectorAll(".fanl tr")].find((r) => r.textContent.includes("` + participant + `")).querySelector("td").textContent`
	}
	p.until(state("atlas") + ` === "answered"`)
	p.until(state("bureau") + ` === "cancelled"`)
	w.take("locate", "geo-eu", "geo-us")
	w.give("locate", "geo-eu", `"52.37, 9.73"`)
	p.sees("geo-eu was first.")
	p.until(state("geo-us") + ` === "cancelled"`)
	p.until(`document.querySelector(".leafg.open")`)
	p.click(".fan h2 a", "place")
	p.until(`document.querySelector(".panel .gauge") && document.querySelector(".panel .taken").textContent.includes("geo-eu")`)
	p.shoot("fanout")
}
