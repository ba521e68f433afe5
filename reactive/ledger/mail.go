package ledger

import (
	"cmp"
	"math"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// mail queues messages until a wait with their name takes them, oldest first; each message ends one wait.
type mail struct {
	l       *Ledger
	boxes   map[string]*box
	matches []Match
	count   int               // waiting messages
	bytes   int               // bytes of their payloads
	taken   map[string]uint64 // sequences of messages, by the ids that their senders chose
}

type box struct {
	messages []message
	waits    []Request
}

type message struct {
	payload any // packed
	bytes   int
}

// Match is a call that waits for a message, with the payload of that message.
type Match struct {
	Request
	Output any // the payload of the message
}

func (m *mail) box(name string) *box {
	if m.boxes == nil {
		m.boxes = map[string]*box{}
	}
	if m.boxes[name] == nil {
		m.boxes[name] = &box{}
	}
	return m.boxes[name]
}

func (m *mail) wait(name string, req Request) {
	b := m.box(name)
	b.waits = append(b.waits, req)
	m.match(b)
}

func (m *mail) foldMessage(e *journal.Event) Effect {
	if m.l.run.closed != nil || m.l.run.finished != nil {
		return Late
	}
	if id := e.Detail.ID; id != "" {
		if m.taken == nil {
			m.taken = map[string]uint64{}
		}
		m.taken[id] = e.Seq
	}
	b := m.box(e.Detail.Name)
	bytes, _ := value.Size(e.Value, math.MaxInt) // of a value of the model, which has a size
	b.messages = append(b.messages, message{value.Pack(e.Value), bytes})
	m.count++
	m.bytes += bytes
	m.match(b)
	return Applied
}

// match assigns messages to waits. A wait that has already ended takes no message.
func (m *mail) match(b *box) {
	for len(b.messages) > 0 && len(b.waits) > 0 {
		req := b.waits[0]
		b.waits = b.waits[1:]
		if !m.l.Open(req) {
			continue
		}
		first := b.messages[0]
		m.matches = append(m.matches, Match{req, value.Unpack(first.payload)})
		b.messages[0] = message{} // so that the slice does not keep it in memory
		b.messages = b.messages[1:]
		m.count--
		m.bytes -= first.bytes
	}
}

// Unasked returns the number of messages that no step has taken, and their total size in bytes.
func (m *mail) Unasked() (count, bytes int) { return m.count, m.bytes }

// Open reports whether a request waits for its answer.
func (l *Ledger) Open(req Request) bool {
	n := &l.nodes[req.Node]
	switch {
	case n.Attempt != req.Attempt || req.Use != l.Request(req.Node, 0).Use:
		return false
	case req.Decision != 0:
		t := l.tasks.tasks[req.Node]
		return t != nil && t.open && t.asked == req.Decision
	case req.Participant != "":
		g := l.fanOut.gathers[req.Node]
		return n.Fact == Requested && g != nil && g.Open(req.Participant, req.Attempt)
	}
	return n.Fact == Requested
}

// NextMatch returns and removes the next call that a message answers.
func (m *mail) NextMatch() (Match, bool) {
	for len(m.matches) > 0 {
		a := m.matches[0]
		m.matches = m.matches[1:]
		if m.l.run.closed == nil && m.l.Open(a.Request) {
			return a, true
		}
	}
	return Match{}, false
}

// Taken returns the event of an earlier message with the id of a new one, without its payload, or nil.
func (m *mail) Taken(e *journal.Event) *journal.Event {
	if e.Detail == nil || e.Detail.ID == "" || m.taken[e.Detail.ID] == 0 {
		return nil
	}
	return &journal.Event{Type: e.Type, Seq: m.taken[e.Detail.ID], Detail: &journal.Detail{Name: e.Detail.Name, ID: e.Detail.ID}}
}

// Awaiting is a call that waits for a message.
type Awaiting struct {
	Message string  // name
	Request Request // of the call that receives the next message of that name
}

// Awaiting returns the next step to receive each message that steps wait for, sorted by the message's name.
func (m *mail) Awaiting() []Awaiting {
	var list []Awaiting
	for name, b := range m.boxes {
		if i := slices.IndexFunc(b.waits, m.l.Open); i >= 0 {
			list = append(list, Awaiting{name, b.waits[i]})
		}
	}
	slices.SortFunc(list, func(a, b Awaiting) int { return cmp.Compare(a.Message, b.Message) })
	return list
}

// Listening returns the name of the message that each call waits for, by the call's node.
func (m *mail) Listening() map[int32]string {
	list := map[int32]string{}
	for name, b := range m.boxes {
		for _, req := range b.waits {
			if m.l.Open(req) {
				list[req.Node] = name
			}
		}
	}
	return list
}
