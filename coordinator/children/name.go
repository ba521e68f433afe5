package children

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template"
)

// Name is how a call is called outside its run: below the run's id, told apart by step, attempt and who is asked.
func Name(c *call.Request) string {
	return c.Run + "/" + reactive.CallName(c.Node, c.Attempt, c.Participant, c.Decision)
}

// ID is the id of the run that a call starts: the call's name, the same whenever it is made again. Where that is too long for
// a run so many generations down, a hash takes the place of what the call is called in its run.
func ID(c *call.Request) string {
	id := Name(c)
	if len(id) <= template.IDBytesMax+Generation(id)*hashedBytes {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return c.Run + "/~" + base64.RawURLEncoding.EncodeToString(sum[:16])
}

// hashedBytes is how much longer a child's id is than its parent's when it ends in a hash.
const hashedBytes = 24

// Generation is how many runs are above the one with that id.
func Generation(id string) int { return strings.Count(id, "/") }

// IDs returns the ids of the runs that calls start.
func IDs(calls []call.Request) map[string]bool {
	ids := make(map[string]bool, len(calls))
	for i := range calls {
		ids[ID(&calls[i])] = true
	}
	return ids
}
