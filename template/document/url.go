package document

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// ValidURL returns an error that quotes text if it is not the URL of an HTTP request.
func ValidURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" && u.Scheme == "":
		return fmt.Errorf("%s is no URL: write one such as https://example.com/", Quote(text))
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("the URL %s begins with neither http:// nor https://", Quote(text))
	case u.Hostname() == "":
		return fmt.Errorf("the URL %s names no host", Quote(text))
	}
	if _, err := strconv.ParseUint(u.Port(), 10, 16); err != nil && u.Port() != "" {
		return fmt.Errorf("the URL %s has a port that is none: a port is at most 65535", Quote(text))
	}
	return nil
}

// ValidMethod returns an error that quotes text if it is not the method of an HTTP request.
func ValidMethod(text string) error {
	if text != "" && !IsToken(text) {
		return fmt.Errorf("%s is no method: write one such as POST", Quote(text))
	}
	return nil
}

// ValidHeader returns an error that quotes name if it is not the name of a header of an HTTP request.
func ValidHeader(name string) error {
	if !IsToken(name) {
		return fmt.Errorf("%s is no name of a header: write one such as X-Order-Id", Quote(name))
	}
	return nil
}

// IsToken reports whether the name of a header or method is a token (RFC 9110, section 5.6.2).
func IsToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		isWord := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !isWord && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}
