package httpapi

import (
	"crypto/sha256"
	"errors"
	"time"

	"github.com/sluiceflow/sluice/coordinator/httpapi/idempotency"
)

// once carries out a request that changes something and has a key, or repeats the answer to the first request with the key. A preview is
// answered as the act would be, and does not take the key.
func (c *exchange) once(key string) error {
	body, err := c.content()
	if err != nil {
		return err
	}
	name, sum := sha256.Sum256([]byte(c.who.Name+"\x00"+c.req.Method+"\x00"+c.req.URL.EscapedPath()+"\x00"+key)), sha256.Sum256(body)
	a, first := c.kept.Begin(name, sum, c.dry(), time.Now())
	if first {
		w := &idempotency.Recorder{ResponseWriter: c.w}
		c.w = w
		defer func() { c.kept.End(a, w) }()
		if err := c.route.serve(c); err != nil && err != errAnswered {
			c.refuse(err)
		}
		return nil
	}
	sent, err := a.Repeat(c.req.Context(), c.w, sum)
	if errors.Is(err, idempotency.ErrOther) {
		return problem(CodeKeyUsed, "another request was made with this key").at("header/Idempotency-Key")
	}
	if sent || err != nil {
		return err
	}
	return c.route.serve(c)
}
