package view

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
)

// jsonView prints one object per line: each update, as `sluice runs watch` does, and at the end the result.
type jsonView struct {
	w   *bufio.Writer
	enc *json.Encoder
}

func newJSONView(w io.Writer) *jsonView {
	b := bufio.NewWriter(w)
	return &jsonView{b, cli.NewJSON(b, w)}
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
	Resume string `json:"resume"` // the command line
}

func (v *jsonView) Update(u *coordinator.Update, live bool) {
	if !live {
		return
	}
	v.print(api.UpdateOf(u))
}

func (*jsonView) Stopping(string)  {}
func (*jsonView) Note(text string) { fmt.Fprint(os.Stderr, text) }

func (v *jsonView) End(e Summary) {
	switch r := e.Result; {
	case r != nil:
		v.print(jsonEnd{Result: &jsonResult{r.Run, string(r.Status), cli.ValueJSON(r.Output), api.FailureOf(r.Failure)}})
	case e.Resume != "":
		v.print(jsonEnd{Suspended: &jsonSuspended{e.Resume}})
	}
}

// print writes a line at once, since the reader may be waiting for it.
func (v *jsonView) print(object any) {
	_ = v.enc.Encode(object)
	v.w.Flush()
}
