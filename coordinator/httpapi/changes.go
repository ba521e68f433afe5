package httpapi

import (
	"encoding/json"
	"net/http"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/versions"
)

// Bodies and answers about runs and another workflow.
type (
	// RerunBody starts a new run that keeps results of a run.
	RerunBody struct {
		BulkRerun
		At     uint64            `json:"at,omitempty"`     // as of that event
		ID     string            `json:"id,omitempty"`     // of the new run; "": a random one
		Labels map[string]string `json:"labels,omitempty"` // others; default: the run's
		Documents
	}

	// ShadowBody names the workflow to compare runs with.
	ShadowBody struct {
		Workflow string `json:"workflow,omitempty"` // published, such as order or order@3
		Query    string `json:"q,omitempty"`        // of a shadow of many runs: which
		Documents
	}

	// MoveBody names the workflow under which a run goes on.
	MoveBody struct {
		Workflow string `json:"workflow,omitempty"` // published, such as order or order@3
		Documents
	}

	// DiffBody names two workflows, or sends one or both of them.
	DiffBody struct {
		From string          `json:"from,omitempty"` // published, such as order@2
		To   string          `json:"to,omitempty"`   // published, such as order
		Old  json.RawMessage `json:"old,omitempty"`  // a parcel, in place of from
		Documents
	}
)

func rerun(c *exchange) error {
	var b RerunBody
	if err := c.body(&b); err != nil {
		return err
	}
	r, err := c.of(api.Repeat)
	if err != nil {
		return err
	}
	r.Rerun = &api.Rerun{From: b.From, Only: b.Only, Failed: b.Failed, Changed: b.Changed, At: b.At, Set: b.Set}
	r.ID, r.Labels = b.ID, b.Labels
	r.Dry = c.dry()
	p, err := c.parcel(&b.Documents)
	if err != nil {
		return err
	}
	if p != nil || len(b.Input) > 0 {
		if r.Attachment, err = (&api.Attachment{Parcel: p, Input: b.Input}).Encode(); err != nil {
			return err
		}
	}
	if err := c.unchanged(); err != nil {
		return err
	}
	ctx, cancel := c.commandContext()
	defer cancel()
	out := RerunPlan{Items: []*api.RerunStep{}}
	done, err := c.ask(ctx, r, func(reply *api.Reply) error { out.Items = append(out.Items, reply.Rerun); return nil })
	switch {
	case err != nil:
		return err
	case r.Dry:
		out.Seq = done.Seq
		return c.reply(http.StatusOK, out)
	}
	return c.reply(http.StatusCreated, done)
}

// attach attaches the workflow of the request, if it has one.
func (c *exchange) attach(r *api.Request, d *Documents) error {
	p, err := c.parcel(d)
	if err == nil && p != nil {
		r.Attachment, err = (&api.Attachment{Parcel: p}).Encode()
	}
	return err
}

// shadow compares one run, or those of a query, with another workflow. It changes nothing.
func shadow(c *exchange) error {
	var b ShadowBody
	if err := c.body(&b); err != nil {
		return err
	}
	r := &api.Request{Verb: api.Shadow, Name: b.Workflow, Query: b.Query}
	if c.req.PathValue("run") != "" {
		run, err := c.run()
		if err != nil {
			return err
		}
		r.Run = run.ID()
	}
	if err := c.attach(r, &b.Documents); err != nil {
		return err
	}
	c.allowLong()
	out := ShadowList{Items: []*api.Shadowed{}}
	if _, err := c.ask(c.req.Context(), r, func(reply *api.Reply) error { out.Items = append(out.Items, reply.Shadow); return nil }); err != nil {
		return err
	}
	return c.reply(http.StatusOK, out)
}

// moveRun switches a run to another workflow.
func moveRun(c *exchange) error {
	var b MoveBody
	if err := c.body(&b); err != nil {
		return err
	}
	r, err := c.of(api.Move)
	if err != nil {
		return err
	}
	r.Name = b.Workflow
	r.Dry = c.dry()
	if err := c.attach(r, &b.Documents); err != nil {
		return err
	}
	if err := c.unchanged(); err != nil {
		return err
	}
	ctx, cancel := c.commandContext()
	defer cancel()
	var out *api.Shadowed
	if _, err = c.ask(ctx, r, func(reply *api.Reply) error { out = reply.Shadow; return nil }); err != nil {
		return err
	}
	return c.reply(http.StatusOK, out)
}

// diff compares two published workflows.
func diff(c *exchange) error {
	return c.compare(&api.Request{Verb: api.Compare, Old: c.query("from"), Name: c.query("to")})
}

// diffDocuments compares workflows that may come with the request. It changes nothing.
func diffDocuments(c *exchange) error {
	var b DiffBody
	if err := c.body(&b); err != nil {
		return err
	}
	now, err := c.parcel(&b.Documents)
	if err != nil {
		return err
	}
	old, err := c.parcel(&Documents{Parcel: b.Old})
	if err != nil {
		return err
	}
	r := &api.Request{Verb: api.Compare, Old: b.From, Name: b.To}
	if r.Attachment, err = (&api.Attachment{Parcel: now, Old: old}).Encode(); err != nil {
		return err
	}
	return c.compare(r)
}

func (c *exchange) compare(r *api.Request) error {
	var out *versions.Diff
	c.allowLong()
	if _, err := c.ask(c.req.Context(), r, func(reply *api.Reply) error { out = reply.Diff; return nil }); err != nil {
		return err
	}
	return c.reply(http.StatusOK, out)
}
