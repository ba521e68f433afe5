package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/template/value"
)

// jsonView prints one object a line: each update, as `sluice runs watch` does, and at last the result.
type jsonView struct {
	w   *bufio.Writer
	enc *json.Encoder
}

func newJSONView(w io.Writer) *jsonView {
	b := bufio.NewWriter(w)
	return &jsonView{b, newJSON(b, w)}
}

type jsonEnd struct {
	Result    *jsonResult    `json:"result,omitempty"`
	Suspended *jsonSuspended `json:"suspended,omitempty"`
}

type jsonResult struct {
	Run     string          `json:"run"`
	Status  string          `json:"status"`
	Output  json.RawMessage `json:"output"`
	Failure *api.Failure    `json:"failure,omitempty"`
}

type jsonSuspended struct {
	Resume string `json:"resume"` // the command that does it
}

func (v *jsonView) update(u *coordinator.Update, news bool) {
	if !news {
		return
	}
	v.print(api.UpdateOf(u))
}

func (*jsonView) stopping(string)  {}
func (*jsonView) note(text string) { fmt.Fprint(os.Stderr, text) }

func (v *jsonView) end(e ending) {
	switch r := e.result; {
	case r != nil:
		v.print(jsonEnd{Result: &jsonResult{r.Run, string(r.Status), valueJSON(r.Output), api.FailureOf(r.Failure)}})
	case e.resume != "":
		v.print(jsonEnd{Suspended: &jsonSuspended{e.resume}})
	}
}

// print writes a line at once: who reads it may be waiting for it. That it could not be written is said at the end.
func (v *jsonView) print(object any) {
	_ = v.enc.Encode(object)
	v.w.Flush()
}

// valueJSON gives a value as JSON. What comes from a journal always has such a form.
func valueJSON(v any) json.RawMessage {
	data, err := value.JSON(v)
	if err != nil {
		data, _ = json.Marshal(err.Error())
	}
	return data
}
