package names

import (
	"net/http"
	"net/url"
)

// BehalfHeader says for whom the owner of the token acts, with escapes as in a path.
const BehalfHeader = "On-Behalf-Of"

// Behalf returns for whom the owner of the token acts, as he says; "": for himself.
func Behalf(h http.Header) string {
	text := h.Get(BehalfHeader)
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// Actor returns the actor of a command as journals have it: `ann`, or `ann on_behalf_of bob`. No token has a name with spaces, so it
// begins with the token's.
func Actor(token string, h http.Header) string {
	if behalf := Behalf(h); behalf != "" {
		return token + " on_behalf_of " + behalf
	}
	return token
}
