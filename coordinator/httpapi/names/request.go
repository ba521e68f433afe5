package names

import (
	"crypto/rand"
	"encoding/hex"
	"net"
	"strings"
)

// Request returns a new id of a request, for the log.
func Request() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // it does not fail
	return hex.EncodeToString(id[:])
}

// Host returns the host of a Host header, without its port, in lower case.
func Host(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}
