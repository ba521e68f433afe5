package control

import (
	"testing"
	"time"
)

// AskOnly is Dial without the check that a process listens.
func AskOnly(dir string) Holder { return Holder{dir} }

// Undialed is the error for a socket that could not be reached.
var Undialed = dialError

// Taken sets the time in which a holder must acknowledge a request, until the test ends.
func Taken(t testing.TB, d time.Duration) {
	before := takenWithin
	takenWithin = d
	t.Cleanup(func() { takenWithin = before })
}
