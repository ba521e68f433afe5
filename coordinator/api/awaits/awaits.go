// Package awaits converts the waits of runs for replies.
package awaits

import (
	"strings"
	"time"

	"github.com/sluiceflow/sluice/reactive/inspect"
)

// Awaited is one wait of a run.
type Awaited struct {
	Kind    string    `json:"kind"`              // an inspect.WaitKind
	Step    string    `json:"step,omitempty"`    // key of the step or call, or address of the cell; empty: the run
	What    string    `json:"what"`              // for people: `message "approve"`
	Name    string    `json:"name,omitempty"`    // of the message, operation or child run
	Who     []string  `json:"who,omitempty"`     // participants that have not answered, or holders of slots
	Reads   []string  `json:"reads,omitempty"`   // paths that the rules of a gate read
	Until   time.Time `json:"until,omitzero"`    // zero: no limit
	Then    string    `json:"then,omitempty"`    // the consequence at Until, for people
	Since   time.Time `json:"since,omitzero"`    // instant since which no worker serves the operation; zero: one does
	Command []string  `json:"command,omitempty"` // arguments of sluice that end the wait, without --data; replace PAYLOAD and VALUE
}

// Run is a run that may be held.
type Run interface {
	ID() string       // its id
	Held() bool       // since its import
	Incomplete() bool // its import is running, or was interrupted
}

// OfCell describes the waits of a cell of a run, now or in the past. A hold of the run comes first: until it is lifted, no command
// is taken. Past waits have no commands, because a command would change the present run.
func OfCell(run Run, past bool, list []inspect.Wait) []Awaited {
	var hold []inspect.Wait
	if !past && run.Held() {
		top, _, _ := strings.Cut(run.ID(), "/")
		hold = []inspect.Wait{{Kind: inspect.ForHold, Command: []string{"resume", top}}}
		if run.Incomplete() {
			hold = []inspect.Wait{{Kind: inspect.ForImport}}
		}
	}
	if past || hold != nil {
		for i := range list {
			list[i].Command = nil
		}
	}
	return Of(append(hold, list...))
}

// Of describes waits.
func Of(list []inspect.Wait) (out []Awaited) {
	for i := range list {
		w := &list[i]
		var until time.Time
		if w.Due != 0 {
			until = time.Unix(0, w.Due).UTC()
		}
		var since time.Time
		if w.Since != 0 {
			since = time.Unix(0, w.Since).UTC()
		}
		out = append(out, Awaited{string(w.Kind), w.Step, w.What(), w.Name, w.Who, w.Reads, until, w.Then, since, w.Command})
	}
	return out
}
