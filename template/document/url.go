package document

import (
	"fmt"
	"net/url"
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
	return nil
}
