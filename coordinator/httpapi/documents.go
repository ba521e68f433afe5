package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/catalog"
	"github.com/sluiceflow/sluice/coordinator/draft"
	"github.com/sluiceflow/sluice/coordinator/drawing"
	"github.com/sluiceflow/sluice/coordinator/parcel"
)

// Documents are the documents of a request: the text of one, or a parcel, which also has the documents below it. Both may be absent where
// a published workflow can be named.
type Documents struct {
	Document string          `json:"document,omitempty"` // YAML or JSON
	File     string          `json:"file,omitempty"`     // its name in faults; default: document
	Parcel   json.RawMessage `json:"parcel,omitempty"`   // as Go's package client makes it
}

// parcel returns the documents as a parcel, if the client may send them and the server allows their contents; nil if there are none.
func (c *exchange) parcel(d *Documents) (*parcel.Parcel, error) {
	if d.Document == "" && len(d.Parcel) == 0 {
		return nil, nil
	}
	if c.who.Role < Author {
		return nil, problem(CodeForbidden, "documents need the role %s, and %s has the role %s", Author, c.who.Name, c.who.Role)
	}
	if d.Document != "" && len(d.Parcel) > 0 {
		return nil, problem(CodeBadRequest, "send a document or a parcel, not both").at("/parcel")
	}
	if d.Document != "" {
		return catalog.Read(c.req.Context(), c.engine, cmp.Or(d.File, "document"), []byte(d.Document), c.config.Allow)
	}
	p := &parcel.Parcel{}
	strict := json.NewDecoder(bytes.NewReader(d.Parcel))
	strict.DisallowUnknownFields()
	if err := strict.Decode(p); err != nil {
		return nil, problem(CodeBadRequest, "this is not a parcel").at("/parcel")
	}
	return p, c.config.Allow.Check(p)
}

// PublishBody makes a workflow the newest of its name.
type PublishBody struct{ Documents }

func publish(c *exchange) error {
	var b PublishBody
	if err := c.body(&b); err != nil {
		return err
	}
	p, err := c.parcel(&b.Documents)
	if err != nil {
		return err
	}
	if p == nil {
		return problem(CodeBadRequest, "send a document, or a parcel").at("/document")
	}
	if c.dry() {
		return c.previewPublish(p)
	}
	r := &api.Request{Verb: api.Publish}
	if r.Attachment, err = (&api.Attachment{Parcel: p}).Encode(); err != nil {
		return err
	}
	ctx, cancel := c.commandContext()
	defer cancel()
	done, err := c.ask(ctx, r, nil)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, done)
}

// previewPublish answers with the preview of a publish.
func (c *exchange) previewPublish(p *parcel.Parcel) error {
	l, err := c.engine.Registry()
	if err != nil {
		return err
	}
	e, err := l.Look(p)
	if err != nil {
		return err
	}
	out := PublishPreview{Name: e.Plan.Workflow.Name, Hash: p.Workflow, Warning: parcel.WouldBeForWorkers(c.req.Context(), c.engine, p)}
	r := &api.Request{Verb: api.Compare, Old: out.Name}
	if r.Attachment, err = (&api.Attachment{Parcel: p}).Encode(); err != nil {
		return err
	}
	err = c.handleInner(r, func(reply *api.Reply) {
		if reply.Diff != nil {
			out.Effect = reply.Diff
		}
	})
	if err != nil && !errors.Is(err, parcel.ErrNotPublished) {
		return err
	}
	out.Unchanged = out.Effect != nil && out.Effect.Old == out.Effect.New
	return c.reply(http.StatusOK, out)
}

// handleInner carries out a request of package api whose answer becomes a part of another one.
func (c *exchange) handleInner(r *api.Request, take func(*api.Reply)) error {
	r.Actor = c.who.Name
	return api.Handle(c.req.Context(), c.engine, r, func(reply *api.Reply) error { take(reply); return nil })
}

func listWorkflows(c *exchange) error {
	limit, err := c.limit(runsPage)
	if err != nil {
		return err
	}
	if c.wantsLines() {
		_, err := c.ask(c.req.Context(), &api.Request{Verb: api.Names, Name: c.query("begins"), Limit: limit}, nil)
		return err
	}
	behind, err := c.place()
	if err != nil {
		return err
	}
	page := WorkflowPage{Items: []*api.Version{}}
	for name, err := range c.engine.Published(c.req.Context(), c.query("begins")) {
		if err != nil {
			return err
		}
		if name <= behind {
			continue
		}
		if len(page.Items) == limit {
			page.Next = c.list().At(page.Items[limit-1].Name)
			break
		}
		list, err := catalog.Versions(c.req.Context(), c.engine, name, 0, 1)
		if err != nil {
			return err
		}
		page.Items = append(page.Items, api.VersionOf(list[0]))
	}
	return c.reply(http.StatusOK, page)
}

func listVersions(c *exchange) error {
	limit, err := c.limit(runsPage)
	if err != nil {
		return err
	}
	place, err := c.place()
	if err != nil {
		return err
	}
	before, _ := strconv.ParseUint(place, 10, 64)
	list, err := catalog.Versions(c.req.Context(), c.engine, c.req.PathValue("name"), before, limit)
	if err != nil {
		return err
	}
	page := VersionPage{Items: []*api.Version{}}
	for _, v := range list {
		page.Items = append(page.Items, api.VersionOf(v))
	}
	if n := len(list); n > 0 && list[n-1].Number > 1 {
		page.Next = c.list().At(seqText(list[n-1].Number))
	}
	return c.reply(http.StatusOK, page)
}

func showWorkflow(c *exchange) error {
	d, err := catalog.Of(c.req.Context(), c.engine, c.req.PathValue("name"), c.req.PathValue("hash"))
	if err != nil {
		return err
	}
	if c.req.PathValue("hash") != "" {
		c.w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	return c.reply(http.StatusOK, Definition{Version: api.VersionOf(d.Version), Document: d.Document, Input: d.Input, Steps: d.Steps})
}

// drawWorkflow answers with a drawing that stays as it is, also of a workflow that has runs and was not published.
func drawWorkflow(c *exchange) error {
	d, err := drawing.OfHash(c.req.Context(), c.engine, c.req.PathValue("name"), c.req.PathValue("hash"))
	if errors.Is(err, drawing.ErrUnknown) {
		return problem("not_published", "%v", err)
	}
	if err != nil {
		return err
	}
	c.w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	return c.replyZipped(d)
}

// CheckBody is a document that is being written.
type CheckBody struct {
	Document string `json:"document"` // YAML or JSON
}

func checkDraft(c *exchange) error {
	var b CheckBody
	if err := c.body(&b); err != nil {
		return err
	}
	found, err := draft.Of(c.req.Context(), []byte(b.Document))
	if err != nil {
		return err
	}
	if len(found.Faults) == 0 {
		p, err := c.parcel(&Documents{Document: b.Document})
		switch {
		case err == nil:
			found.Warn(parcel.WouldBeForWorkers(c.req.Context(), c.engine, p))
		case problemOf(err).Status >= http.StatusInternalServerError:
			return err
		default:
			found.Refuse(err)
		}
	}
	return c.replyZipped(found)
}
