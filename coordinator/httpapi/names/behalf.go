package names

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/sluiceflow/sluice/coordinator/limits"
)

// BehalfHeader names the person for whom the owner of the token acts, with escapes as in a path.
const BehalfHeader = "On-Behalf-Of"

// Errors of that header. They do not repeat it.
var (
	errBehalf     = errors.New("it comes once, as a name in UTF-8 without characters that cannot be seen, with escapes as in a path")
	errBehalfLong = errors.New("the name is too long: with that of the token, an actor has at most 256 bytes")
)

// Behalf returns the person that the owner of a token represents, by the header; "": none. It refuses a value that is no name, or too
// long beside the name of the token, which is "" if it is not known.
func Behalf(h http.Header, token string) (string, error) {
	values := h.Values(BehalfHeader)
	if len(values) == 0 {
		return "", nil
	}
	behalf, err := url.PathUnescape(values[0])
	switch {
	case err != nil || len(values) > 1:
		return "", errBehalf
	case len(Actor(token, behalf)) > limits.ActorMax:
		return "", errBehalfLong
	case limits.CheckActor(behalf) != nil:
		return "", errBehalf
	}
	return behalf, nil
}

// Actor returns the actor of a command as journals have it: `ann`, or `ann on_behalf_of bob`. No token has a name with spaces, so the
// first word is the token's name.
func Actor(token, behalf string) string {
	if behalf == "" {
		return token
	}
	return token + " on_behalf_of " + behalf
}
