package world

import (
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// Step is what an activation gave: the value of a cell.stepped event.
type Step struct {
	Cause     uint64      // sequence of the event whose item the cell took
	Ignored   bool        // no rule was about it: nothing else is set
	Changed   bool        // it set the state
	State     value.Value // then: the new one; nil: deleted
	Raised    []Raised    // in order
	Emitted   []Emitted   // in order
	Dropped   []string    // keys of the intents that it gave up
	Completed bool        // the cell has completed
	Noted     bool        // it made a note
	Note      value.Value // then: the note
}

// Raised is an event that an activation raised.
type Raised struct {
	Event string      // name
	Value value.Value // shared, must not be changed
	Cells []string    // addresses of the cells that it goes to
}

// Emitted is an effect that an activation asked for, or a timer that it armed.
type Emitted struct {
	Key    string      // of the intent's node
	Effect string      // name; machine.TimerEffect: a timer
	Issuer string      // which of several is meant; the name of a timer
	ID     string      // of the intent, `sha256:…`; "": a timer
	Params value.Value // shared, must not be changed
	Due    int64       // of a timer, Unix nanoseconds
}

// ReadStep reads a cell.stepped event.
func ReadStep(e *journal.Event) *Step {
	of, _ := value.Of(e.Value)
	v, _ := of.(map[string]any)
	s := &Step{Ignored: v[stepIgnored] == true, Completed: v[stepCompleted] == true, Dropped: texts(v[stepDropped])}
	cause, _ := v[stepCause].(int64)
	s.Cause = uint64(cause)
	s.State, s.Changed = v[stepState]
	s.Note, s.Noted = v[stepNote]
	raised, _ := v[stepRaised].([]any)
	for _, x := range raised {
		m, _ := x.(map[string]any)
		name, _ := m["event"].(string)
		s.Raised = append(s.Raised, Raised{Event: name, Value: m["value"], Cells: texts(m["cells"])})
	}
	emitted, _ := v[stepEmitted].([]any)
	for i, x := range emitted {
		m, _ := x.(map[string]any)
		s.Emitted = append(s.Emitted, readEmitted(e, m, i))
	}
	return s
}

func readEmitted(e *journal.Event, m map[string]any, index int) Emitted {
	x := Emitted{Effect: machine.TimerEffect, Params: m["params"]}
	if name, ok := m["timer"].(string); ok {
		x.Issuer = name
		x.Due, _ = m["due"].(int64)
	} else {
		x.Effect, _ = m["effect"].(string)
		x.Issuer, _ = m["issuer"].(string)
		x.ID, _ = m["intent"].(string)
	}
	x.Key = intentKey(e, x.Effect, index)
	return x
}

// intentKey returns the key of the node of an intent that an activation opens.
func intentKey(e *journal.Event, effect string, index int) string {
	return e.Node + "." + machine.Escape(effect) + "@" + strconv.FormatUint(e.Seq, 10) + "." + strconv.Itoa(index)
}

// EmittedAt returns the sequence of the activation that opened an intent of a cell, from the key of the intent's node. It reports
// false if the key is not that of an intent of the cell. The activation may yet be one of another cell whose address begins
// with this one's.
func EmittedAt(key, cell string) (seq uint64, ok bool) {
	rest, ok := strings.CutPrefix(key, cell+".")
	at := strings.LastIndexByte(rest, '@')
	if !ok || at < 0 {
		return 0, false
	}
	number, _, _ := strings.Cut(rest[at+1:], ".")
	seq, err := strconv.ParseUint(number, 10, 64)
	return seq, err == nil
}
