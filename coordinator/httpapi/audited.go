package httpapi

import (
	"cmp"
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/httpapi/audit"
)

// recordSubject records the subject of a request, if only its answer has it.
func (c *exchange) recordSubject(reply *api.Reply) {
	switch {
	case reply.Act != nil:
		c.named = strconv.FormatUint(reply.Act.ID, 10)
	case reply.Done != nil && reply.Done.Published != nil:
		c.named = reply.Done.Published.Name
	case reply.Done != nil:
		c.started = reply.Done.Run
	}
}

// headers returns the headers of the route. If it is audited, one of them names the represented person.
func (r *Route) headers() []Param {
	if audit.KindOf(r.Method, r.Path, r.Role > Viewer, http.StatusOK) == "" {
		return r.Headers
	}
	return append(slices.Clip(r.Headers), behalfOf)
}

// audited records an answered request, if its kind is recorded.
func (c *exchange) audited(status int) {
	kind := audit.KindOf(c.route.Method, c.route.Path, c.route.Role > Viewer, status)
	if c.config.Audit == nil || kind == "" || kind == audit.Act && c.query("dry") == "true" {
		return
	}
	run := c.req.PathValue("run")
	if c.started != "" {
		run = c.started
	}
	from, _, _ := net.SplitHostPort(c.req.RemoteAddr)
	c.config.Audit.Note(audit.Entry{
		Kind: kind, Actor: c.who.Name, OnBehalfOf: c.behalf, Role: c.who.Role.String(), From: from, Method: c.route.Method, Route: c.route.Path, Run: run,
		Step: cmp.Or(c.req.PathValue("key"), c.req.PathValue("cell")), Name: cmp.Or(c.named, c.req.PathValue("id"), c.req.PathValue("name")),
		Status: status, Code: c.code, Request: c.id,
	})
}

func listAudit(c *exchange) error {
	limit, err := c.limit(eventsPage)
	if err != nil {
		return err
	}
	if c.config.Audit == nil {
		return problem("not_possible", "this server keeps no audit")
	}
	kind := c.query("kind")
	if kind != "" && !slices.Contains(audit.Kinds, kind) {
		return problem(CodeBadRequest, "a kind is %s", strings.Join(audit.Kinds, ", ")).at("query/kind")
	}
	place, err := c.place()
	if err != nil {
		return err
	}
	page, err := c.config.Audit.Read(c.req.Context(), audit.Query{
		Kind: kind, Actor: c.query("actor"), Run: c.query("run"), Cursor: place, Limit: cmp.Or(limit, eventsPage),
	})
	if errors.Is(err, audit.ErrCursor) {
		return noCursor()
	}
	if err != nil {
		return err
	}
	page.Next = c.list().At(page.Next)
	return c.reply(http.StatusOK, page)
}
