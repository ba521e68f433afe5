package net_test

import (
	"fmt"
	"slices"
)

// The model is a second implementation of the rules. It is as simple as possible, examines everything after each event, and
// shares nothing with the net.

// rules are the policies of a task.
const (
	noPolicy    = iota // an error fails the step
	retryErrors        // two attempts, a second between them
	passErrors         // an error continues
	breaks             // ends the pipeline
	sets               // continues, and sets ctx.a
	jumpsBack          // after an error, to the first task
	fails              // for any outcome
	ruleKinds
)

type mTask struct {
	call bool
	rule int
}

type mArc struct {
	to   int
	when int // an index of guards
}

var guards = []string{"", `event.status == "done"`, `event.status == "failed"`, `ctx.a == true`, `ctx.b == true`}

type mStep struct {
	gate      string // key of ctx that must be true; "": none
	discard   bool
	coalesce  bool
	join      string // "", all, any, count (of 2)
	fireMiss  bool
	best      bool
	items     int // of its loop; -1: it has none
	width     int // concurrent iterations
	tasks     []mTask
	inclusive bool
	arcs      []mArc
}

// model is the state of a run in the model.
type model struct {
	steps      []mStep
	completion string
	onBlocked  string
	final      int
	maxRuns    int
	maxJumps   int
	noNext     bool

	ctx       map[string]bool
	tokens    []*mToken
	groups    []*mGroup
	runs      []*mRun
	stepRuns  int
	count     []int // runs of each step
	newest    int   // token
	jumps     int
	now       int64
	halted    bool
	first     string
	finalised int // 0: not yet, 1: its token exists, 2: done
	finalFail string
	succeeded int
	failed    int
	normal    int
	bad       int
	discarded int
	partial   bool
	past      []*mRun  // all runs so far, in the order of scheduling
	waits     []string // the calls for which each call has waited
	log       []string // the tokens that joins have merged, when their runs have succeeded
}

type mToken struct {
	id     int
	step   int
	group  *mGroup
	arc    int
	state  string // new, enabled, pending, held
	final  bool
	from   string // the run that it comes from; of a merged token, the last
	joined []string
}

type mGroup struct {
	parent *mGroup
	step   int // step whose arcs opened it
	arc    int
	born   int  // the newest token at its opening
	alone  bool // one token only
	failed int
	closes bool // its joins are deciding
	closed bool
	joins  []*mJoin
}

type mJoin struct {
	step   int
	tokens []*mToken
	fired  bool
}

type mRun struct {
	key     string
	step    int
	group   *mGroup
	arc     int
	joined  []string
	final   bool
	next    int
	iters   []*mIter
	done    int
	lost    int
	failure string
	sources []string // the runs that its token comes from
	setters []int    // the iterations that have written ctx.a
	called  []mCall
}

type mIter struct {
	run    *mRun
	index  int
	pc     int
	tries  int
	visits []int
	open   string // key of its call; "": none
	wake   int64  // instant at which a sleeping task continues; 0: none
}

func newModel(m model) *model {
	m.ctx, m.count, m.now = map[string]bool{}, make([]int, len(m.steps)), 1
	return &m
}

func (m *model) start() {
	m.put(&mToken{step: 0})
	m.settle()
}

// put brings a token to its step.
func (m *model) put(t *mToken) {
	m.newest++
	t.id, t.state = m.newest, "new"
	if !slices.Contains(m.tokens, t) {
		m.tokens = append(m.tokens, t)
	}
	if m.steps[t.step].join == "" {
		m.admit(t)
		return
	}
	m.arrive(t)
}

func (m *model) drop(t *mToken) {
	m.tokens = slices.DeleteFunc(m.tokens, func(u *mToken) bool { return u == t })
}

func (m *model) admit(t *mToken) {
	s := m.steps[t.step]
	if s.gate != "" && s.coalesce && m.has(t.step, "pending") > 0 {
		m.drop(t)
		m.regroup()
		return
	}
	switch {
	case s.gate == "" || m.ctx[s.gate]:
		t.state = "enabled"
	case s.discard:
		m.drop(t)
		m.discarded++
		m.regroup()
	default:
		t.state = "pending"
	}
}

func (m *model) has(step int, state string) (n int) {
	for _, t := range m.tokens {
		if t.step == step && t.state == state {
			n++
		}
	}
	return n
}

// leads reports whether there is a path from one step to another that does not pass through a third.
func (m *model) leads(from, to, past int, seen []int) bool {
	if from == to {
		return true
	}
	if from == past || slices.Contains(seen, from) {
		return false
	}
	return slices.ContainsFunc(m.steps[from].arcs, func(a mArc) bool {
		return m.leads(a.to, to, past, append(seen, from))
	})
}

// whole reports whether all arcs of a fan-out lead to a join without it.
func (m *model) whole(g *mGroup, join int) bool {
	return !slices.ContainsFunc(m.steps[g.step].arcs, func(a mArc) bool { return !m.leads(a.to, join, g.step, nil) })
}

// around returns a group and its surrounding groups, the outermost first.
func (g *mGroup) around() []*mGroup {
	if g == nil {
		return nil
	}
	return append(g.parent.around(), g)
}

// answering returns the group of a token to which a join belongs, or else its innermost group of several tokens, if there is
// one.
func (m *model) answering(t *mToken) *mGroup {
	for _, g := range t.group.around() {
		if m.whole(g, t.step) {
			return g
		}
	}
	g := t.group
	for g != nil && g.alone {
		g = g.parent
	}
	return g
}

// place returns the order of a token within a group: an arc and an age for each fan-out of several tokens on the path.
func (t *mToken) place(in *mGroup) (list []int) {
	all := t.group.around()
	path := all[slices.Index(all, in)+1:]
	for i, g := range path {
		if g.alone {
			continue
		}
		list = append(list, leaving(path[:i], g.arc), 2*g.born+1)
	}
	return append(list, leaving(path, t.arc), 2*t.id)
}

// leaving returns the arc by which the path left the last group that is not alone.
func leaving(path []*mGroup, arc int) int {
	for i := len(path) - 1; i >= 0 && path[i].alone; i-- {
		arc = path[i].arc
	}
	return arc
}

// arrive brings a token to a join.
func (m *model) arrive(t *mToken) {
	s := m.steps[t.step]
	g := m.answering(t)
	if g == nil {
		m.drop(t)
		if s.join == "count" {
			m.branchFails(t.group, "join_unsatisfied")
			return
		}
		m.fire(nil, &mJoin{step: t.step, tokens: []*mToken{t}})
		return
	}
	var j *mJoin
	for _, k := range g.joins {
		if k.step == t.step {
			j = k
		}
	}
	if j == nil {
		j = &mJoin{step: t.step}
		g.joins = append(g.joins, j)
	}
	if j.fired {
		m.drop(t)
	} else {
		t.state = "held"
		j.tokens = append(j.tokens, t)
		if s.join == "any" || s.join == "count" && len(j.tokens) == 2 {
			m.fire(g, j)
		}
	}
	m.regroup()
}

// fire merges the tokens that have arrived.
func (m *model) fire(g *mGroup, j *mJoin) {
	j.fired = true
	for _, t := range j.tokens {
		m.drop(t)
	}
	last := j.tokens[len(j.tokens)-1]
	t := &mToken{step: j.step, state: "new", from: last.from, group: last.group, arc: last.arc}
	if g != nil {
		t.group, t.arc = g.parent, g.arc
		slices.SortFunc(j.tokens, func(a, b *mToken) int { return slices.Compare(a.place(g), b.place(g)) })
	}
	for _, u := range j.tokens {
		t.joined = append(t.joined, u.from)
	}
	m.newest++
	t.id = m.newest
	m.tokens = append(m.tokens, t)
	m.admit(t)
}

// alive reports whether a token of a group or its nested groups may still arrive.
func (m *model) alive(g *mGroup) bool {
	within := func(h *mGroup) bool { return slices.Contains(h.around(), g) }
	return slices.ContainsFunc(m.tokens, func(t *mToken) bool { return t.state != "held" && within(t.group) }) ||
		slices.ContainsFunc(m.runs, func(r *mRun) bool { return within(r.group) }) ||
		slices.ContainsFunc(m.groups, func(h *mGroup) bool { return h != g && !h.closed && within(h) })
}

// regroup makes the joins of groups without live tokens decide, the innermost first.
func (m *model) regroup() {
	for again := true; again && !m.halted; {
		again = false
		for i := len(m.groups) - 1; i >= 0 && !again; i-- {
			if g := m.groups[i]; !g.closes && !g.closed && !m.alive(g) {
				m.close(g)
				again = true
			}
		}
	}
}

func (m *model) close(g *mGroup) {
	g.closes = true
	fired := false
	for _, j := range g.joins {
		s := m.steps[j.step]
		switch {
		case j.fired:
		case s.join == "count":
			for _, t := range j.tokens {
				m.drop(t)
			}
			if g.parent != nil {
				g.parent.failed++
			}
			m.blame("join_unsatisfied")
		case g.failed == 0 || s.fireMiss:
			m.fire(g, j)
		default:
			for _, t := range j.tokens {
				m.drop(t)
			}
		}
		fired = fired || j.fired
		if m.halted {
			return
		}
	}
	g.closed = true
	if g.failed > 0 && !fired && g.parent != nil {
		g.parent.failed++
	}
}

func (m *model) branchFails(g *mGroup, why string) {
	if g != nil {
		g.failed++
	}
	m.blame(why)
	m.regroup()
}

func (m *model) blame(why string) {
	m.bad++
	if m.first == "" {
		m.first = why
	}
	if m.completion == "fail_fast" {
		m.halt(why)
	}
}

func (m *model) halt(why string) {
	if m.halted {
		return
	}
	m.halted = true
	if m.first == "" {
		m.first = why
	}
	m.tokens = nil
	for _, g := range m.groups {
		g.closed = true
	}
}

// settle processes the rest of an event, and then schedules step-runs one by one.
func (m *model) settle() {
	for !m.done() {
		for _, t := range m.byAge("pending") {
			if m.ctx[m.steps[t.step].gate] {
				t.state = "enabled"
			}
		}
		if len(m.byAge("enabled")) > 0 && m.finalised == 0 && m.stepRuns >= m.maxRuns {
			m.halt("limit_exceeded")
		}
		enabled := m.byAge("enabled")
		switch {
		case len(enabled) > 0:
			m.schedule(enabled[0])
		case len(m.runs) > 0:
			return
		case len(m.byAge("pending")) > 0:
			switch m.onBlocked {
			case "fail":
				m.halt("blocked")
			case "discard":
				for _, t := range m.byAge("pending") {
					if !slices.Contains(m.tokens, t) {
						continue
					}
					m.drop(t)
					m.discarded++
					m.regroup()
				}
			default:
				return
			}
		case m.finalised == 0 && m.final >= 0 && m.count[m.final] == 0:
			m.finalised = 1
			m.newest++
			m.tokens = append(m.tokens, &mToken{id: m.newest, step: m.final, state: "enabled", final: true})
		default:
			m.finalised = 2
		}
	}
}

func (m *model) byAge(state string) (list []*mToken) {
	for _, t := range m.tokens {
		if t.state == state {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *mToken) int { return a.id - b.id })
	return list
}

func (m *model) done() bool { return m.finalised == 2 && len(m.runs) == 0 && len(m.tokens) == 0 }

// waiting reports whether only gates block the run.
func (m *model) waiting() bool {
	return !m.done() && len(m.runs) == 0
}

func (m *model) schedule(t *mToken) {
	m.drop(t)
	m.count[t.step]++
	if !t.final {
		m.stepRuns++
	}
	r := &mRun{key: fmt.Sprintf("s%d@%d", t.step, m.count[t.step]), step: t.step, group: t.group, arc: t.arc, final: t.final, joined: t.joined}
	m.runs = append(m.runs, r)
	m.comesFrom(r, t)
	s := m.steps[t.step]
	switch {
	case s.items < 0 && len(s.tasks) == 0:
		m.endRun(r, "")
	case s.items < 0:
		it := &mIter{run: r, visits: make([]int, len(s.tasks))}
		r.iters = append(r.iters, it)
		m.advance(it)
	default:
		m.fill(r)
	}
}

func (m *model) fill(r *mRun) {
	s := m.steps[r.step]
	var begun []*mIter
	for r.failure == "" && r.next < s.items && len(r.iters) < s.width {
		it := &mIter{run: r, index: r.next, visits: make([]int, len(s.tasks))}
		r.next++
		r.iters = append(r.iters, it)
		begun = append(begun, it)
	}
	if len(r.iters) == 0 && slices.Contains(m.runs, r) {
		m.endRun(r, r.failure)
	}
	for _, it := range begun { // iterations that begin together all begin before one of them ends
		m.advance(it)
	}
}

// advance continues an iteration until it makes a call.
func (m *model) advance(it *mIter) {
	tasks := m.steps[it.run.step].tasks
	for it.pc < len(tasks) {
		it.visits[it.pc]++
		it.tries = 0
		if tasks[it.pc].call {
			m.openCall(it)
			return
		}
		if !m.judge(it, true) {
			return
		}
	}
	m.endIter(it, "")
}

func (m *model) openCall(it *mIter) {
	it.open = it.run.key
	if m.steps[it.run.step].items >= 0 {
		it.open += fmt.Sprintf("[%d]", it.index)
	}
	it.open += fmt.Sprintf(".t%d", it.pc)
	if v := it.visits[it.pc]; v > 1 {
		it.open += fmt.Sprintf("~%d", v)
	}
	m.noteCall(it)
}

// judge applies a task's rule to its outcome. It reports whether the iteration continues at once, with the task at pc.
func (m *model) judge(it *mIter, ok bool) bool {
	it.tries++
	it.open = ""
	rule := m.steps[it.run.step].tasks[it.pc].rule
	fail := func(why string) bool { m.endIter(it, why); return false }
	switch {
	case rule == fails && ok:
		return fail("policy")
	case rule == fails, rule == noPolicy && !ok:
		return fail("boom")
	case rule == retryErrors && !ok:
		if it.tries >= 2 {
			return fail("boom")
		}
		it.wake = m.now + second
		return false
	case rule == breaks:
		m.endIter(it, "")
		return false
	case rule == jumpsBack && !ok:
		if m.jumps >= m.maxJumps {
			m.halt("limit_exceeded")
			return fail("limit_exceeded")
		}
		m.jumps++
		it.pc = 0
		return true
	case rule == sets:
		m.set(it)
	}
	it.pc++
	return true
}

// set writes ctx.a in an iteration. All iterations of a parallel loop write the same value, so a write has no effect after
// another iteration has tried it, even without success: a patch in between stays.
func (m *model) set(it *mIter) {
	r := it.run
	apart := m.steps[r.step].items >= 0 && m.steps[r.step].width > 1
	known := slices.ContainsFunc(r.setters, func(by int) bool { return by != it.index })
	r.setters = append(r.setters, it.index)
	if apart && known {
		return
	}
	m.ctx["a"] = true
}

func (m *model) endIter(it *mIter, why string) {
	r := it.run
	r.iters = slices.DeleteFunc(r.iters, func(o *mIter) bool { return o == it })
	s := m.steps[r.step]
	if s.items < 0 {
		m.endRun(r, why)
		return
	}
	if why == "" {
		r.done++
	} else {
		r.lost++
		if !s.best && r.failure == "" {
			r.failure = why
		}
	}
	m.fill(r)
}

func (m *model) endRun(r *mRun, why string) {
	m.runs = slices.DeleteFunc(m.runs, func(o *mRun) bool { return o == r })
	if why == "" {
		m.succeeded++
		if m.steps[r.step].join != "" {
			m.log = append(m.log, fmt.Sprintf("%s%d%v", m.steps[r.step].join, r.step, r.joined))
		}
		m.partial = m.partial || r.lost > 0
	} else {
		m.failed++
	}
	if m.finalised == 1 {
		m.finalised = 2
		m.finalFail = why
		return
	}
	m.route(r, why)
}

func (m *model) route(r *mRun, why string) {
	s := m.steps[r.step]
	end := func() {
		if why != "" {
			m.branchFails(r.group, why)
			return
		}
		m.normal++
		m.regroup()
	}
	if m.halted || len(s.arcs) == 0 {
		end()
		return
	}
	var go_ []int
	guarded := false
	for i, a := range s.arcs {
		holds := []bool{true, why == "", why != "", m.ctx["a"], m.ctx["b"]}[a.when]
		if holds {
			go_ = append(go_, i)
			guarded = guarded || a.when > 0
			if !s.inclusive {
				break
			}
		}
	}
	if len(go_) == 0 {
		if why == "" && m.noNext {
			m.halt("no_next")
			return
		}
		end()
		return
	}
	if why != "" && !guarded {
		m.blame(why)
	}
	group, arc := r.group, r.arc
	if s.inclusive && len(s.arcs) > 1 {
		group = &mGroup{parent: r.group, step: r.step, arc: r.arc, born: m.newest, alone: len(go_) == 1}
		m.groups = append(m.groups, group)
	}
	var made []*mToken
	for _, i := range go_ {
		if group != r.group {
			arc = i
		}
		made = append(made, &mToken{step: s.arcs[i].to, group: group, arc: arc, state: "new", from: r.key})
	}
	if !m.halted {
		m.tokens = append(m.tokens, made...)
	}
	for _, t := range made {
		if !m.halted {
			m.put(t)
		}
	}
}

// answer applies the outcome of an open call.
func (m *model) answer(key string, ok bool) {
	for _, r := range m.runs {
		for _, it := range r.iters {
			if it.open == key {
				if m.judge(it, ok) {
					m.advance(it)
				}
				m.settle()
				return
			}
		}
	}
}

// pass advances time to the next sleeping task. It reports false if there is none.
func (m *model) pass() bool {
	var next *mIter
	for _, r := range m.runs {
		for _, it := range r.iters {
			if it.wake > 0 && (next == nil || it.wake < next.wake) {
				next = it
			}
		}
	}
	if next == nil {
		return false
	}
	m.now = next.wake
	for _, r := range slices.Clone(m.runs) {
		for _, it := range slices.Clone(r.iters) {
			if it.wake > 0 && it.wake <= m.now {
				it.wake = 0
				m.openCall(it)
			}
		}
	}
	m.settle()
	return true
}

func (m *model) patch(key string, v bool) {
	m.ctx[key] = v
	m.settle()
}

// calls returns the keys of the open calls, sorted.
func (m *model) calls() (list []string) {
	for _, r := range m.runs {
		for _, it := range r.iters {
			if it.open != "" && it.wake == 0 {
				list = append(list, it.open)
			}
		}
	}
	slices.Sort(list)
	return list
}

// verdict returns the end of the run.
func (m *model) verdict() (status, reason string) {
	status, reason = "completed", ""
	switch {
	case m.halted:
		status = "failed"
	case m.completion == "allow_partial" && m.bad > 0 && m.normal == 0:
		status = "failed"
	case m.completion == "allow_partial" && (m.bad > 0 || m.partial):
		status = "partial"
	case m.bad > 0:
		status = "failed"
	}
	if status != "completed" {
		reason = m.first
	}
	if m.finalFail != "" && status != "failed" {
		status = "failed"
		if reason == "" {
			reason = m.finalFail
		}
	}
	return status, reason
}
