package folder

import (
	"testing"
	"time"
)

// BePatient sets the time that Open waits, until the test ends.
func BePatient(t testing.TB, d time.Duration) {
	before := heldPatience
	heldPatience = d
	t.Cleanup(func() { heldPatience = before })
}
