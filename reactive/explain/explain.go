// Package explain describes, as plain data, the reasons for the status of a run or one of its parts. Package inspect explains the
// parts that all runs have in common; a reactive.Body explains its own decisions.
package explain

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/value"
)

// Explanation has the reasons for the status of a run or one of its parts.
type Explanation struct {
	About   string   `json:"about"`             // "run", the key of a step, map, call or step-run, the address of a cell, or `#<seq>` of an event
	Kind    string   `json:"kind"`              // run, or the kind of the key: step, map, conditional, call, item, step-run, cell or event
	Status  string   `json:"status"`            // a reactive.RunStatus, a reactive.Status, or a world.Status or "deleted"; of an event its type
	Decided *Event   `json:"decided,omitempty"` // the event that led to the status; nil: none has yet
	Reasons []Reason `json:"reasons,omitempty"` // the first is the most direct
}

// Over reports whether the explained run or step has ended.
func (x *Explanation) Over() bool {
	return slices.ContainsFunc([]ledger.Status{ledger.Completed, ledger.Failed, ledger.Aborted, ledger.Skipped},
		func(s ledger.Status) bool { return s.String() == x.Status })
}

// Reason is a reason, with the reasons for it.
type Reason struct {
	Kind    string            `json:"kind"`              // an inspect.CauseKind or a routed.WaitKind, or call, message, child, pause, parked, room, failure, routed, final, items, nobody, worker, late, end; of a world cell, held, event, more
	Text    string            `json:"text"`              // a sentence for people
	Step    string            `json:"step,omitempty"`    // the key of its subject
	Due     time.Time         `json:"due,omitzero"`      // of timers
	Values  map[string]any    `json:"values,omitempty"`  // the values that an expression has read, by how they are written
	Missing map[string]string `json:"missing,omitempty"` // why values could not be read, by how they are written
	Decided *Event            `json:"decided,omitempty"` // the event that it follows from; nil: none
	Reasons []Reason          `json:"reasons,omitempty"` // why that is so; at most explainDepth levels
}

// Event is an event that decided something.
type Event struct {
	Seq    uint64    `json:"seq"`              // 0: it is not journaled yet, see inspect.State.Late
	Type   string    `json:"type"`             // its name, such as call.error
	At     time.Time `json:"at"`               // UTC
	Actor  string    `json:"actor,omitempty"`  // of a command
	Reason string    `json:"reason,omitempty"` // of the actor
}

// Timer returns the reason to wait for a timer that is due at an instant in Unix nanoseconds.
func Timer(what string, due int64) Reason {
	at := time.Unix(0, due).UTC()
	return Reason{Kind: "timer", Text: what + " is due at " + at.Format(time.RFC3339), Due: at}
}

// Kept returns, for a sentence, that a number of items is kept.
func Kept(n int) string {
	if n == 1 {
		return "1 item is kept"
	}
	return fmt.Sprintf("%d items are kept", n)
}

// valueMax bounds the values that explanations show, in bytes of JSON.
const valueMax = 200

// Shorten returns a copy of values in which the beginning of their JSON text replaces long values.
func Shorten(values map[string]any) map[string]any {
	out := maps.Clone(values)
	for k, v := range values {
		if text, err := value.JSON(v); err == nil && len(text) > valueMax {
			out[k] = string([]rune(string(text))[:valueMax/2]) + "…"
		}
	}
	return out
}
