package control

import (
	"context"
	"time"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/internal/cancelled"
)

// answerTime bounds an answer that does not follow a run, once the holder has taken the request.
const answerTime = 2 * time.Minute

// Holder sends requests to the process that holds a directory. It keeps nothing open: every request has a separate connection.
type Holder struct{ dir string }

// Dial returns the holder of a directory; api.ErrNotHeld if no process answers there.
func Dial(dir string) (Holder, error) {
	conn, err := dial(dir)
	if err != nil {
		return Holder{}, api.ErrorOf(err)
	}
	return Holder{dir}, conn.Close()
}

// Ask makes a request and passes the replies to emit; the last is Done. It returns an *api.Error if the request was refused or not
// answered, and emit's error unchanged.
func (h Holder) Ask(ctx context.Context, req *api.Request, emit func(*api.Reply) error) error {
	line, err := req.Encode()
	if err != nil {
		return api.ErrorOf(err)
	}
	conn, err := dial(h.dir)
	if err != nil {
		return api.ErrorOf(err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	var broken error // of emit
	a := &answer{conn: conn, dir: h.dir, follows: req.Verb.Follows(), reads: !req.Verb.Changes()}
	if err = a.ask(line, req.Attachment); err == nil {
		err = a.read(func(r *api.Reply) error {
			broken = emit(r)
			return broken
		})
	}
	switch {
	case broken != nil:
		return broken
	case err != nil && ctx.Err() != nil:
		return cancelled.Error(ctx)
	case err != nil:
		return api.ErrorOf(err)
	}
	return nil
}
