// Package expiry describes retention rules and deletions for requests and replies.
package expiry

import (
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/coordinator/retention"
)

// Rule determines how long ended runs are kept: see retention.Rule.
type Rule struct {
	Where string `json:"where,omitempty"` // query for the runs; "": the runs that no other rule selects
	Keep  string `json:"keep"`            // an age such as 30d, or Forever
}

// Forever is the Keep of a rule that keeps its runs for ever.
const Forever = "forever"

// RuleOf describes a rule.
func RuleOf(r retention.Rule) *Rule {
	if r.Keep == retention.Forever {
		return &Rule{r.Where, Forever}
	}
	return &Rule{r.Where, query.FormatAge(r.Keep)}
}

// Gone is a deleted run, definition or value, or one that would be deleted.
type Gone struct {
	Kind  string `json:"kind"`            // run, act, definition, blob, or content of a world
	Name  string `json:"name"`            // id of the run, number of the act, or hash
	Blobs int    `json:"blobs,omitempty"` // of content
	Bytes int64  `json:"bytes,omitempty"` // approximate; not of content
}

// Collected counts deletions, or in a dry run the possible deletions.
type Collected struct {
	Runs        int   `json:"runs"`             // including child runs
	Acts        int   `json:"acts,omitempty"`   // on many runs
	Definitions int   `json:"definitions"`      // without a reference from a run or a name
	Blobs       int   `json:"blobs"`            // large values
	Content     int   `json:"content"`          // blobs that no world needs
	Bytes       int64 `json:"bytes"`            // approximate, without content
	Failed      int   `json:"failed,omitempty"` // unreadable runs, which are kept
}

// GoneOf describes a deletion.
func GoneOf(g *retention.Gone) *Gone { return &Gone{g.Kind, g.Name, g.Blobs, g.Bytes} }

// CollectedOf describes the counts.
func CollectedOf(c retention.Collected) *Collected {
	return &Collected{c.Runs, c.Acts, c.Definitions, c.Values, c.Content, c.Bytes, c.Failed}
}
