package coordinator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

const sealed = `apiVersion: noetl.io/v2
kind: Playbook
metadata: {name: sealed}
keychain: [{name: k, kind: env, data: {key: SLUICE_SEALED}}]
workflow: [{step: go, tool: {kind: a, input: 7, spec: {timeout: 60}}}]
`

// confession is a delivery with all its parts, each with a secret.
func confession(lease, secret string) *workers.Delivery {
	return &workers.Delivery{
		Logs:    []workers.Log{{Lease: lease, Text: "a log of " + secret}},
		Reports: []workers.Report{{Lease: lease, Kind: "of " + secret, Payload: map[string]any{secret: []any{"a report of " + secret}}}},
		Results: []workers.Result{{Lease: lease, Result: call.Result{Failure: &journal.Failure{
			Code: "c_" + secret, Message: "a message of " + secret, Details: map[string]any{"details": secret},
		}}}},
	}
}

// A worker may know a secret of the run's keychain from elsewhere: it is redacted in answers, reports and logs, if the run is in memory,
// has left it, or was loaded by the next engine, and also after its call has ended.
func TestWhatWorkersGiveIsRedacted(t *testing.T) {
	const secret, mark = "sesame-4711-open", "‹keychain:k.key›"
	t.Setenv("SLUICE_SEALED", secret)
	synctest.Test(t, func(t *testing.T) {
		store, key := &kept{memory.New()}, workers.NewKey()
		var logged bytes.Buffer
		begin := func() *crew {
			e, err := coordinator.New(t.Context(), store, coordinator.Config{Workers: key, Logger: slog.New(slog.NewJSONHandler(&logged, nil))})
			require.NoError(t, err)
			t.Cleanup(func() { _ = e.Shutdown(context.Background()) })
			return &crew{e, t, key}
		}
		c := begin()
		give := func(g *workers.Delivery) *workers.Acknowledgement {
			ack, err := c.Workers().Give(t.Context(), bob, g)
			require.NoError(t, err)
			return ack
		}
		checked, err := kinds.Load("sealed.yaml", []byte(sealed), template.Known{Lenient: true})
		require.NoError(t, err)
		start := func(id string) string {
			_, err := c.Start(t.Context(), checked.Workflow, nil, coordinator.WithID(id))
			require.NoError(t, err)
			return c.take(1, time.Minute)[0].Lease
		}
		alive := func(lease string) {
			for range 10 {
				time.Sleep(10 * time.Second)
				give(&workers.Delivery{Alive: []string{lease}})
			}
		}
		lease := start("here")
		require.Empty(t, give(confession(lease, secret)).Late)
		require.NotEmpty(t, give(confession(lease, secret)).Late, "it has ended")
		lease = start("output")
		require.Empty(t, c.give(lease, map[string]any{"of " + secret: []any{secret}}).Late)
		lease = start("late")
		time.Sleep(time.Second)
		run, err := c.Run(t.Context(), "late")
		require.NoError(t, err)
		require.NoError(t, run.Cancel(t.Context(), "enough"))
		give(confession(lease, secret))
		away, silent, next := start("away"), start("silent"), start("next")
		alive(away)
		require.Zero(t, c.InMemory())
		give(confession(away, secret))
		require.NoError(t, c.Shutdown(t.Context()))

		c = begin()
		give(confession(next, secret))
		give(&workers.Delivery{Logs: confession(silent, secret).Logs, Alive: []string{silent}})
		give(&workers.Delivery{Reports: confession(silent, secret).Reports})
		give(&workers.Delivery{Results: []workers.Result{{Lease: silent, Result: call.Result{Output: secret}}}})
		give(confession(lease, secret))

		var said bytes.Buffer
		for _, id := range []string{"here", "output", "late", "away", "silent", "next"} {
			run, err := c.Run(t.Context(), id)
			require.NoError(t, err)
			for e, err := range run.Events(t.Context(), 1) {
				require.NoError(t, err)
				require.NoError(t, json.NewEncoder(&said).Encode(e))
			}
		}
		for _, part := range []string{"a message of ", "a report of ", "c_", "of "} {
			require.Contains(t, said.String(), part+mark)
		}
		require.Contains(t, said.String(), `"details":"`+mark)
		require.Contains(t, logged.String(), "a log of "+mark)
		for _, text := range []string{said.String(), logged.String()} {
			require.NotContains(t, text, secret)
			require.NotContains(t, text, "sesame")
		}
	})
}

// A worker of a child run may know the secrets of the runs above it: they are redacted, too, with those of the child, also if the next
// engine has not read these runs yet, and if the parent's secret has been replaced while this engine ran.
func TestWhatWorkersOfChildRunsGiveIsRedacted(t *testing.T) {
	const above, own, changed = "sesame-4711-open", "mellon-1954-open", "simsim-0815-open"
	t.Setenv("SLUICE_SEALED", above)
	t.Setenv("SLUICE_OWN", own)
	dir := written(t, map[string]string{
		"top.yaml": `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: top}
keychain: [{name: k, kind: env, data: {key: SLUICE_SEALED}}]
workflow: [{step: call, tool: {kind: workflow, path: middle.yaml}}]`,
		"middle.yaml": "{kind: Workflow, name: middle, operations: {sub: {workflow: {path: low.yaml}}}, steps: [{operation: sub}]}",
		"low.yaml": `
apiVersion: sluice/v1
kind: Playbook
metadata: {name: low}
keychain: [{name: o, kind: env, data: {key: SLUICE_OWN}}]
workflow: [{step: go, tool: {kind: a}}]`,
	})
	w := loaded(t, dir+"/top.yaml", "a")
	synctest.Test(t, func(t *testing.T) {
		store, key := &kept{memory.New()}, workers.NewKey()
		c := newCrew(t, store, key)
		give := func(lease, secret string) {
			_, err := c.Workers().Give(t.Context(), bob, confession(lease, secret))
			require.NoError(t, err)
		}
		leases := map[string]string{}
		for _, id := range []string{"here", "next", "later"} {
			_, err := c.Start(t.Context(), w, nil, coordinator.WithID(id))
			require.NoError(t, err)
			leases[id] = c.take(1, time.Minute)[0].Lease
		}
		give(leases["here"], above+" and "+own)
		require.NoError(t, c.Shutdown(t.Context()))
		c = newCrew(t, store, key)
		give(leases["next"], above+" and "+own)
		synctest.Wait() // every run has been loaded, and has made its calls again
		t.Setenv("SLUICE_SEALED", changed)
		give(leases["later"], above+" and "+own)
		synctest.Wait()

		for id := range leases {
			var said bytes.Buffer
			runs := 0
			for head, err := range c.Runs(t.Context(), "") {
				require.NoError(t, err)
				if !strings.HasPrefix(head.Run, id) {
					continue
				}
				runs++
				for e, err := range store.Read(t.Context(), head.Run, 1) {
					require.NoError(t, err)
					require.NoError(t, json.NewEncoder(&said).Encode(e))
				}
			}
			require.Equal(t, 3, runs)
			require.Contains(t, said.String(), "a message of ‹keychain:k.key› and ‹keychain:o.key›", id)
			require.Contains(t, said.String(), "a report of ‹keychain:k.key› and ‹keychain:o.key›", id)
			require.NotContains(t, said.String(), "sesame", id)
			require.NotContains(t, said.String(), "mellon", id)
		}
	})
}
