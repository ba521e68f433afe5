package reactive_test

import (
	"math"
	"slices"

	"github.com/sluiceflow/sluice/template"
)

// world is one step that asks participants, with the reactions of each. Durations are seconds; 0: none.
type world struct {
	policy    string
	min       int
	ascending bool
	hedge     int64

	timeout, total, deadline int64
	onTimeout                template.OnTimeout

	attempts            int
	backoff, maxBackoff int64
	multiplier          float64
	on, never           []string
	scopeAll            bool

	targets   [][]string // by attempt; the last is for all later attempts
	reactions map[asking]reaction
}

// asking identifies a dispatch.
type asking struct {
	who     string
	attempt int32
}

// reaction is the end of a dispatch: an answer with or without a score, an error, or no such participant.
type reaction struct {
	after int64 // seconds, at least 1; 0: never
	turn  int   // the order of reactions at one instant
	kind  reactionKind
	score float64
}

type reactionKind int

const (
	scored reactionKind = iota
	unscored
	busy    // a retryable error
	refused // an error that is not retryable
	absent
)

// output returns the answer of a participant.
func (w *world) output(a asking) any {
	out := map[string]any{"by": a.who, "attempt": int64(a.attempt)}
	if r := w.reactions[a]; r.kind == scored {
		out["price"] = r.score
	} else {
		out["price"] = "on request"
	}
	return out
}

func (w *world) targetsOf(attempt int32) []string {
	return w.targets[min(int(attempt), len(w.targets))-1]
}

// prediction is the expected result of a world.
type prediction struct {
	Run, Status, Code string
	Output            any
	Attempts          int
	Dispatches        []dispatched
	Finished          int64 // -1: not at all
}

type dispatched struct {
	Who     string
	Attempt int32
	State   string
}

// oracle predicts a world in the simplest way: it advances second by second, and at each examines all records. It has no
// counters, heaps or events.
type oracle struct {
	w        *world
	now      int64
	asked    []record
	kept     int // a retry that asks all participants dropped the records before this one
	attempt  int32
	begun    int64 // the newest attempt
	reserve  []string
	running  bool
	retryAt  int64 // -1: no retry is scheduled
	status   string
	code     string
	output   any
	run      string
	finished int64
}

// record is a dispatch.
type record struct {
	asking
	asked, settled int64
	state          string
}

// horizon is a second by which all worlds have ended.
const horizon = 600

func (w *world) predict() prediction {
	o := &oracle{w: w, retryAt: -1, run: "running", finished: -1}
	o.begin()
	for ; o.now <= horizon && o.finished < 0; o.now++ {
		o.answers()
		for o.finished < 0 && o.due() { // a retry without a backoff may fail in the same second
		}
	}
	if o.finished < 0 && !o.running {
		panic("the oracle has lost its way")
	}
	p := prediction{Run: o.run, Status: o.status, Code: o.code, Output: o.output, Attempts: int(o.attempt), Finished: o.finished}
	for _, r := range o.asked {
		p.Dispatches = append(p.Dispatches, dispatched{r.who, r.attempt, r.state})
	}
	return p
}

// begin starts an attempt: it asks the participants without a usable answer, or all participants; when hedging, one by one.
func (o *oracle) begin() {
	o.attempt++
	o.begun, o.running, o.status, o.code, o.retryAt = o.now, true, "running", "", -1
	if o.w.scopeAll {
		o.kept = len(o.asked)
	}
	o.reserve = nil
	for _, who := range o.w.targetsOf(o.attempt) {
		has := slices.ContainsFunc(o.usable(), func(r record) bool { return r.who == who })
		if !has && !slices.Contains(o.reserve, who) {
			o.reserve = append(o.reserve, who)
		}
	}
	o.askNext()
	for o.w.hedge == 0 && len(o.reserve) > 0 {
		o.askNext()
	}
	o.judge()
}

func (o *oracle) askNext() {
	if len(o.reserve) > 0 {
		o.asked = append(o.asked, record{asking{o.reserve[0], o.attempt}, o.now, -1, "pending"})
		o.reserve = o.reserve[1:]
	}
}

// answers applies the reactions of this second.
func (o *oracle) answers() {
	var in []int
	for i, r := range o.asked {
		if x := o.w.reactions[r.asking]; x.after > 0 && r.asked+x.after == o.now {
			in = append(in, i)
		}
	}
	slices.SortStableFunc(in, func(i, j int) int {
		return o.w.reactions[o.asked[i].asking].turn - o.w.reactions[o.asked[j].asking].turn
	})
	for _, i := range in {
		r := &o.asked[i]
		if r.state != "pending" {
			continue // too late
		}
		r.settled = o.now
		switch o.w.reactions[r.asking].kind {
		case scored, unscored:
			r.state = "responded"
		case busy, refused:
			r.state = "failed"
		case absent:
			r.state = "unreachable"
		}
		o.judge()
	}
}

// due applies the timers of this second, and reports whether there were any. The timers of the step fire before the deadline;
// an attempt without open dispatches is checked last.
func (o *oracle) due() bool {
	w := o.w
	window := int64(-1)
	switch {
	case w.timeout > 0:
		window = o.begun + w.timeout
	case w.policy == template.BestOf && w.deadline > 0:
		window = w.deadline
	}
	pending := o.count("pending")
	switch {
	case o.running && len(o.reserve) > 0 && pending > 0 && o.lastAsked()+w.hedge == o.now:
		o.askNext()
	case o.running && window == o.now:
		o.timeUp(false)
	case (o.running || o.retryAt >= 0) && w.total > 0 && w.total == o.now:
		o.timeUp(true)
	case w.deadline > 0 && w.deadline == o.now:
		o.close("cancelled")
		o.running, o.status, o.code = false, "aborted", "deadline_exceeded"
		o.finish("deadline_exceeded")
	case o.running && len(o.reserve) > 0 && pending == 0:
		o.askNext()
	case o.retryAt == o.now:
		o.begin()
	default:
		return false
	}
	return true
}

// timeUp ends an attempt at its timeout, or at the total timeout.
func (o *oracle) timeUp(forGood bool) {
	if o.running && o.w.policy == template.BestOf && len(o.scored()) >= max(1, o.w.min) {
		o.close("timeout")
		o.succeed(o.best())
		return
	}
	o.close("timeout")
	o.running = false
	if at := o.again("timeout", true); !forGood && at >= 0 {
		o.status, o.code, o.retryAt = "failed", "timeout", at
		return
	}
	o.retryAt, o.code = -1, "timeout"
	switch o.w.onTimeout {
	case template.SkipOnTimeout:
		o.status = "skipped"
		o.finish("completed")
	default:
		o.status = "failed"
		o.finish("step_timeout")
	}
}

// judge determines whether the answers decide.
func (o *oracle) judge() {
	pending, failed, usable := o.count("pending"), o.count("failed"), o.usable()
	unanswered := func() { // no usable answer, and no participant left
		if failed > 0 {
			o.fail("all_failed", true)
		} else {
			o.fail("no_targets", true)
		}
	}
	switch o.w.policy {
	case template.AnyOne:
		switch {
		case len(usable) > 0:
			o.succeed(o.w.output(usable[0].asking))
		case pending+len(o.reserve) == 0:
			unanswered()
		}
	case template.All:
		switch {
		case failed > 0:
			o.fail("target_failed", o.w.reactions[o.failedRecord().asking].kind == busy)
		case pending == 0 && len(usable) == 0:
			unanswered()
		case pending == 0:
			o.succeed(o.list(usable))
		}
	case template.Quorum:
		switch {
		case len(usable) >= o.w.min:
			o.succeed(o.list(usable))
		case pending+failed+o.count("unreachable")+len(usable) == 0:
			unanswered()
		case len(usable)+pending < o.w.min:
			o.fail("quorum_unreachable", true)
		}
	case template.BestOf:
		switch {
		case pending > 0:
		case len(o.scored()) >= max(1, o.w.min):
			o.succeed(o.best())
		case len(usable) == 0:
			unanswered()
		case len(o.scored()) == 0:
			o.fail("no_scorable_response", false)
		default:
			o.fail("quorum_unreachable", true)
		}
	}
}

func (o *oracle) succeed(output any) {
	o.close("cancelled")
	o.running, o.status, o.output = false, "completed", output
	o.finish("completed")
}

func (o *oracle) fail(code string, retryable bool) {
	o.close("cancelled")
	o.running, o.status, o.code = false, "failed", code
	if o.retryAt = o.again(code, retryable); o.retryAt < 0 {
		o.finish("failed")
	}
}

// again returns the second at which the next attempt begins, or -1.
func (o *oracle) again(code string, retryable bool) int64 {
	w := o.w
	if len(w.on) > 0 {
		retryable = slices.Contains(w.on, code)
	}
	if int(o.attempt) >= w.attempts || !retryable || slices.Contains(w.never, code) {
		return -1
	}
	delay := int64(float64(w.backoff) * math.Pow(w.multiplier, float64(o.attempt-1)))
	if w.maxBackoff > 0 {
		delay = min(delay, w.maxBackoff)
	}
	at := o.now + delay
	if w.deadline > 0 && at >= w.deadline || w.total > 0 && at >= w.total {
		return -1
	}
	return at
}

func (o *oracle) close(state string) {
	for i := range o.asked {
		if o.asked[i].state == "pending" {
			o.asked[i].state = state
		}
	}
	o.reserve = nil
}

// finish ends the run. A step that ends at the second of the deadline has ended before it.
func (o *oracle) finish(run string) { o.run, o.finished = run, o.now }

func (o *oracle) count(state string) int {
	n := 0
	for _, r := range o.asked {
		if r.attempt == o.attempt && r.state == state {
			n++
		}
	}
	return n
}

func (o *oracle) failedRecord() record {
	i := slices.IndexFunc(o.asked, func(r record) bool { return r.attempt == o.attempt && r.state == "failed" })
	return o.asked[i]
}

func (o *oracle) lastAsked() int64 { return o.asked[len(o.asked)-1].asked }

// usable returns the answers that count, in the order of their requests.
func (o *oracle) usable() []record {
	var list []record
	for _, r := range o.asked[o.kept:] {
		if r.state == "responded" {
			list = append(list, r)
		}
	}
	return list
}

func (o *oracle) scored() []record {
	return slices.DeleteFunc(o.usable(), func(r record) bool { return o.w.reactions[r.asking].kind != scored })
}

func (o *oracle) best() any {
	list := o.scored()
	best := list[0]
	for _, r := range list[1:] {
		a, b := o.w.reactions[r.asking].score, o.w.reactions[best.asking].score
		if !o.w.ascending {
			a, b = -a, -b
		}
		if a < b || a == b && r.settled < best.settled {
			best = r
		}
	}
	return o.w.output(best.asking)
}

func (o *oracle) list(records []record) any {
	list := []any{}
	for _, r := range records {
		list = append(list, o.w.output(r.asking))
	}
	return map[string]any{"responses": list}
}
