package world_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/sluiceflow/sluice/reactive/world"
)

// model is a world of the machines in worldText, as its design says it: maps that are searched anew each time, and machines
// that are plain functions. It knows neither journal nor expressions.
type model struct {
	cells     map[string]*modelCell
	ring      []string // of cells that have something to do
	faults    []string // of cells that are to fail
	paused    bool
	ids       map[string]bool
	armed     int // timers so far
	tally     world.Tally
	activated []string
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
}

type modelState struct {
	n   int64
	got []string
}

// modelItem is what a cell is given: a message, a receipt, a rejection or a timer.
type modelItem struct {
	kind string // Do, Heard, ask, Rejected, timer
	what string // of Do; of a receipt its status; of a timer its name
	id   string // of a message
	code string // of an error
	n    int64
}

type modelIntent struct {
	effect, issuer string
	n              int64 // params
	due            int64 // of a timer, in seconds
	armed          int   // of a timer
	requested      bool
}

// activation is what a machine is given, and what it gives.
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
			c.machine = strict
		default:
			c.machine = hear
		}
		m.cells[address] = c
	}
	return m.cells[address]
}

// message takes a message, unless one of its id was taken.
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
		m.give(m.cell("acc", it.id), it)
		m.give(m.cell("strict", it.id), it)
		return
	}
	m.give(m.cell("acc", it.id), it)
	m.give(m.cell("log", ""), it)
}

func (m *model) give(c *modelCell, it modelItem) {
	c.mail = append(c.mail, it)
	m.enter(c)
}

// enter adds a cell to the tail of the ring if it can go on and is not in it.
func (m *model) enter(c *modelCell) {
	if len(c.mail) > 0 && c.failure == "" && !c.paused && !slices.Contains(m.ring, c.address) {
		m.ring = append(m.ring, c.address)
	}
}

func (m *model) leave(c *modelCell) {
	m.ring = slices.DeleteFunc(m.ring, func(a string) bool { return a == c.address })
}

// decide goes on until nothing follows.
func (m *model) decide() {
	for !m.paused {
		switch {
		case len(m.faults) > 0:
			m.fail(m.cells[m.faults[0]], "receipt_invalid")
		case len(m.ring) > 0:
			c := m.cells[m.ring[0]]
			m.ring = m.ring[1:]
			m.activate(c)
		default:
			for _, c := range m.cells {
				for i := range c.open {
					c.open[i].requested = true
				}
			}
			m.forget()
			return
		}
		m.forget()
	}
	m.forget()
}

// forget removes cells of which nothing is left.
func (m *model) forget() {
	maps.DeleteFunc(m.cells, func(_ string, c *modelCell) bool {
		return c.state == nil && len(c.open) == 0 && len(c.mail) == 0 && c.failure == "" && !c.paused
	})
}

// now is in seconds.
var modelNow int64

func (m *model) activate(c *modelCell) {
	m.activated = append(m.activated, c.address)
	it := c.mail[0]
	c.mail = c.mail[1:]
	a := activation{key: c.key, item: it, now: modelNow}
	if c.state != nil {
		a.state = &modelState{c.state.n, slices.Clone(c.state.got)}
	}
	c.machine(&a)
	if a.failure != "" {
		c.aside = &it
		m.fail(c, a.failure)
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
	m.leave(c) // what it has raised for itself waits for its next turn, behind all that it has raised
	for _, x := range a.emitted {
		if x.effect == "timer" {
			m.armed++
			x.armed = m.armed
		}
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
	c.failure = code
	m.leave(c)
	m.drop(c, func(modelIntent) bool { return true })
}

// answer settles an open call of a cell: ok with n, a payload that does not fit, or an error.
func (m *model) answer(c *modelCell, i int, how string, n int64) {
	c.open = slices.Delete(c.open, i, i+1)
	switch how {
	case "ok":
		m.give(c, modelItem{kind: "ask", what: "ok", n: n})
	case "error":
		m.give(c, modelItem{kind: "ask", what: "error", code: "busy"})
	case "bad":
		m.tally.Faults++
		if c.rejects {
			m.give(c, modelItem{kind: "Rejected"})
			return
		}
		m.faults = append(m.faults, c.address)
	}
}

// fire lets the timers fire that are due, in the order of their instants and of their arming.
func (m *model) fire() {
	type due struct {
		c *modelCell
		x modelIntent
	}
	var list []due
	for _, c := range m.cells {
		for _, x := range c.open {
			if x.effect == "timer" && x.due <= modelNow {
				list = append(list, due{c, x})
			}
		}
	}
	slices.SortFunc(list, func(a, b due) int { return int(a.x.due-b.x.due)*1_000_000 + a.x.armed - b.x.armed })
	for _, d := range list {
		d.c.open = slices.DeleteFunc(d.c.open, func(x modelIntent) bool { return x.armed == d.x.armed && x.effect == "timer" })
		m.give(d.c, modelItem{kind: "timer", what: d.x.issuer})
	}
}

// command is what a person asks of a cell. It reports false if it is refused.
func (m *model) command(kind, address string) bool {
	c := m.cells[address]
	switch {
	case c == nil:
		return false
	case kind == "pause" && !c.paused:
		c.paused = true
		m.leave(c)
	case kind == "resume" && c.paused:
		c.paused = false
		m.enter(c)
	case kind == "abort" && c.failure == "":
		m.fail(c, "aborted")
	case kind == "retry" && c.failure != "":
		c.failure = ""
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

// String returns all that can be seen of a cell.
func (c *modelCell) String() string {
	state, held := "none", 0
	if c.state != nil {
		state = fmt.Sprint(c.state.n, c.state.got)
	}
	if c.failure != "" || c.paused {
		held = len(c.mail)
	}
	text := fmt.Sprintf("%s %s paused=%v %s mail=%d held=%d", c.address, c.status(), c.paused, state, len(c.mail), held)
	if c.failure != "" {
		text += " failed:" + c.failure
	}
	for _, x := range c.open {
		text += fmt.Sprintf(" [%s %s", x.effect, x.issuer)
		if x.effect == "timer" {
			text += fmt.Sprintf(" due %d]", x.due)
		} else {
			text += fmt.Sprintf(" %d]", x.n)
		}
	}
	return text
}

// base makes the state of a cell that has none.
func (a *activation) base() *modelState {
	if a.state == nil {
		a.state = &modelState{}
	}
	return a.state
}

func (a *activation) note(text string) { s := a.base(); s.got = append(s.got, text) }

func (a *activation) ask(n int64) {
	a.emitted = append(a.emitted, modelIntent{effect: "ask", issuer: "i" + strconv.FormatInt(n, 10), n: n})
}

func (a *activation) arm(name string, after int64) {
	a.emitted = append(a.emitted, modelIntent{effect: "timer", issuer: name, due: a.now + after})
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
	case "Rejected":
		a.note("rejected")
	case "timer":
		a.base().n += map[string]int64{"t": 1000, "u": 5000}[it.what]
	}
}

func (a *activation) do() {
	it := a.item
	switch it.what {
	case "add":
		a.base().n += it.n
	case "bad":
		a.failure = "output_invalid"
	case "fail":
		a.failure = "broken"
	case "del":
		a.deleted = true
	case "end":
		a.complete = true
	case "ask":
		a.base()
		a.ask(it.n)
	case "two":
		a.base()
		a.drop = func(x modelIntent) bool { return x.effect == "timer" && x.issuer == "t" }
		a.ask(it.n)
		a.arm("t", abs(it.n)+1)
		a.arm("u", 2)
	case "hear":
		a.base()
		to := "b"
		if it.n%2 == 0 {
			to = a.key
		}
		a.raised = []modelItem{{kind: "Heard", id: to, n: abs(it.n) % 3}, {kind: "Heard", id: "c"}}
	case "lose": // without a state, what is emitted is dropped
		a.ask(it.n)
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
		a.ask(it.n)
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
