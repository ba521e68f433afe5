package control

import (
	"cmp"
	"strconv"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
)

// ServeAudited is Serve, and records in an audit the answered requests that change something, with the actors that they name. Close
// the audit after the server.
func ServeAudited(dir string, engine *coordinator.Engine, log *audit.Log) (*Server, error) {
	return serve(dir, engine, func(req *api.Request, got *outcome, err error) {
		if !req.Dry && (req.Verb.Changes() || req.Verb == api.Backup) {
			log.Note(entryOf(req, got, err))
		}
	})
}

// outcome holds the parts of an answer that the audit records.
type outcome struct {
	done *api.Done // nil: it was refused or has failed
	act  *api.Act
}

func (o *outcome) record(r *api.Reply) {
	o.act, o.done = cmp.Or(r.Act, o.act), cmp.Or(r.Done, o.done)
}

// entryOf returns the entry about a request. It holds no input, message or reason.
func entryOf(req *api.Request, got *outcome, err error) audit.Entry {
	e := audit.Entry{Kind: audit.Act, Door: audit.Socket, Actor: req.Actor, Route: string(req.Verb), Run: req.Run, Step: req.Step, Name: req.Name}
	if req.Number > 0 {
		e.Name = strconv.FormatUint(req.Number, 10)
	}
	if got.act != nil {
		e.Name = strconv.FormatUint(got.act.ID, 10)
	}
	switch {
	case got.done == nil:
		e.Code = api.ErrorOf(err).Code
	case got.done.Published != nil:
		e.Name = got.done.Published.Name
	default:
		e.Run = cmp.Or(got.done.Run, e.Run)
	}
	return e
}
