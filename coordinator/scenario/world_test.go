package scenario_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/scenario"
)

// counter is a scenario of a world with one machine. Its step fails if n is below 0.
const counter = `
kind: Scenario
name: counter
workflow:
  kind: World
  name: w
  types: {Add: {record: {id: text, n: int}}, Told: {record: {n: nat}}}
  effects: {ask: {params: {record: {}}, receipt: nat}}
  machines:
    m:
      key: text
      state: {record: {n: nat}}
      event: [Add]
      emits: [ask]
      rules:
        - {event: Add, set: {n: "{{ event.n }}"}, raise: [{event: Told, value: {n: 1}}], emit: [{effect: ask, params: {}}]}
        - {event: ask, set: {n: "{{ state.n + event.payload }}"}}
  routing: {subscriptions: [{event: Add, machine: m, key_field: id}]}
`

func TestDifferencesOfWorlds(t *testing.T) {
	const add = `timeline: [{at: PT0S, message: {name: Add, payload: {id: a, n: 1}}}]
operations: {ask: {after: PT1S, output: 5, deliver: 2}}
`
	for name, c := range map[string]struct{ text, key, want, got string }{
		"a state":                {add + `expect: {cells: {"m[a]": {state: {n: 1}}}}`, "cells.m[a]", `{"state":{"n":1}}`, `"state":{"n":6}`},
		"a status":               {add + `expect: {cells: {"m[a]": {status: completed}}}`, "cells.m[a]", "completed", `"status":"running"`},
		"a number in flight":     {add + `expect: {cells: {"m[a]": {inflight: 1}}}`, "cells.m[a]", "inflight", `"inflight":0`},
		"a number held":          {add + `expect: {cells: {"m[a]": {held: 1}}}`, "cells.m[a]", "held", `"held":0`},
		"a reason":               {add + `expect: {cells: {"m[a]": {reason: broken}}}`, "cells.m[a]", "broken", `"status":"running"`},
		"a cell that is there":   {add + `expect: {cells: {"m[a]": absent}}`, "cells.m[a]", "absent", `"n":6`},
		"a cell that is not":     {add + `expect: {cells: {"m[b]": {status: running}}}`, "cells.m[b]", "running", "absent"},
		"an address of no cell":  {add + `expect: {cells: {"mm[a]": absent}}`, "cells.mm[a]", "absent", `unknown machine "mm"`},
		"the order of runs":      {add + `expect: {runs: ["m[a]"]}`, "runs", "[m[a]]", "[m[a], m[a]]"},
		"the order of calls":     {add + `expect: {calls: ["m[b].ask"]}`, "calls", "[m[b].ask]", "[m[a].ask]"},
		"what is raised":         {add + `expect: {raised: []}`, "raised", "[]", "[Told]"},
		"a count":                {add + `expect: {counts: {late: 0}}`, "counts.late", "0", "1"},
		"a count of no name":     {add + `expect: {counts: {steped: 0}}`, "counts.steped", "0", "no events are counted"},
		"attempts":               {add + `expect: {attempts: {m.ask: 2}}`, "attempts.m.ask", "2", "1"},
		"attempts of no effect":  {add + `expect: {attempts: {ak: 0, ask: 1, m.ask: 1, "m[a].ask": 1, "m[b].ask": 0}}`, "attempts.ak", "0", `unknown effect "ak" (did you mean "ask"?)`},
		"attempts of no machine": {add + `expect: {attempts: {n.ask: 0}}`, "attempts.n.ask", "0", `unknown effect "n.ask" (did you mean "m.ask"?)`},
		"attempts of no cell":    {add + `expect: {attempts: {"m[a.ask": 0}}`, "attempts.m[a.ask", "0", `unknown effect "m[a.ask"`},
		"a refusal":              {`timeline: [{at: PT0S, message: {name: Add, payload: {id: a}}}]` + "\nexpect: {counts: {run.started: 1}}", "message", "it is not refused", "/n: is missing"},
		"no refusal":             {`timeline: [{at: PT0S, message: {name: Told, payload: {n: 1}}, refused: missing}]` + "\nexpect: {counts: {run.started: 1}}", "message", `a refusal with "missing"`, "it is not refused"},
		"another refusal":        {`timeline: [{at: PT0S, message: {name: Told, payload: {n: -1}}, refused: [/n, missing]}]` + "\nexpect: {counts: {run.started: 1}}", "message", `"missing"`, "at least 0"},
		"a failure":              {`timeline: [{at: PT0S, message: {name: Add, payload: {id: a, n: -1}}}]` + "\nexpect: {cells: {\"m[a]\": {status: running}}}", "cells.m[a]", "running", `"reason":"output_invalid"`},
		"a call without answers": {`timeline: [{at: PT0S, message: {name: Add, payload: {id: a, n: 1}}}]` + "\noperations: {\"m[b].ask\": {output: 1}}\nexpect: {counts: {run.started: 1}}", "m[a].ask@3.0", "a scripted answer", `operation "ask"`},
		"a given state":          {"given: {\"m[a]\": {n: -1}}\nexpect: {counts: {run.started: 1}}", "invalid", "accepted", `given["m[a]"]: /n: must be at least 0`},
	} {
		t.Run(name, func(t *testing.T) {
			r := first(t, counter+c.text, scenario.Options{})
			require.Len(t, r.Differences, 1, r)
			d := r.Differences[0]
			require.Equal(t, c.key, d.Key)
			require.Contains(t, d.Want, c.want)
			require.Contains(t, d.Got, c.got)
		})
	}
}

func TestWhatOnlyWorldsHave(t *testing.T) {
	for text, want := range map[string]string{
		`given: {"m[a]": 1}` + "\nexpect: {counts: {run.started: 1}}":                                     "only worlds have cells",
		`timeline: [{at: PT1S, snapshot: {}}]` + "\nexpect: {counts: {run.started: 1}}":                   "only worlds have snapshots",
		`timeline: [{at: PT1S, pause: {step: a}}]` + "\nexpect: {counts: {run.started: 1}}":               "only worlds have cells",
		`expect: {cells: {"m[a]": absent}}`:                                                               "only worlds have cells",
		`expect: {raised: []}`:                                                                            "only worlds have raised",
		`timeline: [{at: PT1S, message: {name: m}, refused: x}]` + "\nexpect: {counts: {run.started: 1}}": "it is not refused",
	} {
		r := first(t, base+text, scenario.Options{})
		require.Len(t, r.Differences, 1, text)
		require.Contains(t, r.Differences[0].Got, want)
	}
}

func TestEntriesOfWorldsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"timeline: [{at: PT0S, apply: {workflow: x.yaml}}]":                                "a world keeps the version it was started with: apply is not possible yet",
		"timeline: [{at: PT0S, expect: {run: running}, refused: x}]":                       "expect cannot be refused: it is no command",
		"timeline: [{at: PT0S, messages: []}]":                                             "from 1 to 1000 messages can arrive together, not 0",
		"timeline: [{at: PT0S, messages: [{payload: 1}]}]":                                 "name is missing",
		"timeline: [{at: PT0S, message: {name: a}, messages: [{name: a}]}]":                "cannot be combined with",
		"timeline: [{at: PT0S, expect: {cells: {a: {status: runing}}}}]":                   `did you mean "running"?`,
		"timeline: [{at: PT0S, expect: {cells: {a: {states: 1}}}}]":                        `unknown key "states"`,
		"timeline: [{at: PT0S, resume: {step: a, work: true}}]":                            `unknown key "work"`,
		"timeline: [{at: PT0S, snapshot: {at: 1}}, {at: PT0S, message: {name: a, id: 1}}]": `unknown key "at"`,
	} {
		file := filepath.Join(t.TempDir(), "bad.yaml")
		require.NoError(t, os.WriteFile(file, []byte(counter+text+"\nexpect: {counts: {run.started: 1}}\n"), 0o600))
		_, err := scenario.Load(file)
		require.ErrorContains(t, err, want, text)
	}
}

// Messages of one entry keep their order with every seed, and so do the reports and the end of a call.
func TestTheSeedKeepsTheOrderOfOneSender(t *testing.T) {
	const text = counter + `
timeline:
  - {at: PT0S, messages: [{name: Add, payload: {id: a, n: 1}}, {name: Add, payload: {id: a, n: 2}}, {name: Add, payload: {id: a, n: 3}}, {name: Add, payload: {id: a, n: 4}}]}
  - {at: PT0S, expect: {cells: {"m[a]": {state: {n: 4}}}}}
operations: {ask: {never: true, frames: [{kind: a}, {kind: b}, {kind: c}]}}
expect: {counts: {call.reported: 12, duplicate: 0}}
`
	for seed := range int64(30) {
		require.True(t, first(t, text, scenario.Options{Seed: seed, Crash: true}).Passed, "seed %d", seed)
	}
}
