package httpapi

import (
	"errors"
	"net/http"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/httpapi/answers"
	"github.com/sluiceflow/sluice/coordinator/httpapi/columns"
	"github.com/sluiceflow/sluice/coordinator/httpapi/names"
)

// listDecisions lists the steps that wait for a person, in the runs that a query selects.
func listDecisions(c *exchange) error {
	limit, err := c.limit(runsPage)
	if err != nil {
		return err
	}
	page := DecisionPage{Items: []*Decision{}}
	var runs []string
	done := api.Done{}
	err = c.handleInner(&api.Request{Verb: api.List, Query: "waits:person " + c.query("q"), Cursor: c.query("cursor"), Limit: limit}, func(r *api.Reply) {
		if r.Run != nil {
			runs = append(runs, r.Run.Run)
		}
		if r.Done != nil {
			done = *r.Done
		}
	})
	if err != nil {
		return err
	}
	for _, run := range runs {
		list, err := c.decisionsOf(run)
		if err != nil && !isGone(err) {
			return err
		}
		page.Items = append(page.Items, list...)
	}
	page.Next = done.Next
	return c.reply(http.StatusOK, page)
}

// isGone reports whether an error means that a run was deleted after it was listed, or cannot be followed here.
func isGone(err error) bool {
	code := api.ErrorOf(err).Code
	return code == "deleted" || code == "run_not_found" || code == "missing" || code == "parked" || code == "damaged"
}

// decisionsOf returns the open decisions of a run.
func (c *exchange) decisionsOf(run string) (list []*Decision, err error) {
	var of *api.Run
	err = c.handleInner(&api.Request{Verb: api.Show, Run: run}, func(r *api.Reply) {
		if r.Run != nil {
			of = r.Run
		}
		if s := r.Step; s != nil && s.Decidable {
			list = append(list, answers.DecisionOf(of, s))
		}
	})
	return list, err
}

// decision returns the decision that the path names, while it is open.
func (c *exchange) decision() (*Decision, error) {
	id, ok := names.ParseDecision(c.req.PathValue("id"))
	if !ok {
		return nil, problem("step_not_found", "there is no decision with that id")
	}
	if _, err := c.engine.Run(c.req.Context(), id.Run); err != nil {
		return nil, err
	}
	list, err := c.decisionsOf(id.Run)
	if err != nil {
		return nil, err
	}
	for _, d := range list {
		if d.ID == id.String() {
			return d, nil
		}
	}
	return nil, problem("not_possible", "nothing is to be decided there any more")
}

func showDecision(c *exchange) error {
	d, err := c.decision()
	if err != nil {
		return err
	}
	c.w.Header().Set("ETag", etag(d.Seq))
	return c.reply(http.StatusOK, d)
}

func decide(c *exchange) error {
	var b DecideBody
	if err := c.body(&b); err != nil {
		return err
	}
	d, err := c.decision()
	if err != nil {
		return err
	}
	if !names.Match(c.req.Header.Values("If-Match"), etag(d.Seq)) {
		return problem(CodeChanged, "the run has %d events by now", d.Seq).at("header/If-Match")
	}
	r := &api.Request{Verb: api.Decide, Run: d.Run, Step: d.Step, Decision: b.Decision, Reason: b.Reason, Payload: b.Payload}
	r.Dry = c.dry()
	ctx, cancel := c.commandContext()
	defer cancel()
	done, err := c.ask(ctx, r, nil)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, done)
}

func history(c *exchange) error {
	r, err := c.of(api.Events)
	if err != nil {
		return err
	}
	if r.From, err = c.from(); err != nil {
		return err
	}
	h := columns.New()
	_, err = c.ask(c.req.Context(), r, func(reply *api.Reply) error {
		if reply.Event != nil && !h.Add(reply.Event) {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return c.reply(http.StatusOK, h)
}
