// Package columns encodes the events of a run as columns, which is compact.
package columns

import (
	"strconv"

	"github.com/sluiceflow/sluice/coordinator/api"
)

// History is the events of a run as columns: the n-th of each is about the same event.
type History struct {
	Seq   []uint64 `json:"seq"`            // numbers
	At    []int64  `json:"at"`             // milliseconds since 1970
	Type  []int    `json:"type"`           // indexes of Types
	Step  []int    `json:"step"`           // indexes of Steps
	Types []string `json:"types"`          // each once
	Steps []string `json:"steps"`          // keys, each once; "": the run
	Next  string   `json:"next,omitempty"` // cursor of the next part; "": this is the last for now

	known map[string]int // of Steps and of Types
}

// historyMax bounds the events of one answer.
const historyMax = 10_000

// New returns a history without events.
func New() *History {
	return &History{Seq: []uint64{}, At: []int64{}, Type: []int{}, Step: []int{}, Types: []string{}, Steps: []string{}, known: map[string]int{}}
}

// Add adds an event. It reports false, and sets Next, if there is no room for it.
func (h *History) Add(e *api.Event) bool {
	if len(h.Seq) == historyMax {
		h.Next = strconv.FormatUint(e.Seq, 10)
		return false
	}
	h.Seq, h.At = append(h.Seq, e.Seq), append(h.At, e.At.UnixMilli())
	h.Type = append(h.Type, h.index("type ", e.Type, &h.Types))
	h.Step = append(h.Step, h.index("step ", e.Step, &h.Steps))
	return true
}

// index returns the index of a word in a list, to which it is added if it is not there.
func (h *History) index(of, word string, list *[]string) int {
	i, ok := h.known[of+word]
	if !ok {
		i = len(*list)
		h.known[of+word], *list = i, append(*list, word)
	}
	return i
}
