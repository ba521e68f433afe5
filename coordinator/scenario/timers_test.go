package scenario

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// clocks draws workflows and playbooks with many timers of few durations, so that many timers are due at one instant. The numbers
// in the names of the nodes of a workflow are in template order.
type clocks struct {
	t *rapid.T
	strings.Builder
	number int
}

func (c *clocks) one(of ...string) string       { return rapid.SampledFrom(of).Draw(c.t, "one") }
func (c *clocks) chance(n int) bool             { return rapid.IntRange(1, n).Draw(c.t, "chance") == n }
func (c *clocks) upTo(n int) int                { return rapid.IntRange(1, n).Draw(c.t, "up to") }
func (c *clocks) second() string                { return c.one("PT1S", "PT1S", "PT2S") }
func (c *clocks) line(format string, of ...any) { fmt.Fprintf(c, format+"\n", of...) }

// clocksHead is the head of every drawn document. The calls of `hang` get no answer; those of `busy` fail.
const clocksHead = `kind: Scenario
name: clocks
operations:
  hang: {never: true}
  busy: {after: %s, error: {code: busy, message: m, retryable: true}}
  done: {after: %s, output: 1}
  ask: {participants: {p1: {never: true}, p2: {after: PT1S, error: {code: no, message: m, retryable: true}}, p3: {never: true}}}
`

func (c *clocks) workflow() string {
	c.line("workflow:\n  kind: Workflow\n  name: w\n  operations: {nap1: {sleep: {for: PT1S}}, nap2: {sleep: {for: PT2S}}}")
	c.line("  failure_policy: %s", c.one("continue-running", "continue-running", "abort-dependents"))
	if c.chance(4) {
		c.line("  deadline: %s", c.one("PT2S", "PT3S", "PT4S"))
	}
	if c.chance(4) {
		c.line("  max_concurrency: %d", c.upTo(4))
	}
	c.line("  steps:")
	c.line("    - parallel:\n        steps:")
	for range c.upTo(6) {
		c.node("          ", "", 2)
	}
	return c.String()
}

// node writes a step, a map, or steps one after another.
func (c *clocks) node(indent, prefix string, depth int) {
	c.number++
	if depth > 0 && c.chance(4) {
		prefix += fmt.Sprintf("m%03d", c.number)
		c.line("%s- map:\n%s    id: %s\n%s    over: [1, 2]\n%s    steps:", indent, indent, prefix, indent, indent)
		for range c.upTo(3) {
			c.node(indent+"      ", prefix, depth-1)
		}
		return
	}
	if depth > 0 && c.chance(4) {
		c.line("%s- sequential:\n%s    steps:", indent, indent)
		for range c.upTo(3) {
			c.node(indent+"      ", prefix, 0)
		}
		return
	}
	id := prefix + fmt.Sprintf("s%03d", c.number)
	timing := "timing: {timeout: " + c.second() + ", on_timeout: " + c.one("skip", "fail")
	if c.chance(3) {
		timing += ", total_timeout: PT2S" // of one kind with the timeout in the journal
		id = prefix + fmt.Sprintf("t%03d", c.number)
	}
	if c.chance(2) {
		timing += ", retry: {max_attempts: 3, backoff: " + c.second() + "}"
	}
	timing += "}"
	switch rapid.IntRange(0, 4).Draw(c.t, "kind") {
	case 0:
		c.line("%s- {id: %s, operation: %s}", indent, id, c.one("nap1", "nap2"))
	case 1:
		c.line("%s- {id: %s, operation: ask, target: {resolve: static, participants: [p1, p2, p3]}, fan_in: {policy: any_one, hedge_after: %s}, %s}",
			indent, id, c.second(), timing)
	case 2:
		c.line("%s- {id: %s, operation: done, fulfillment: {policy: external_decision, on_error: %s, decision_source: {kind: operator, timing: {timeout: %s%s}}}}",
			indent, id, c.one("fail", "skip", "retry"), c.second(), c.one("", ", retry: {max_attempts: 2, backoff: "+c.second()+"}"))
	default:
		c.line("%s- {id: %s, operation: %s, %s}", indent, id, c.one("hang", "busy", "busy"), timing)
	}
}

func (c *clocks) playbook() string {
	c.line("workflow:\n  apiVersion: sluice/v1\n  kind: Playbook\n  metadata: {name: w}\n  executor: {spec: {max_concurrency: %d, limits: {max_step_runs: 12}}}\n  workflow:",
		c.upTo(8))
	n := 1 + c.upTo(4)
	for i := range n {
		c.line("    - step: s%d", i)
		if c.chance(4) {
			c.line("      spec: {timeout: %s}", c.second())
		}
		if c.chance(4) {
			c.line("      loop: {in: [1, 2, 3], iterator: i, spec: {mode: parallel}}")
		}
		c.line("      tool:")
		for k := range c.upTo(2) {
			c.line("        - name: t%d", k)
			switch rapid.IntRange(0, 3).Draw(c.t, "kind") {
			case 0:
				c.line("          kind: %s", c.one("hang", "busy"))
				c.line("          timing: {timeout: %s, retry: {max_attempts: 2, backoff: %s}}", c.second(), c.second())
			case 1:
				c.line("          kind: %s", c.one("busy", "noop"))
				c.line("          spec: {policy: {rules: [{when: '{{ _attempt < 3 }}', then: {do: retry, attempts: 3, delay: %s}}]}}", c.one("1", "2"))
			default:
				c.line("          kind: sleep\n          for: %s", c.second())
			}
		}
		c.line("      next:\n        spec: {mode: inclusive}\n        arcs:")
		for range c.upTo(3) {
			c.line("          - {step: s%d}", rapid.IntRange(0, n-1).Draw(c.t, "to"))
		}
	}
	return c.String()
}

// fired is an event in a journal that a timer has caused.
type fired struct {
	seq   int
	at    int64
	due   int64
	rank  int   // of its kind
	place []int // among timers of its kind
	armed int   // event before which it was set
	known bool  // place is set
}

// rank returns the rank of a kind of timer among the timers of one instant. e is the event that the timer has caused.
func rank(e *journal.Event, playbook bool) int {
	switch name := e.Detail.Timer; {
	case e.Type == journal.TimerFired && name == "retry":
		return 1
	case e.Type == journal.TimerFired && name == "decision":
		return 2
	case e.Type == journal.CallResponded:
		return 3
	case e.Type == journal.DispatchCreated:
		return 4
	case e.Type == journal.DecisionReceived:
		return 6
	case e.Type == journal.RunDeadlineExceeded, e.Type == journal.TimerFired && playbook: // a step-run's timeout
		return 7
	}
	return 5
}

var numbers = regexp.MustCompile(`\d+`)

// inTemplate returns the place of a node of a drawn workflow: m001m002s003[4][5] is 1, 4, 2, 5, 3.
func inTemplate(key string) (place []int) {
	id, indexes, _ := strings.Cut(key, "[")
	of := numbers.FindAllString(indexes, -1)
	for i, text := range numbers.FindAllString(id, -1) {
		number, _ := strconv.Atoi(text)
		place = append(place, number)
		if i < len(of) {
			index, _ := strconv.Atoi(of[i])
			place = append(place, index)
		}
	}
	return place
}

// timersOf returns the fired timers of a journal.
func timersOf(events []journal.Event, playbook bool) (list []fired) {
	last, requested := map[string]int{}, map[string]int{}
	for i := range events {
		e := &events[i]
		armed, was := last[e.Node]
		last[e.Node] = i
		switch {
		case e.Type == journal.CallRequested:
			requested[e.Node] = i
		case e.Type == journal.StepScheduled:
			requested[e.Node] = i
		case e.Detail != nil && e.Detail.Due > 0 && (was || e.Node == ""):
			f := fired{seq: i, at: e.At, due: e.Detail.Due, rank: rank(e, playbook), place: inTemplate(e.Node), armed: armed, known: true}
			if playbook {
				at, calls := requested[e.Node]
				f.place, f.known = []int{at}, calls // a task without a call is retried, too
			}
			if f.rank == 5 {
				f.known = playbook || !strings.Contains(e.Node, "t") // the timeout of an attempt or of all attempts
			}
			list = append(list, f)
		}
	}
	return list
}

// checkTimers checks the order of the timers in a journal that were set before the first of them fired.
func checkTimers(t require.TestingT, events []journal.Event, playbook bool) (compared int) {
	list := timersOf(events, playbook)
	for i, a := range list {
		for _, b := range list[i+1:] {
			if a.at != b.at || b.armed >= a.seq || !a.known || !b.known {
				continue
			}
			compared++
			order := cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.rank, b.rank), slices.Compare(a.place, b.place))
			require.LessOrEqual(t, order, 0, "#%d %s %s went before #%d %s %s",
				a.seq+1, events[a.seq].Type, events[a.seq].Node, b.seq+1, events[b.seq].Type, events[b.seq].Node)
		}
	}
	return compared
}

// TestTimersOfOneInstant: the order of timers follows from the journal alone, so a crash at any event changes nothing.
func TestTimersOfOneInstant(t *testing.T) {
	for _, playbook := range []bool{false, true} {
		name := map[bool]string{false: "workflows", true: "playbooks"}[playbook]
		t.Run(name, func(t *testing.T) {
			file, compared := filepath.Join(t.TempDir(), "clocks.yaml"), 0
			rapid.Check(t, func(t *rapid.T) {
				c := &clocks{t: t}
				head := fmt.Sprintf(clocksHead, c.one("PT0S", "PT1S"), c.one("PT0S", "PT1S"))
				text := head + c.workflow() + "until: PT1M\nexpect: {events: [run.started]}\n"
				if playbook {
					c.Reset()
					text = head + c.playbook() + "until: PT1M\nexpect: {events: [workflow.started]}\n"
				}
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
				all, err := Load(file)
				require.NoError(t, err, text)
				r := all[0].Run(Options{Crash: true})
				require.Empty(t, r.Differences, text)
				plain := newExecution(all[0], Options{}, program.NewLibrary())
				plain.execute()
				compared += checkTimers(t, plain.main().journal, playbook)
			})
			require.Positive(t, compared, "no two timers were due at one instant")
			t.Log(compared, "pairs")
		})
	}
}
