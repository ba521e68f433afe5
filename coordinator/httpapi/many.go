package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/sluiceflow/sluice/coordinator/api"
)

// Bodies and answers about acts on many runs, and about how long runs are kept.
type (
	// BulkBody begins to act on many runs.
	BulkBody struct {
		Act      string     `json:"act"`                // cancel, pause, resume, retry, rerun, move or delete
		Query    string     `json:"q"`                  // which runs; not empty
		Expect   int        `json:"expect,omitempty"`   // how many that are, as a preview has said; a preview without it says how many
		Reason   string     `json:"reason,omitempty"`   // for people, and journaled
		Rerun    *BulkRerun `json:"rerun,omitempty"`    // of a rerun: the steps of each run that run again
		Workflow string     `json:"workflow,omitempty"` // of a rerun and a move: published, such as order or order@3
		Documents
	}

	// BulkRerun selects the steps of each run that run again.
	BulkRerun struct {
		From    string                     `json:"from,omitempty"`    // key of the step from which on
		Only    string                     `json:"only,omitempty"`    // key of the only one
		Failed  bool                       `json:"failed,omitempty"`  // failed steps
		Changed bool                       `json:"changed,omitempty"` // whose operation or input is another
		Set     map[string]json.RawMessage `json:"set,omitempty"`     // values by place, such as steps.price.output
		Input   json.RawMessage            `json:"input,omitempty"`   // another one; default: the run's
	}

	// KeepBody sets how long runs are kept that have ended.
	KeepBody struct {
		Query string `json:"q,omitempty"`     // which runs; "": those that no other rule selects
		Keep  string `json:"keep,omitempty"`  // an age such as 30d, or forever; "": remove the rule
		Every bool   `json:"every,omitempty"` // remove all rules
	}

	// CollectBody selects the runs to delete.
	CollectBody struct {
		Keep string `json:"keep,omitempty"` // in place of the rules: how long all runs are kept
	}
)

// dry reports whether the client only wants a preview of the request.
func (c *exchange) dry() bool { return c.given.Has("dry") }

func beginBulk(c *exchange) error {
	var b BulkBody
	if err := c.body(&b); err != nil {
		return err
	}
	r := &api.Request{Verb: api.Bulk, Act: b.Act, Query: b.Query, Expect: b.Expect, Reason: b.Reason, Name: b.Workflow, Dry: c.dry()}
	var err error
	var a api.Attachment
	if a.Parcel, err = c.parcel(&b.Documents); err != nil {
		return err
	}
	if w := b.Rerun; w != nil {
		r.Rerun, a.Input = &api.Rerun{From: w.From, Only: w.Only, Failed: w.Failed, Changed: w.Changed, Set: w.Set}, w.Input
	}
	if a.Parcel != nil || len(a.Input) > 0 {
		if r.Attachment, err = a.Encode(); err != nil {
			return err
		}
	}
	if b.Act == "delete" && c.who.Role < Admin {
		return problem(CodeForbidden, "to delete runs needs the role %s, and %s has the role %s", Admin, c.who.Name, c.who.Role)
	}
	ctx, cancel := c.commandContext()
	defer cancel()
	var preview *api.ActPreview
	var act *api.Act
	if _, err := c.ask(ctx, r, func(reply *api.Reply) error { preview, act = reply.Preview, reply.Act; return nil }); err != nil {
		return err
	}
	if r.Dry {
		return c.reply(http.StatusOK, preview)
	}
	c.w.Header().Set("Location", "/v1/bulk/"+strconv.FormatUint(act.ID, 10))
	return c.reply(http.StatusAccepted, act)
}

func listActs(c *exchange) error {
	list := ActList{Items: []*api.Act{}}
	_, err := c.ask(c.req.Context(), &api.Request{Verb: api.Acts}, func(reply *api.Reply) error { list.Items = append(list.Items, reply.Act); return nil })
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, list)
}

// act returns a request about the act that the path names.
func (c *exchange) act(verb api.Verb) (*api.Request, error) {
	id, err := strconv.ParseUint(c.req.PathValue("id"), 10, 64)
	if err != nil || id == 0 {
		return nil, problem("act_not_found", "there is no act with that id")
	}
	return &api.Request{Verb: verb, Number: id}, nil
}

func showAct(c *exchange) error {
	r, err := c.act(api.Acts)
	if err != nil {
		return err
	}
	if c.query("wait") == "true" {
		r.Verb = api.AwaitAct
		c.allowLong()
	}
	var out ActAnswer
	_, err = c.ask(c.req.Context(), r, func(reply *api.Reply) error {
		if reply.Outcome != nil {
			out.Outcomes = append(out.Outcomes, reply.Outcome)
		} else {
			out.Act = reply.Act
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, out)
}

func stopAct(c *exchange) error {
	r, err := c.act(api.StopAct)
	if err != nil {
		return err
	}
	r.Dry = c.dry()
	ctx, cancel := c.commandContext()
	defer cancel()
	var act *api.Act
	if _, err := c.ask(ctx, r, func(reply *api.Reply) error { act = reply.Act; return nil }); err != nil {
		return err
	}
	return c.reply(http.StatusOK, act)
}

func listRules(c *exchange) error {
	list := RuleList{Items: []*api.Rule{}}
	_, err := c.ask(c.req.Context(), &api.Request{Verb: api.Rules}, func(reply *api.Reply) error { list.Items = append(list.Items, reply.Rule); return nil })
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, list)
}

func setRule(c *exchange) error {
	var b KeepBody
	if err := c.body(&b); err != nil {
		return err
	}
	ctx, cancel := c.commandContext()
	defer cancel()
	done, err := c.ask(ctx, &api.Request{Verb: api.Retain, Query: b.Query, Keep: b.Keep, Every: b.Every, Dry: c.dry()}, nil)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, done)
}

func collect(c *exchange) error {
	var b CollectBody
	if err := c.body(&b); err != nil {
		return err
	}
	c.allowLong()
	out := CollectAnswer{Items: []*api.Gone{}}
	r := &api.Request{Verb: api.Collect, Dry: c.dry(), Keep: b.Keep, Beside: true}
	done, err := c.ask(c.req.Context(), r, func(reply *api.Reply) error { out.Items = append(out.Items, reply.Gone); return nil })
	if err != nil {
		return err
	}
	out.Collected = done.Collected
	return c.reply(http.StatusOK, out)
}
