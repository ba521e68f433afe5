package httpapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/httpapi/frames"
	"github.com/sluiceflow/sluice/coordinator/httpapi/large"
)

// importMax bounds a file of runs that is sent.
const importMax = 1 << 30

// export sends runs with all that they need, as a file.
func export(c *exchange) error {
	r := &api.Request{Verb: api.Export, Query: c.query("q")}
	if text := c.query("runs"); text != "" && json.Unmarshal([]byte(text), &r.Runs) != nil {
		return problem(CodeBadRequest, "runs are a JSON list of ids").at("query/runs")
	}
	c.allowLong()
	flush, begun := http.NewResponseController(c.w), false
	_, err := c.ask(c.req.Context(), r, func(reply *api.Reply) error {
		if !begun {
			c.w.Header().Set("Content-Type", "application/x-ndjson")
			begun = true
		}
		_ = flush.SetWriteDeadline(deadline())
		_, err := c.w.Write(reply.Data)
		return err
	})
	if begun && err != nil && err != errAnswered {
		panic(http.ErrAbortHandler) // so that the client sees that the file is not whole
	}
	return err
}

// importRuns takes in the runs of a file. The file is stored in the folder for temporary files meanwhile.
func importRuns(c *exchange) (err error) {
	file, err := os.CreateTemp("", "sluice-import-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	c.allowLong()
	_, err = io.Copy(file, http.MaxBytesReader(c.w, large.Body(c.w, c.req.Body, frames.FlushTime), importMax))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return problem(CodeBodyTooLarge, "the file has more than %d bytes", importMax)
	}
	if err != nil {
		return problem(CodeBadRequest, "the file has not arrived whole")
	}
	if err := c.config.Allow.CheckFile(c.req.Context(), io.NewSectionReader(file, 0, importMax)); err != nil {
		return err
	}
	list := ImportList{Items: []*api.Imported{}}
	_, err = c.ask(c.req.Context(), &api.Request{Verb: api.Import, File: file.Name(), Name: "the file"}, func(reply *api.Reply) error {
		if reply.Imported != nil {
			list.Items = append(list.Items, reply.Imported)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, list)
}
