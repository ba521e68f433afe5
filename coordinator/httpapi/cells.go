package httpapi

import (
	"net/http"

	"github.com/sluiceflow/sluice/coordinator/api"
)

func listCells(c *exchange) error {
	r, err := c.of(api.Cells)
	if err != nil {
		return err
	}
	r.Machine, r.Status, r.If, r.Index = c.query("machine"), c.query("status"), c.query("if"), c.query("index")
	r.Step = c.query("cell")
	if r.Limit, err = c.limit(eventsPage); err != nil {
		return err
	}
	list := CellList{Items: []*api.Cell{}}
	done, err := c.ask(c.req.Context(), r, func(reply *api.Reply) error { list.Items = append(list.Items, reply.Cell); return nil })
	if err != nil {
		return err
	}
	list.Warning = done.Warning
	return c.reply(http.StatusOK, list)
}

// showCell shows a cell, at once or when a condition holds for it.
func showCell(c *exchange) error {
	r, err := c.of(api.Show)
	if err != nil {
		return err
	}
	r.Step = c.req.PathValue("cell")
	if r.If = c.query("await"); r.If != "" {
		r.Verb = api.Await
		c.allowLong()
	}
	var cell *api.Cell
	if _, err := c.ask(c.req.Context(), r, func(reply *api.Reply) error { cell = reply.Cell; return nil }); err != nil {
		return err
	}
	return c.reply(http.StatusOK, cell)
}

func listViews(c *exchange) error {
	r, err := c.of(api.Views)
	if err != nil {
		return err
	}
	r.Step = c.query("step")
	if r.From, err = c.from(); err != nil {
		return err
	}
	list := ViewList{Items: []*api.View{}}
	_, err = c.ask(c.req.Context(), r, func(reply *api.Reply) error {
		if reply.View != nil {
			list.Items = append(list.Items, reply.View)
		}
		if len(list.Items) == pageMax {
			return errEnough
		}
		return nil
	})
	if err != nil && err != errEnough {
		return err
	}
	return c.reply(http.StatusOK, list)
}
