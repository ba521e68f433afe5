package call

import (
	"cmp"
	"math"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// State is the state of one dispatch.
type State string

// The states of a dispatch. All but Pending are final: a later answer is late and changes nothing.
const (
	Pending     State = "pending"
	Responded   State = "responded"   // a usable answer was returned
	Failed      State = "failed"      // an error was returned
	Unreachable State = "unreachable" // the participant could not be asked
	TimedOut    State = "timeout"     // no answer at the end of the attempt's time
	Cancelled   State = "cancelled"   // no longer needed
)

// Codes of failures of a call with participants.
const (
	CodeNoTargets         = "no_targets"
	CodeAllFailed         = "all_failed"
	CodeTargetFailed      = "target_failed"
	CodeQuorumUnreachable = "quorum_unreachable"
	CodeNoScorable        = "no_scorable_response"
	CodeTimeout           = "timeout"
	CodeQueueTimeout      = "queue_timeout" // no worker took the call in time
)

// Dispatch is one request to one participant.
type Dispatch struct {
	Participant string           // id
	Attempt     int32            // of the step, from 1
	State       State            // pending until it is settled
	Output      any              // if Responded: a value of package value, or the value in the event
	Failure     *journal.Failure // set if there is no usable answer
	Asked       int64            // instant of the request, Unix nanoseconds
	At          int64            // instant of the end, Unix nanoseconds
}

// Gather turns the answers of several participants into one outcome. It keeps usable answers across failed attempts, so that
// no participant is asked twice for the same answer. An attempt after a success asks all participants again, because it would
// otherwise repeat that success. Begin, and an event that ends an attempt, take time proportional to the number of dispatches;
// every other event takes O(1).
//
// Invariants: (1) asked holds the newest dispatch of each participant in play; (2) pending, responded, failed and
// unreachable count the dispatches in play: kept answers, and all dispatches of the newest attempt; (3) after the end of an
// attempt, nothing changes until Begin; (4) a participant has at most one dispatch in an attempt.
type Gather struct {
	spec       *template.FanIn
	score      value.Pointer
	dispatches []Dispatch     // of all attempts, in the order in which they were asked
	asked      map[string]int // newest dispatch of each participant in play
	reserve    []string       // hedging: participants not yet asked, in order. It belongs to the event: read only
	attempt    int32
	first      int // first dispatch of the newest attempt

	pending, responded, failed, unreachable int
	error                                   *journal.Failure // of the newest failed dispatch
	best                                    int              // dispatch with the best score; -1: no score yet
	bestScore                               value.Value      // a number
	scored                                  int
	last                                    int64 // instant of the last request
	settled                                 int64 // instant of the last answer
	done                                    bool  // there is no attempt, or the attempt has ended
	won                                     bool  // the newest attempt has an output
	looked                                  int   // number of visited dispatches, for tests
}

// NewGather returns the Gather of one step. A nil spec means any_one.
func NewGather(spec *template.FanIn) *Gather {
	if spec == nil {
		spec = &template.FanIn{Policy: template.AnyOne}
	}
	g := &Gather{spec: spec, asked: map[string]int{}, best: -1, done: true}
	if spec.ScoreField != "" {
		g.score, _ = value.ParsePointer(spec.ScoreField) // checked with the document
	}
	return g
}

// Lacking returns the participants that a new attempt asks, each once, in order: those without a usable answer. If all is true,
// and after a success, it returns all participants.
func (g *Gather) Lacking(participants []string, all bool) []string {
	var list []string
	seen := make(map[string]bool, len(participants))
	for _, p := range participants {
		i, ok := g.asked[p]
		if !seen[p] && (all || g.won || !ok || g.dispatches[i].State != Responded) {
			list = append(list, p)
		}
		seen[p] = true
	}
	return list
}

// Begin starts an attempt that asks these participants, each once: all at once or, when hedging, only the first. It cancels
// open dispatches of an earlier attempt. The Gather reads participants until the attempt has ended.
func (g *Gather) Begin(attempt int32, participants []string, at int64, all bool) {
	g.close(Cancelled, at)
	if all || g.won {
		g.responded, g.scored, g.best, g.bestScore = 0, 0, -1, nil
		clear(g.asked)
	}
	g.attempt, g.done, g.won, g.error, g.first = attempt, false, false, nil, len(g.dispatches)
	g.failed, g.unreachable, g.last = 0, 0, at
	g.reserve = participants
	if g.spec.HedgeAfter == 0 {
		g.grow(len(participants))
	}
	for len(g.reserve) > 0 {
		g.ask(g.reserve[0], at)
		if g.spec.HedgeAfter > 0 {
			return
		}
	}
}

// grow makes room for n dispatches at once.
func (g *Gather) grow(n int) {
	g.dispatches = slices.Grow(g.dispatches, n)
	if len(g.asked) == 0 {
		g.asked = make(map[string]int, n)
	}
}

// Ask asks a participant of the reserve in the newest attempt. It does nothing and reports false if another participant is
// next.
func (g *Gather) Ask(participant string, at int64) bool {
	if next, _, ok := g.Next(); !ok || next != participant {
		return false
	}
	g.ask(participant, at)
	return true
}

// ask adds a dispatch for a participant, and drops the participants with a dispatch in this attempt from the front of the
// reserve.
func (g *Gather) ask(participant string, at int64) {
	g.asked[participant] = len(g.dispatches)
	g.dispatches = append(g.dispatches, Dispatch{Participant: participant, Attempt: g.attempt, State: Pending, Asked: at})
	g.pending++
	g.last = at
	for len(g.reserve) > 0 && g.askedNow(g.reserve[0]) {
		g.looked++
		g.reserve = g.reserve[1:]
	}
}

// askedNow reports whether a participant has a dispatch in the newest attempt.
func (g *Gather) askedNow(participant string) bool {
	i, ok := g.asked[participant]
	return ok && i >= g.first
}

// Open reports whether a participant has an open dispatch in an attempt.
func (g *Gather) Open(participant string, attempt int32) bool {
	_, ok := g.open(participant, attempt)
	return ok
}

// open returns the open dispatch of a participant in an attempt.
func (g *Gather) open(participant string, attempt int32) (i int, ok bool) {
	i, ok = g.asked[participant]
	return i, ok && g.dispatches[i].Attempt == attempt && g.dispatches[i].State == Pending
}

// Waiting returns the participants with open dispatches, in the order in which they were asked. It visits every dispatch of
// the newest attempt, so it must not be called for every answer.
func (g *Gather) Waiting() []string {
	return g.inState(func(s State) bool { return s == Pending })
}

// Dropped returns the participants whose dispatches were open when the newest attempt ended, in the order in which they were
// asked. It visits every dispatch of the attempt.
func (g *Gather) Dropped() []string {
	return g.inState(func(s State) bool { return s == Cancelled || s == TimedOut })
}

func (g *Gather) inState(stands func(State) bool) []string {
	var list []string
	g.looked += len(g.dispatches) - g.first
	for i := g.first; i < len(g.dispatches); i++ {
		if stands(g.dispatches[i].State) {
			list = append(list, g.dispatches[i].Participant)
		}
	}
	return list
}

// Next returns the next participant to ask and the instant to ask it: 0 (at once) if no dispatch is open, otherwise hedge_after
// after the last request. It reports false if all have been asked.
func (g *Gather) Next() (participant string, due int64, ok bool) {
	if g.done || len(g.reserve) == 0 {
		return "", 0, false
	}
	if g.pending > 0 {
		due = After(g.last, g.spec.HedgeAfter)
	}
	return g.reserve[0], due, true
}

// Settle records the end of a dispatch of the newest attempt: responded, failed (with a failure) or unreachable; only the
// end of the attempt itself sets another state. It reports false if the dispatch is not open.
func (g *Gather) Settle(participant string, attempt int32, s State, output any, failure *journal.Failure, at int64) bool {
	i, ok := g.open(participant, attempt)
	if !ok || s != Responded && s != Failed && s != Unreachable {
		return false
	}
	d := &g.dispatches[i]
	d.State, d.Output, d.Failure, d.At = s, output, failure, at
	g.settled = at
	g.pending--
	switch s {
	case Responded:
		g.responded++
		g.rank(i)
	case Failed:
		g.failed++
		g.error = failure
	case Unreachable:
		g.unreachable++
	}
	return true
}

// rank compares a response with the best so far. Of equal scores, the earlier answer wins; of answers at one instant, the
// answer of the earlier dispatch, in whatever order they arrived.
func (g *Gather) rank(i int) {
	if g.spec.Policy != template.BestOf {
		return
	}
	score, ok := g.scoreOf(g.dispatches[i].Output)
	if !ok {
		return
	}
	g.scored++
	if g.best < 0 || g.better(i, score) {
		g.best, g.bestScore = i, score
	}
}

// better reports whether dispatch i, with the given score, ranks before the best so far.
func (g *Gather) better(i int, score value.Value) bool {
	order := compare(score, g.bestScore)
	if g.spec.ScoreOrder != "asc" {
		order = -order
	}
	return cmp.Or(order, cmp.Compare(g.dispatches[i].At, g.dispatches[g.best].At), cmp.Compare(i, g.best)) < 0
}

// scoreOf returns the score of an answer. It reports false if the score is not a number.
func (g *Gather) scoreOf(output any) (value.Value, bool) {
	v, err := value.Of(output)
	if err != nil {
		return nil, false
	}
	if v, err = g.score.Lookup(v); err != nil {
		return nil, false
	}
	switch n := v.(type) {
	case int64:
		return v, true
	case float64:
		return v, !math.IsNaN(n)
	}
	return nil, false
}

// compare compares two numbers. It compares integers as integers: as floats, different instants in nanoseconds would be equal.
func compare(a, b value.Value) int {
	x, xInt := a.(int64)
	y, yInt := b.(int64)
	if xInt && yInt {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(float(a), float(b))
}

func float(v value.Value) float64 {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v.(float64)
}

// Judge reports whether the answers so far decide the attempt. If they do, it ends the attempt, cancels open dispatches, and returns the
// output according to the policy, or a failure.
func (g *Gather) Judge() (Result, bool) {
	if g.done {
		return Result{}, false
	}
	out, ok := g.judge()
	if ok {
		g.won = out.Failure == nil
		g.close(Cancelled, g.settled)
	}
	return out, ok
}

func (g *Gather) judge() (Result, bool) {
	switch g.spec.Policy {
	case template.All:
		return g.judgeAll()
	case template.Quorum:
		return g.judgeQuorum()
	case template.BestOf:
		if g.pending > 0 {
			return Result{}, false
		}
		return g.judgeBest(), true
	}
	switch {
	case g.responded > 0:
		return Result{Output: g.firstResponse()}, true
	case g.pending > 0 || len(g.reserve) > 0:
		return Result{}, false
	}
	return Result{Failure: g.unanswered()}, true
}

func (g *Gather) judgeAll() (Result, bool) {
	switch {
	case g.failed > 0:
		return Result{Failure: &journal.Failure{
			Code: CodeTargetFailed, Message: g.error.Error(), Details: g.error.Details, Retryable: g.error.Retryable,
		}}, true
	case g.pending > 0:
		return Result{}, false
	case g.responded == 0:
		return Result{Failure: g.unanswered()}, true
	}
	return Result{Output: g.responses()}, true
}

func (g *Gather) judgeQuorum() (Result, bool) {
	k := g.spec.MinResponses
	switch {
	case g.responded >= k:
		return Result{Output: g.responses()}, true
	case g.responded+g.pending >= k:
		return Result{}, false
	case g.responded+g.pending+g.failed+g.unreachable == 0:
		return Result{Failure: g.unanswered()}, true
	}
	return Result{Failure: &journal.Failure{
		Code: CodeQuorumUnreachable, Message: "too few participants can still answer", Retryable: true,
	}}, true
}

// judgeBest decides once no dispatch is open.
func (g *Gather) judgeBest() Result {
	switch {
	case g.scored > 0 && g.scored >= g.spec.MinResponses:
		return Result{Output: g.dispatches[g.best].Output}
	case g.responded == 0:
		return Result{Failure: g.unanswered()}
	case g.scored == 0:
		return Result{Failure: &journal.Failure{Code: CodeNoScorable, Message: "no answer has a number at " + g.spec.ScoreField}}
	}
	return Result{Failure: &journal.Failure{
		Code: CodeQuorumUnreachable, Message: "fewer answers with a score than min_responses", Retryable: true,
	}}
}

// unanswered returns the failure of an attempt without a usable answer. If no dispatch failed, there were no participants.
func (g *Gather) unanswered() *journal.Failure {
	if g.failed == 0 {
		return &journal.Failure{Code: CodeNoTargets, Message: "no participant could be asked", Retryable: true}
	}
	return &journal.Failure{Code: CodeAllFailed, Message: "the last error: " + g.error.Error(), Retryable: true}
}

// Expire ends an attempt at the end of its time: open dispatches time out. For best_of, this is the end of its window, and a
// success if Succeeds reports true.
func (g *Gather) Expire(at int64) Result {
	g.won = g.Succeeds()
	g.close(TimedOut, at)
	if !g.won {
		return Result{Failure: &journal.Failure{Code: CodeTimeout, Message: "no answer in time", Retryable: true}}
	}
	return Result{Output: g.dispatches[g.best].Output}
}

// Succeeds reports whether Expire would return an output now.
func (g *Gather) Succeeds() bool {
	return g.spec.Policy == template.BestOf && g.scored >= max(1, g.spec.MinResponses)
}

// Close ends the attempt from outside and cancels open dispatches.
func (g *Gather) Close(at int64) { g.close(Cancelled, at) }

func (g *Gather) close(s State, at int64) {
	if g.done {
		return
	}
	g.done = true
	g.reserve = nil
	g.looked += len(g.dispatches) - g.first
	for i := g.first; i < len(g.dispatches); i++ {
		if g.dispatches[i].State == Pending {
			g.dispatches[i].State, g.dispatches[i].At = s, at
		}
	}
	g.pending = 0
}

// Dispatches returns the dispatches of all attempts, in the order in which they were asked. The slice belongs to the Gather.
func (g *Gather) Dispatches() []Dispatch { return g.dispatches }

func (g *Gather) firstResponse() any {
	first := -1
	for _, i := range g.kept() {
		if first < 0 || g.dispatches[i].At < g.dispatches[first].At {
			first = i
		}
	}
	return g.dispatches[first].Output
}

// responses returns the output for policies with several answers, in the order in which the participants were asked.
func (g *Gather) responses() any {
	list := make([]any, 0, g.responded)
	for _, i := range g.kept() {
		list = append(list, g.dispatches[i].Output)
	}
	return map[string]any{"responses": list}
}

// kept returns the dispatches with usable answers that count.
func (g *Gather) kept() []int {
	var list []int
	g.looked += len(g.dispatches)
	for i := range g.dispatches {
		d := &g.dispatches[i]
		if newest, ok := g.asked[d.Participant]; ok && newest == i && d.State == Responded {
			list = append(list, i)
		}
	}
	return list
}
