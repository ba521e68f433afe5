package control

import (
	"testing"
	"time"
)

// DecodeRequest reads a line.
func DecodeRequest(line []byte) (*Request, error) { return decodeRequest(line) }

// Encode gives the request as a line.
func (r *Request) Encode() ([]byte, error) { return r.encode() }

// BePatient has Open wait so long, until the test ends.
func BePatient(t testing.TB, d time.Duration) {
	before := heldPatience
	heldPatience = d
	t.Cleanup(func() { heldPatience = before })
}
