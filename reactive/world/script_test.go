package world_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// script is one random life of the model's world. All drivers run the same operations.
type script struct {
	failer
	draw    func(what string, n int) int // a number from 0 to n-1
	keys    int                          // of each machine
	model   *model
	drivers []*driver
	sparing int      // number of moves between two comparisons of the drivers; 0: one
	moves   int      // number of moves so far
	past    []string // opened calls
	sent    int
	kept    []journal.Event // snapshots
}

// drawnBy draws from rapid, which shortens failing scripts.
func drawnBy(t *rapid.T) func(string, int) int {
	return func(what string, n int) int { return rapid.IntRange(0, n-1).Draw(t, what) }
}

// drawnFrom draws from a seed.
func drawnFrom(seed uint64) func(string, int) int {
	random := rand.New(rand.NewPCG(seed, 1))
	return func(_ string, n int) int { return random.IntN(n) }
}

func oneOf[T any](s *script, what string, list ...T) T { return list[s.draw(what, len(list))] }

// each calls f for every driver.
func (s *script) each(f func(d *driver)) {
	for _, d := range s.drivers {
		f(d)
	}
}

// move makes a random move, and compares the model and all worlds.
func (s *script) move() {
	s.Helper()
	oneOf(s, "move", s.messages, s.messages, s.messages, s.answer, s.answer, s.late, s.time, s.time, s.person, s.repair, s.pause)()
	s.model.decide()
	s.compare()
	if s.moves++; s.sparing == 0 || s.moves%s.sparing == 0 {
		s.alike()
	}
}

// compare compares the first world with the model.
func (s *script) compare() {
	s.Helper()
	want, got := []string{}, []string{}
	for _, address := range slices.Sorted(maps.Keys(s.model.cells)) {
		want = append(want, s.model.cells[address].String())
	}
	first := s.drivers[0]
	for c := range first.world().Cells() {
		got = append(got, shown(&c))
		for _, x := range c.Intents {
			if x.Effect != "timer" && !slices.Contains(s.past, x.Key) {
				s.past = append(s.past, x.Key)
			}
		}
	}
	s.past = s.past[max(0, len(s.past)-100):]
	require.Equal(s, want, got)
	require.Equal(s, s.model.tally, first.world().Tally())
}

// alike compares the other worlds with the first.
func (s *script) alike() {
	s.Helper()
	first := s.drivers[0]
	digest := withoutHashes(first.digest(first.root))
	for i, d := range s.drivers[1:] {
		require.Equal(s, digest, withoutHashes(d.digest(d.root)), "the first driver, and driver %d", i+1)
	}
}

// shown returns all visible state of a cell, in the form of the model.
func shown(c *world.CellState) string {
	state := "none"
	if c.State != nil {
		m := c.State.(map[string]any)
		state = fmt.Sprint(m["n"], m["got"])
	}
	text := fmt.Sprintf("%s %s paused=%v %s mail=%d held=%d active=%d", c.Address, c.Status, c.Paused, state, c.Mail, c.Held, (c.Active.UnixNano()-epoch)/1e6)
	if c.Failure != nil {
		text += " failed:" + c.Failure.Code
	}
	for _, x := range c.Intents {
		text += fmt.Sprintf(" [%s %s", x.Effect, x.Issuer)
		if x.Effect == "timer" {
			text += fmt.Sprintf(" due %d]", (x.Due.UnixNano()-epoch)/1e6)
		} else {
			text += fmt.Sprintf(" %d attempts=%d]", x.Params.(map[string]any)["n"], x.Attempts)
		}
	}
	return text
}

func (s *script) key() string { return string(rune('a' + s.draw("key", s.keys))) }

// messages sends up to four messages at once, some with an earlier id.
func (s *script) messages() {
	type sending struct {
		it modelItem
		id string
	}
	list := make([]sending, 1+s.draw("messages", 4))
	for i := range list {
		it := modelItem{kind: "Do", id: s.key(), n: int64(s.draw("n", 7)) - 2}
		it.what = oneOf(s, "what", "add", "add", "bad", "far", "fail", "del", "end", "ask", "ask", "slow", "slow", "two", "two", "hear", "hear", "lose", "drop", "drop one", "other")
		if s.draw("heard", 10) == 9 {
			it.kind, it.what, it.n = "Heard", "", abs(it.n)
		}
		id := ""
		if s.sent++; s.draw("named", 3) == 2 {
			id = fmt.Sprint("m", s.sent-s.draw("as", s.sent/2+1))
		}
		list[i] = sending{it, id}
		s.model.message(it, id)
	}
	s.each(func(d *driver) {
		items := make([]decide.Item, len(list))
		refused := make([]error, len(list))
		for i, m := range list {
			payload := map[string]any{"id": m.it.id, "n": m.it.n}
			if m.it.kind == "Do" {
				payload["what"] = m.it.what
			}
			items[i] = message(m.it.kind, m.id, payload, &refused[i])
		}
		d.turn(items...)
		require.NoError(s, errors.Join(refused...))
	})
}

// answer ends up to three attempts in progress, in one turn.
func (s *script) answer() {
	type open struct {
		cell    *modelCell
		key     string
		number  int
		attempt int32
	}
	var list []open
	for _, address := range slices.Sorted(maps.Keys(s.model.cells)) {
		c := s.model.cells[address]
		kernel, _ := s.drivers[0].world().Cell(address)
		for i, x := range c.open {
			if x.effect != "timer" && x.phase == under {
				list = append(list, open{c, kernel.Intents[i].Key, x.number, int32(x.attempt)})
			}
		}
	}
	require.Len(s, s.drivers[0].root.OpenCalls(), len(list), "every open call is one of a cell")
	type answered struct {
		key     string
		attempt int32
		result  call.Result
	}
	var answers []answered
	for range min(len(list), 1+s.draw("answers", 3)) {
		i := s.draw("call", len(list))
		x := list[i]
		list = slices.Delete(list, i, i+1)
		how, n := oneOf(s, "how", "ok", "ok", "error", "again", "bad"), int64(s.draw("payload", 10))
		result := call.Result{Output: n}
		switch how {
		case "error":
			result = call.Result{Failure: call.NewFailure("busy", "")}
		case "again":
			result = call.Result{Failure: &journal.Failure{Code: "busy", Retryable: true}}
		case "bad":
			result = call.Result{Output: "none"}
		}
		answers = append(answers, answered{x.key, x.attempt, result})
		s.model.answer(x.cell, slices.IndexFunc(x.cell.open, func(y modelIntent) bool { return y.number == x.number }), how, n)
	}
	s.each(func(d *driver) {
		items := make([]decide.Item, len(answers))
		for i, a := range answers {
			items[i] = d.ended(a.key, a.attempt, a.result)
		}
		d.turn(items...)
	})
}

// late answers an attempt that has ended.
func (s *script) late() {
	if len(s.past) == 0 {
		return
	}
	key := s.past[s.draw("past", len(s.past))]
	first := s.drivers[0]
	if v, open := first.root.Node(key); open && first.root.Attempts(v) < 2 {
		return
	}
	s.each(func(d *driver) { d.turn(d.ended(key, 1, call.Result{Output: int64(77)})) })
}

// time advances the clock, second by second.
func (s *script) time() {
	for range 1 + s.draw("seconds", 4) {
		s.model.now += 1000
		s.model.fire()
		s.model.decide()
		s.each(func(d *driver) {
			d.now += int64(time.Second)
			d.turn()
		})
	}
}

var personal = map[string]journal.Type{
	"pause": journal.CellPaused, "resume": journal.CellResumed, "abort": journal.NodeAborted, "retry": journal.NodeRetried,
}

// person sends a command to a cell, which may be refused.
func (s *script) person() {
	s.ask(oneOf(s, "asks", "pause", "resume", "abort", "retry", "retry"), oneOf(s, "machine", "acc", "strict")+"["+s.key()+"]")
}

// repair resumes a held cell.
func (s *script) repair() {
	var held []string
	for _, address := range slices.Sorted(maps.Keys(s.model.cells)) {
		if c := s.model.cells[address]; c.failure != "" || c.paused {
			held = append(held, address)
		}
	}
	for range min(len(held), 3) {
		address := held[s.draw("held", len(held))]
		s.ask("retry", address)
		s.ask("resume", address)
	}
}

func (s *script) ask(what, address string) {
	taken := s.model.command(what, address)
	s.model.decide()
	s.each(func(d *driver) {
		err := d.take(journal.Event{Type: personal[what], Node: address})
		require.Equal(s, taken, err == nil, "%s %s: %v", what, address, err)
	})
}

// pause pauses the run, seldom, or resumes it.
func (s *script) pause() {
	e := journal.Event{Type: journal.RunPaused}
	switch {
	case s.model.paused:
		e.Type = journal.RunResumed
	case s.draw("pause", 3) > 0:
		return
	}
	s.model.paused = !s.model.paused
	s.each(func(d *driver) { require.NoError(s, d.take(e)) })
}

// snapshot writes snapshots of all worlds with content.
func (s *script) snapshot() {
	s.kept = append(s.kept, s.drivers[0].snapshot())
	for _, d := range s.drivers[1:] {
		d.snapshot()
	}
}
