package reactive_test

import (
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
)

// hand is a body without rules: tests open and close its calls.
type hand struct {
	*reactive.Calls
	reactive.Refuser
}

func (h hand) Apply(*journal.Event)                { h.Derive() }
func (hand) Input(int32) (any, *journal.Failure)   { return nil, nil }
func (hand) Ready() bool                           { return false }
func (hand) Next(int64) (e journal.Event, ok bool) { return e, false }
func (hand) Explain(explain.Run) explain.Body      { return nil }
func (hand) NextDue() (int64, bool)                { return 0, false }
func (hand) Fire(int64) journal.Event              { panic("it has no timers") }
func (hand) Done() bool                            { return false }
func (hand) Digest(io.Writer, int64)               {}
func (hand) Secrets(int32) []string                { return nil }
func (hand) Verdict() reactive.Verdict             { return reactive.Verdict{} }

// routed is a root whose body is a hand.
type routed struct {
	*reactive.Root
	calls *reactive.Calls
	seq   uint64
}

func second(n int) int64 { return int64(n) * int64(time.Second) }

// byHand makes the run of a playbook with two call sites: `slow`, with a timeout of ten seconds, and `other`.
func byHand(t require.TestingT, executor string) *routed {
	c, err := kinds.Load("playbook.yaml", []byte(`
apiVersion: sluice/v1
kind: Playbook
metadata: {name: by-hand}
executor: {spec: {`+executor+`}}
workflow:
  - {step: slow, tool: {kind: work, timing: {timeout: PT10S}}}
  - {step: other, tool: {kind: work}}
`), template.Known{Operation: func(string) bool { return true }})
	require.NoError(t, err)
	p, err := plan.Compile(c)
	require.NoError(t, err)
	r := &routed{}
	r.Root = reactive.NewRouted(p, func(c *reactive.Calls) reactive.Body { r.calls = c; return hand{Calls: c} })
	e := r.event(0, journal.RunStarted, "", 0)
	e.Detail = &journal.Detail{Start: &journal.Start{Run: "r"}}
	r.Apply(e)
	return r
}

func (r *routed) open(site int32, key string) int32 {
	v := r.calls.Open(site, key)
	r.calls.Derive()
	return v
}

func (r *routed) event(at int64, t journal.Type, key string, attempt int32) *journal.Event {
	r.seq++
	return &journal.Event{Seq: r.seq, At: at, Type: t, Node: key, Attempt: attempt}
}

func TestANodeIsUsedAgainForItsSiteAlone(t *testing.T) {
	r := byHand(t, "")
	slow, other := r.open(0, "slow@1"), r.open(1, "other@1")
	first := r.Request(slow, 1)
	r.calls.Close(slow)
	r.calls.Close(other)
	require.Equal(t, reactive.Absent, r.Status(slow))
	r.NextStart(nil) // the closed calls leave the queue
	size := r.Len()
	again := r.open(0, "slow@2")
	require.Equal(t, slow, again)
	require.Equal(t, size, r.Len())
	require.NotEqual(t, first, r.Request(again, 1), "a request names the use of the node")
	require.Equal(t, "slow@2", r.Key(again))
	_, there := r.Node("slow@1")
	require.False(t, there)
}

func TestCallsStartInTheOrderOfOpening(t *testing.T) {
	r := byHand(t, "")
	for i := range 3 {
		r.open(1, fmt.Sprintf("other@%d", i))
		r.open(0, fmt.Sprintf("slow@%d", i))
	}
	var keys []string
	for {
		v, ok := r.NextStart(nil)
		if !ok {
			break
		}
		keys = append(keys, r.Key(v))
		r.Apply(r.event(0, journal.CallRequested, r.Key(v), 1))
	}
	require.Equal(t, []string{"other@0", "slow@0", "other@1", "slow@1", "other@2", "slow@2"}, keys)
}

func TestWhatAClosedCallLeavesBehindMeansNothingToTheNext(t *testing.T) {
	r := byHand(t, "")
	v := r.open(0, "slow@1")
	r.Apply(r.event(0, journal.CallRequested, "slow@1", 1))
	old := r.Request(v, 1)
	r.calls.Close(v)
	require.Equal(t, []reactive.Request{old}, r.TakeCancels(), "the call under way is stopped")
	r.NextStart(nil)

	require.Equal(t, v, r.open(0, "slow@2"))
	r.Apply(r.event(second(5), journal.CallRequested, "slow@2", 1))
	require.False(t, r.Open(old), "the call of the former call is not this one's")
	require.Equal(t, second(15), r.NextDue(), "nor is its timeout")

	late := r.event(second(6), journal.CallResponded, "slow@1", 1)
	late.Hint = v + 1 // of when it was made
	require.Equal(t, reactive.Late, r.Apply(late))
	require.Equal(t, reactive.Running, r.Status(v))
	require.Equal(t, reactive.Applied, r.Apply(r.event(second(7), journal.CallResponded, "slow@2", 1)))
	require.True(t, r.Final(v))
}

func TestThePlaceOfAClosedCallInAQueueIsNobodys(t *testing.T) {
	r := byHand(t, "max_concurrency: 1")
	first, second, third := r.open(1, "other@1"), r.open(1, "other@2"), r.open(1, "other@3")
	require.Equal(t, reactive.Ready, r.Status(first))
	require.Equal(t, reactive.Waiting, r.Status(second))
	r.calls.Close(second) // it no longer waits for a slot, but its place in the queue remains
	fourth := r.open(1, "other@4")
	require.Equal(t, second, fourth, "its node is used again at once")
	r.Apply(r.event(0, journal.CallRequested, "other@1", 1))
	r.Apply(r.event(0, journal.CallResponded, "other@1", 1))
	require.Equal(t, reactive.Ready, r.Status(third), "the slot goes to the next that waits")
	require.Equal(t, reactive.Waiting, r.Status(fourth), "it has not taken the place of the second")
}

// Timers of one instant fire in the order of requests, whatever nodes the calls have, and however often NextDue is called.
func TestTimersOfOneInstantGoInTheOrderOfRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := byHand(t, "")
		var asked []string // the requested calls that are still open
		for i := range rapid.IntRange(2, 30).Draw(t, "calls") {
			key := fmt.Sprintf("slow@%d", i)
			r.open(0, key)
			if len(asked) > 0 && rapid.Bool().Draw(t, "close") {
				at := rapid.IntRange(0, len(asked)-1).Draw(t, "which")
				v, _ := r.Node(asked[at])
				r.calls.Close(v)
				asked = slices.Delete(asked, at, at+1)
			}
			if rapid.Bool().Draw(t, "look") {
				r.NextStart(nil)
				r.NextDue()
			}
			r.Apply(r.event(0, journal.CallRequested, key, 1))
			asked = append(asked, key)
		}
		var fired []string
		for e, ok := r.Fire(second(10)); ok; e, ok = r.Fire(second(10)) {
			fired = append(fired, e.Node)
			r.seq++
			e.Seq = r.seq
			r.Apply(&e)
		}
		require.Equal(t, asked, fired)
	})
}

func TestTimersOfClosedCallsDoNotPileUp(t *testing.T) {
	r := byHand(t, "")
	for i := range 20_000 {
		key := fmt.Sprintf("slow@%d", i)
		v := r.open(0, key)
		r.Apply(r.event(int64(i), journal.CallRequested, key, 1))
		r.Apply(r.event(int64(i), journal.CallResponded, key, 1))
		r.calls.Close(v)
		r.NextStart(nil)
	}
	require.LessOrEqual(t, r.Len(), int32(4))
	require.LessOrEqual(t, reactive.TimersHeld(r.Root), 1024)
}

func TestACallIsMadeAgainWhenItsDelayIsOver(t *testing.T) {
	r := byHand(t, "")
	v := r.open(1, "other@1")
	r.Apply(r.event(0, journal.CallRequested, "other@1", 1))
	r.Apply(r.event(0, journal.CallResponded, "other@1", 1))
	require.True(t, r.Final(v))
	r.calls.Again(v, second(3))
	r.calls.Derive()
	require.False(t, r.Final(v))
	require.Equal(t, second(3), r.NextDue())
	e, ok := r.Fire(second(3))
	require.True(t, ok)
	r.seq++
	e.Seq = r.seq
	r.Apply(&e)
	next, ok := r.NextStart(nil)
	require.True(t, ok)
	require.Equal(t, v, next)
	r.Apply(r.event(second(3), journal.CallRequested, "other@1", 2))
	require.Equal(t, reactive.Running, r.Status(v))
	require.EqualValues(t, 2, r.Attempts(v))
}
