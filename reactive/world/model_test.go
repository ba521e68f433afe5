package world_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/sluiceflow/sluice/reactive/world"
)

// model is a simple implementation of the world in worldText: maps that it searches each time, and machines that are plain
// functions. It uses neither journal nor expressions.
type model struct {
	cells     map[string]*modelCell
	ring      []string // addresses of cells with something to do
	faults    []string // addresses of cells that must fail
	paused    bool
	ids       map[string]bool
	opened    int // number of intents so far
	tally     world.Tally
	activated []string
	now       int64 // milliseconds
}

type modelCell struct {
	address string
	key     string
	machine func(*activation)
	rejects bool // it takes answers that do not fit
	process bool

	state     *modelState
	mail      []modelItem
	aside     *modelItem
	failure   string
	completed bool
	paused    bool
	open      []modelIntent
	ttl       int64 // milliseconds; 0: none
	active    int64 // instant of its last activity
}

type modelState struct {
	n   int64
	got []string
}

// modelItem is an item of a cell: a message, a receipt, a rejection or a timer.
type modelItem struct {
	kind string // Do, Heard, ask, slow, Rejected, timer
	what string // of Do; of a receipt its status; of a timer its name
	id   string // of a message
	code string // of an error
	n    int64
}

type modelIntent struct {
	effect, issuer string
	n              int64 // params
	due            int64 // of a timer, in milliseconds
	number         int   // order of opening
	attempt        int   // of a call
	phase          phase // of a call
	at             int64 // of a slow call: timeout of its attempt, or instant of its next one
}

// phase is the stage of an open call.
type phase int

const (
	queued   phase = iota // for one of the two places of slow calls
	granted               // it has a place and must be requested
	under                 // requested and not answered
	retrying              // until its next attempt is due
)

// activation is the input of a machine, and its results.
type activation struct {
	key   string
	state *modelState
	item  modelItem
	now   int64

	ignored  bool
	failure  string
	deleted  bool
	complete bool
	raised   []modelItem
	emitted  []modelIntent
	drop     func(modelIntent) bool
}

func newModel() *model { return &model{cells: map[string]*modelCell{}, ids: map[string]bool{}} }

func (m *model) cell(machine, key string) *modelCell {
	address := machine + "[" + key + "]"
	if machine == "log" {
		address = machine
	}
	if m.cells[address] == nil {
		c := &modelCell{address: address, key: key}
		switch machine {
		case "acc":
			c.machine, c.rejects, c.process = accumulate, true, true
		case "strict":
			c.machine, c.ttl = strict, 7700
		default:
			c.machine = hear
		}
		m.cells[address] = c
	}
	return m.cells[address]
}

// message takes a message, unless one with its id was taken.
func (m *model) message(it modelItem, id string) {
	if m.ids[id] {
		return
	}
	if id != "" {
		m.ids[id] = true
	}
	m.tally.Messages++
	m.deliver(it)
}

func (m *model) deliver(it modelItem) {
	if it.kind == "Do" {
		m.enqueue(m.cell("acc", it.id), it)
		m.enqueue(m.cell("strict", it.id), it)
		return
	}
	m.enqueue(m.cell("acc", it.id), it)
	m.enqueue(m.cell("log", ""), it)
}

func (m *model) enqueue(c *modelCell, it modelItem) {
	c.mail, c.active = append(c.mail, it), m.now
	m.enter(c)
}

// enter adds a cell to the end of the ring if it is ready and not in the ring.
func (m *model) enter(c *modelCell) {
	if len(c.mail) > 0 && c.failure == "" && !c.paused && !slices.Contains(m.ring, c.address) {
		m.ring = append(m.ring, c.address)
	}
}

func (m *model) leave(c *modelCell) {
	m.ring = slices.DeleteFunc(m.ring, func(a string) bool { return a == c.address })
}

// decide continues until no event follows.
func (m *model) decide() {
	m.grant()
	for !m.paused {
		switch {
		case len(m.faults) > 0:
			m.giveUp(m.cells[m.faults[0]], "receipt_invalid")
		case len(m.ring) > 0:
			c := m.cells[m.ring[0]]
			m.ring = m.ring[1:]
			m.activate(c)
			m.grant()
		default:
			m.request()
			m.forget()
			return
		}
		m.forget()
	}
	m.forget()
}

// calls returns all open calls, in the order of their opening.
func (m *model) calls() (list []*modelIntent) {
	for _, c := range m.cells {
		for i := range c.open {
			if x := &c.open[i]; x.effect != "timer" {
				list = append(list, x)
			}
		}
	}
	slices.SortFunc(list, func(a, b *modelIntent) int { return a.number - b.number })
	return list
}

// grant assigns the two places of slow calls in the order of opening.
func (m *model) grant() {
	free := 2
	for _, x := range m.calls() {
		if x.effect == "slow" && (x.phase == granted || x.phase == under) {
			free--
		}
	}
	for _, x := range m.calls() {
		if x.phase == queued && (x.effect == "ask" || free > 0) {
			x.phase = granted
			if x.effect == "slow" {
				free--
			}
		}
	}
}

// request requests the calls that have a place.
func (m *model) request() {
	for _, x := range m.calls() {
		if x.phase == granted {
			x.phase = under
			x.attempt++
			x.at = m.now + 4300
		}
	}
}

// forget removes cells that no longer exist.
func (m *model) forget() {
	maps.DeleteFunc(m.cells, func(_ string, c *modelCell) bool {
		return c.state == nil && len(c.open) == 0 && len(c.mail) == 0 && c.failure == "" && !c.paused
	})
}

func (m *model) activate(c *modelCell) {
	m.activated = append(m.activated, c.address)
	it := c.mail[0]
	c.mail = c.mail[1:]
	c.active = m.now
	a := activation{key: c.key, item: it, now: m.now}
	if c.state != nil {
		a.state = &modelState{c.state.n, slices.Clone(c.state.got)}
	}
	c.machine(&a)
	if a.failure != "" {
		c.aside = &it
		m.fail(c, a.failure) // and keeps the open intents
		return
	}
	m.tally.Stepped++
	if a.ignored {
		m.tally.Ignored++
		m.enter(c)
		return
	}
	c.state, c.completed = a.state, a.complete
	if a.deleted {
		c.state = nil
	}
	m.drop(c, a.drop)
	for _, r := range a.raised {
		m.deliver(r)
	}
	m.leave(c) // items that it has raised for itself wait for its next turn, behind all items that it has raised
	for _, x := range a.emitted {
		m.opened++
		x.number = m.opened
		c.open = append(c.open, x)
	}
	if c.completed || c.state == nil {
		m.drop(c, func(modelIntent) bool { return true })
	}
	m.enter(c)
}

func (m *model) drop(c *modelCell, which func(modelIntent) bool) {
	if which == nil {
		return
	}
	before := len(c.open)
	c.open = slices.DeleteFunc(c.open, which)
	m.tally.Dropped += before - len(c.open)
}

func (m *model) fail(c *modelCell, code string) {
	m.tally.Failed++
	m.faults = slices.DeleteFunc(m.faults, func(a string) bool { return a == c.address })
	c.failure, c.active = code, m.now
	m.leave(c)
}

// giveUp fails a cell and drops its intents.
func (m *model) giveUp(c *modelCell, code string) {
	m.fail(c, code)
	m.drop(c, func(modelIntent) bool { return true })
}

// answer ends the attempt of an open call of a cell: ok with n, an invalid payload, an error, a retryable error, or too late.
func (m *model) answer(c *modelCell, i int, how string, n int64) {
	x := &c.open[i]
	again := how == "again" || how == "timeout"
	if again && x.effect == "slow" && x.attempt < 2 {
		if how == "again" {
			x.at = m.now
		}
		x.phase, x.at = retrying, x.at+1100
		return
	}
	effect := x.effect
	c.open, c.active = slices.Delete(c.open, i, i+1), m.now
	switch how {
	case "ok":
		m.enqueue(c, modelItem{kind: effect, what: "ok", n: n})
	case "error", "again":
		m.enqueue(c, modelItem{kind: effect, what: "error", code: "busy"})
	case "timeout":
		m.enqueue(c, modelItem{kind: effect, what: "timeout", code: "timeout"})
	case "bad":
		m.tally.Faults++
		if c.rejects {
			m.enqueue(c, modelItem{kind: "Rejected"})
			return
		}
		m.faults = append(m.faults, c.address)
	}
}

// fire applies the deadlines up to now. At one instant: retries and timeouts of attempts, then timers in the order of arming,
// then ends of cells.
func (m *model) fire() {
	type due struct {
		at            int64
		class, number int
		happen        func()
	}
	for {
		var first *due
		add := func(d due) {
			if d.at <= m.now && (first == nil || d.at < first.at || d.at == first.at &&
				(d.class < first.class || d.class == first.class && d.number < first.number)) {
				first = &d
			}
		}
		for _, c := range m.cells {
			if c.ttl > 0 && c.state != nil && len(c.open) == 0 && len(c.mail) == 0 && c.failure == "" && !c.paused && !slices.Contains(m.faults, c.address) {
				add(due{c.active + c.ttl, 3, 0, func() { c.state, c.completed = nil, false }})
			}
			for i, x := range c.open {
				switch {
				case x.effect == "timer":
					add(due{x.due, 2, x.number, func() {
						c.open, c.active = slices.Delete(c.open, i, i+1), m.now
						m.enqueue(c, modelItem{kind: "timer", what: x.issuer})
					}})
				case x.phase == retrying:
					add(due{x.at, 0, x.number, func() { c.open[i].phase = queued }})
				case x.effect == "slow" && x.phase == under:
					add(due{x.at, 1, x.number, func() { m.answer(c, i, "timeout", 0) }})
				}
			}
		}
		if first == nil {
			return
		}
		first.happen()
		m.grant()
		m.forget()
	}
}

// command applies a command of a person to a cell. It reports false if the command is refused.
func (m *model) command(kind, address string) bool {
	c := m.cells[address]
	switch {
	case c == nil:
		return false
	case kind == "pause" && !c.paused:
		c.paused, c.active = true, m.now
		m.leave(c)
	case kind == "resume" && c.paused:
		c.paused, c.active = false, m.now
		m.enter(c)
	case kind == "abort" && (c.failure == "" || len(c.open) > 0):
		m.giveUp(c, "aborted")
	case kind == "retry" && c.failure != "":
		c.failure, c.active = "", m.now
		if c.aside != nil {
			c.mail = slices.Insert(c.mail, 0, *c.aside)
			c.aside = nil
		}
		m.enter(c)
	default:
		return false
	}
	m.forget()
	return true
}

func (c *modelCell) status() string {
	switch {
	case c.failure != "":
		return "failed"
	case len(c.open) > 0:
		return "waiting"
	case len(c.mail) > 0 || c.process && !c.completed:
		return "running"
	}
	return "completed"
}

// String returns all visible state of a cell.
func (c *modelCell) String() string {
	state, held := "none", 0
	if c.state != nil {
		state = fmt.Sprint(c.state.n, c.state.got)
	}
	if c.failure != "" || c.paused {
		held = len(c.mail)
	}
	text := fmt.Sprintf("%s %s paused=%v %s mail=%d held=%d active=%d", c.address, c.status(), c.paused, state, len(c.mail), held, c.active)
	if c.failure != "" {
		text += " failed:" + c.failure
	}
	for _, x := range c.open {
		text += fmt.Sprintf(" [%s %s", x.effect, x.issuer)
		if x.effect == "timer" {
			text += fmt.Sprintf(" due %d]", x.due)
		} else {
			text += fmt.Sprintf(" %d attempts=%d]", x.n, x.attempt)
		}
	}
	return text
}

// base returns the state of a cell, creating it if there is none.
func (a *activation) base() *modelState {
	if a.state == nil {
		a.state = &modelState{}
	}
	return a.state
}

func (a *activation) note(text string) {
	s := a.base()
	s.got = append(s.got[:min(5, len(s.got))], text)
}

func (a *activation) ask(effect string, n int64) {
	a.emitted = append(a.emitted, modelIntent{effect: effect, issuer: "i" + decimal(n), n: n})
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func (a *activation) arm(name string, after int64) {
	a.emitted = append(a.emitted, modelIntent{effect: "timer", issuer: name, due: a.now + 1000*after})
}

func abs(n int64) int64 { return max(n, -n) }

// accumulate is the machine acc.
func accumulate(a *activation) {
	it := a.item
	switch it.kind {
	case "Do":
		a.do()
	case "Heard":
		if it.n > 0 {
			a.base().n += 100
			a.raised = []modelItem{{kind: "Heard", id: a.key, n: it.n - 1}}
			return
		}
		a.base().n++
	case "ask":
		if it.what == "ok" {
			a.base().n += it.n
			return
		}
		a.note(it.code)
	case "slow":
		if it.what == "ok" {
			a.base().n += 7 * it.n
			return
		}
		a.note(it.what)
	case "Rejected":
		a.note("rejected")
	case "timer":
		a.base().n += map[string]int64{"t": 1000, "u": 5000}[it.what]
	}
}

func (a *activation) do() {
	it := a.item
	if slices.Contains([]string{"bad", "far", "fail"}, it.what) && !failing(a.now/1000) {
		it.what = "other"
	}
	switch it.what {
	case "add":
		a.base().n += it.n
	case "bad":
		a.failure = "output_invalid"
	case "far":
		a.failure = "limit_exceeded"
	case "fail":
		a.failure = "broken"
	case "del":
		a.deleted = true
	case "end":
		a.complete = true
	case "ask":
		a.base()
		a.ask("ask", it.n)
	case "slow":
		a.base()
		a.ask("slow", it.n)
	case "two":
		a.base()
		a.drop = func(x modelIntent) bool { return x.effect == "timer" && x.issuer == "t" }
		a.ask("ask", it.n)
		a.arm("t", abs(it.n)+1)
		a.arm("u", 2)
	case "hear":
		a.base()
		to := "b"
		if it.n%2 == 0 {
			to = a.key
		}
		a.raised = []modelItem{{kind: "Heard", id: to, n: abs(it.n) % 3}, {kind: "Heard", id: "c"}}
	case "lose": // without a state, emitted intents are dropped
		a.ask("ask", it.n)
	case "drop":
		a.drop = func(modelIntent) bool { return true }
	case "drop one":
		a.drop = func(x modelIntent) bool { return x.effect == "ask" && x.issuer == "i1" }
	default:
		a.ignored = true
	}
}

// strict is the machine strict, which takes no rejections.
func strict(a *activation) {
	switch it := a.item; {
	case it.kind == "Do" && it.what == "ask":
		a.base()
		a.ask("ask", it.n)
	case it.kind == "Do" && it.what == "add":
		a.base().n += it.n
	case it.kind == "ask":
		a.base().n += 10 + it.n
	default:
		a.ignored = true
	}
}

// hear is the machine log.
func hear(a *activation) { a.base().n++ }
