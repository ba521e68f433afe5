package control

import (
	"testing"
	"time"
)

// AskOnly is Dial without a look whether anybody is there.
func AskOnly(dir string) *Client { return holder(dir) }

// BePatient has Open wait so long, until the test ends.
func BePatient(t testing.TB, d time.Duration) {
	before := heldPatience
	heldPatience = d
	t.Cleanup(func() { heldPatience = before })
}

// Taken has a holder take requests within so long, until the test ends.
func Taken(t testing.TB, d time.Duration) {
	before := takenWithin
	takenWithin = d
	t.Cleanup(func() { takenWithin = before })
}
