package httpapi

import (
	"crypto/sha256"
	"time"

	"github.com/sluiceflow/sluice/coordinator/httpapi/kept"
)

// once carries out a request that changes something and has a key, or repeats the answer that the first of its kind has got.
func (c *exchange) once(key string) error {
	body, err := c.content()
	if err != nil {
		return err
	}
	name := sha256.Sum256([]byte(c.who.Name + "\x00" + c.req.Method + "\x00" + c.req.URL.RequestURI() + "\x00" + key))
	a, first := c.kept.Begin(name, sha256.Sum256(body), time.Now())
	if first {
		w := &kept.Recorder{ResponseWriter: c.w}
		c.w = w
		defer func() { c.kept.End(a, w) }()
		if err := c.route.serve(c); err != nil && err != errAnswered {
			c.refuse(err)
		}
		return nil
	}
	if !a.SameBody(sha256.Sum256(body)) {
		return problem(CodeKeyUsed, "another request was made with this key").at("header/Idempotency-Key")
	}
	select {
	case <-a.Done:
	case <-c.req.Context().Done():
		return c.req.Context().Err()
	}
	if !a.Send(c.w) {
		return c.route.serve(c)
	}
	return nil
}
