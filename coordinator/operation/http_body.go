package operation

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// readBody reads the body of an answer. It waits for room if the body has at least smallText bytes.
func readBody(c *Call, at string, resp *http.Response) ([]byte, error) {
	var body bytes.Buffer
	limited := io.LimitReader(resp.Body, ResponseMax+1)
	if _, err := io.CopyN(&body, limited, smallText); err == io.EOF {
		return body.Bytes(), nil
	} else if err != nil {
		return nil, transportError(c, at, err)
	}
	size := int64(ResponseMax)
	if resp.ContentLength >= 0 {
		size = min(size, resp.ContentLength)
	}
	if err := c.takeText(int(size)); err != nil {
		return nil, err
	}
	if resp.ContentLength >= 0 {
		body.Grow(int(size) - body.Len() + bytes.MinRead) // avoids further growth
	}
	switch _, err := body.ReadFrom(limited); {
	case err != nil:
		return nil, transportError(c, at, err)
	case body.Len() > ResponseMax:
		return nil, &Error{Code: CodeTooLarge, Permanent: true,
			Message: fmt.Sprintf("%s: the body is larger than %d bytes", at, ResponseMax)}
	}
	return body.Bytes(), nil
}

// parseBody returns a body that is declared as JSON as a value, and any other body as text. It returns nil for an empty JSON body.
func parseBody(c *Call, at string, resp *http.Response, body []byte) (any, error) {
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if mediaType != "application/json" && !strings.HasSuffix(mediaType, "+json") {
		return string(body), nil
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	return c.parseJSON(at, body)
}
