package children

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template"
)

// Name names a call outside its run: the run's id, step, attempt and participant.
func Name(c *call.Request) string {
	return c.Run + "/" + reactive.CallName(c.Node, c.Attempt, c.Participant, c.Decision)
}

// ID returns the id of the run that a call starts: the call's name, which is the same on every repetition. If the id would be
// too long at its depth, a hash replaces the part that names the call.
func ID(c *call.Request) string {
	id := Name(c)
	if len(id) <= template.IDBytesMax+Generation(id)*hashedBytes {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return c.Run + "/~" + base64.RawURLEncoding.EncodeToString(sum[:16])
}

// hashedBytes is the length that a hash adds to the parent's id.
const hashedBytes = 24

// Generation returns the number of runs above the run with an id.
func Generation(id string) int { return strings.Count(id, "/") }

// IDs returns the ids of the runs that calls start.
func IDs(calls []call.Request) map[string]bool {
	ids := make(map[string]bool, len(calls))
	for i := range calls {
		ids[ID(&calls[i])] = true
	}
	return ids
}
