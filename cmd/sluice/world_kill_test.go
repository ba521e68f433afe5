//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
)

// accounts is a world whose cells add up numbers, and have each confirmed by a program that notes the key of its call.
const accounts = `
kind: World
name: accounts
types: {Add: {record: {id: text, n: nat}}}
effects:
  confirm:
    params: {record: {n: nat}}
    receipt: {record: {n: nat}}
    command: {shell: 'echo "$SLUICE_IDEMPOTENCY_KEY" >> calls; sleep 0.02; echo "{\"n\": $N}"', env: {N: "{{ input.n }}"}, output: json}
machines:
  account:
    key: text
    state: {record: {sum: nat, confirmed: nat}}
    event: [Add]
    emits: [confirm]
    lifecycle: entity
    rules:
      - event: Add
        set: {sum: "{{ (state?.sum ?? 0) + event.n }}", confirmed: "{{ state?.confirmed ?? 0 }}"}
        emit: [{effect: confirm, params: {n: "{{ event.n }}"}}]
      - {event: confirm, when: '{{ event.status == "ok" }}', set: {confirmed: "{{ state.confirmed + event.payload.n }}"}}
      - {event: confirm, fail: {code: unconfirmed}}
routing: {subscriptions: [{event: Add, machine: account, key_field: id}]}
`

const (
	worldKillsMin = 3
	worldMessages = 24
)

// TestAKilledWorldLosesNothing kills the process of a world with SIGKILL, again and again, while messages are sent: to that process,
// or to the journal while there is none. A message is sent until it is acknowledged, each time with its id.
func TestAKilledWorldLosesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", accounts)
	start := []string{"run", "w.yaml", "--id", "w", "--data", "journal"}
	host := launch(t, dir, start...)
	eventually(t, "the journal", exists(filepath.Join(dir, "journal", "VERSION")))
	eventually(t, "the run", func() bool { _, _, code := ask(t, dir, "runs", "show", "w"); return code == cli.Done })
	resume := []string{"run", "--resume", "w", "--data", "journal"}
	want, kills := map[string]uint64{}, 0
	for i := range worldMessages {
		if host != nil && rng.IntN(3) == 0 {
			host.signal(syscall.SIGKILL)
			host.wait()
			host, kills = nil, kills+1
		}
		if host == nil && rng.IntN(2) == 0 {
			host = launch(t, dir, resume...)
		}
		key, n := string(rune('a'+rng.IntN(4))), uint64(1+rng.IntN(100))
		payload := fmt.Sprintf(`{"id": %q, "n": %d}`, key, n)
		eventually(t, "an acknowledgement", func() bool {
			_, _, code := ask(t, dir, "send", "w", "Add", payload, "--id", fmt.Sprint(i))
			return code == cli.Done
		})
		want[key] += n
	}
	require.GreaterOrEqual(t, kills, worldKillsMin)
	if host == nil {
		host = launch(t, dir, resume...)
	}
	var cells []cellLine
	eventually(t, "everything is confirmed", func() bool {
		cells = cellsOf(t, dir)
		return !slices.ContainsFunc(cells, func(c cellLine) bool { return c.State.Confirmed != c.State.Sum })
	})
	got := map[string]uint64{}
	for _, c := range cells {
		got[c.Key] = c.State.Sum
		require.Equal(t, "completed", c.Status)
	}
	require.Equal(t, want, got)
	host.signal(syscall.SIGINT)
	require.Equal(t, cli.Interrupted, host.wait())

	// Each message has one call, which at most each kill repeats under the same key.
	text, err := os.ReadFile(filepath.Join(dir, "calls"))
	require.NoError(t, err)
	times := map[string]int{}
	for _, key := range strings.Fields(string(text)) {
		times[key]++
	}
	require.Len(t, times, worldMessages, "%v", slices.Sorted(maps.Keys(times)))
	for key, n := range times {
		require.LessOrEqual(t, n, 1+kills, key)
	}
}

type cellLine struct {
	Key    string `json:"key"`
	Status string `json:"status"`
	State  struct {
		Sum       uint64 `json:"sum"`
		Confirmed uint64 `json:"confirmed"`
	} `json:"state"`
}

func cellsOf(t *testing.T, dir string) []cellLine {
	stdout, stderr, code := ask(t, dir, "runs", "cells", "w", "-o", "json")
	require.Equal(t, cli.Done, code, stderr)
	var list []cellLine
	require.NoError(t, json.Unmarshal([]byte(stdout), &list))
	return list
}

// ask runs a verb on the journal to its end.
func ask(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	p := launch(t, dir, append(args, "--data", "journal")...)
	code = p.wait()
	return p.stdout.String(), p.stderr.String(), code
}
