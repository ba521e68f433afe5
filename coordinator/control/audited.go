package control

import (
	"cmp"
	"strconv"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
)

// ServeAudited is Serve, and records in an audit which requests that change something were answered, and by whom they say they are. The
// audit is to be closed after the server.
func ServeAudited(dir string, engine *coordinator.Engine, log *audit.Log) (*Server, error) {
	return serve(dir, engine, func(req *api.Request, said *told, err error) {
		if !req.Dry && (req.Verb.Changes() || req.Verb == api.Backup) {
			log.Note(entryOf(req, said, err))
		}
	})
}

// told is what an answer has said of the request, besides what was asked for.
type told struct {
	done *api.Done // nil: it was refused or has failed
	act  *api.Act
}

func (t *told) hear(r *api.Reply) {
	t.act, t.done = cmp.Or(r.Act, t.act), cmp.Or(r.Done, t.done)
}

// entryOf returns the entry about a request. It holds no input, message or reason.
func entryOf(req *api.Request, said *told, err error) audit.Entry {
	e := audit.Entry{Kind: audit.Act, Door: audit.Socket, Actor: req.Actor, Route: string(req.Verb), Run: req.Run, Step: req.Step, Name: req.Name}
	if req.Number > 0 {
		e.Name = strconv.FormatUint(req.Number, 10)
	}
	if said.act != nil {
		e.Name = strconv.FormatUint(said.act.ID, 10)
	}
	switch {
	case said.done == nil:
		e.Code = api.ErrorOf(err).Code
	case said.done.Published != nil:
		e.Name = said.done.Published.Name
	default:
		e.Run = cmp.Or(said.done.Run, e.Run)
	}
	return e
}
