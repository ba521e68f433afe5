package httpapi

import (
	"cmp"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/httpapi/bodies"
)

// documentsMax bounds the body of a request that may contain documents.
const documentsMax = 16 << 20

// body reads the body of a request into a struct: one JSON object with exactly the keys of the struct's tags, case included. No body is
// an empty object.
func (c *exchange) body(into any) error {
	data, err := c.content()
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return nil
	}
	kind, more, err := mime.ParseMediaType(c.req.Header.Get("Content-Type"))
	if charset := cmp.Or(more["charset"], "utf-8"); err != nil || kind != "application/json" || !strings.EqualFold(charset, "utf-8") || c.req.Header.Get("Content-Encoding") != "" {
		return problem(CodeMediaType, "the body is application/json in UTF-8 without a Content-Encoding, and its Content-Type must say so")
	}
	fault := bodies.Read(data, into)
	if fault == nil {
		return nil
	}
	p := problem(CodeBadRequest, "%s", fault.Detail)
	if fault.Pointer != "" {
		p = p.at(fault.Pointer)
	}
	return p
}

// content returns the body of the request.
func (c *exchange) content() ([]byte, error) {
	if c.read {
		return c.sent, nil
	}
	most := max(api.RequestMax, c.route.Most)
	if c.route.Large {
		most = max(documentsMax, most)
	}
	data, err := io.ReadAll(http.MaxBytesReader(c.w, c.req.Body, most))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, problem(CodeBodyTooLarge, "the body has more than %d bytes", most)
	}
	if err != nil {
		return nil, problem(CodeBadRequest, "the body has not arrived whole")
	}
	c.sent, c.read = data, true
	return data, nil
}
