// Package expiry describes retention rules and deletions, as requests and replies have them.
package expiry

import (
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/coordinator/retention"
)

// Rule says how long runs are kept after they have ended, see retention.Rule.
type Rule struct {
	Where string `json:"where,omitempty"` // which runs; "": those that no other rule selects
	Keep  string `json:"keep"`            // an age such as 30d, or Forever
}

// Forever is the Keep of a rule whose runs are never deleted.
const Forever = "forever"

// RuleOf describes a rule.
func RuleOf(r retention.Rule) *Rule {
	if r.Keep == retention.Forever {
		return &Rule{r.Where, Forever}
	}
	return &Rule{r.Where, query.FormatAge(r.Keep)}
}

// Gone is a run, definition or value that was deleted, or would be.
type Gone struct {
	Kind  string `json:"kind"`            // run, act, definition, blob, or content of a world
	Name  string `json:"name"`            // id of the run, number of the act, or hash
	Blobs int    `json:"blobs,omitempty"` // of content
	Bytes int64  `json:"bytes,omitempty"` // about; not of content
}

// Collected counts deletions, or those that a dry run found.
type Collected struct {
	Runs        int   `json:"runs"`             // with those below them
	Acts        int   `json:"acts,omitempty"`   // on many runs
	Definitions int   `json:"definitions"`      // to which no run and no name refers any more
	Blobs       int   `json:"blobs"`            // large values
	Content     int   `json:"content"`          // blobs that worlds do not need any more
	Bytes       int64 `json:"bytes"`            // of all but content, about
	Failed      int   `json:"failed,omitempty"` // runs that cannot be read, and stay
}

// GoneOf describes a deletion.
func GoneOf(g *retention.Gone) *Gone { return &Gone{g.Kind, g.Name, g.Blobs, g.Bytes} }

// CollectedOf describes the counts.
func CollectedOf(c retention.Collected) *Collected {
	return &Collected{c.Runs, c.Acts, c.Definitions, c.Values, c.Content, c.Bytes, c.Failed}
}
