package flow_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
)

type (
	Order struct {
		Lines []Line `json:"lines"`
		Limit int    `json:"limit"`
	}
	Line   string
	Report struct {
		OK bool `json:"ok"`
	}
	Offer struct {
		Price int    `json:"price"`
		By    string `json:"by"`
	}
	Purchase struct {
		Offer Offer `json:"offer"`
		Limit int   `json:"limit"`
	}
	Contract struct {
		ID string `json:"id"`
	}
)

// The handles of operations that are implemented in Go come with their implementation; these are bound elsewhere.
var (
	Split   = template.NewOp[[]Line, []Line]("order.split", nil)
	Screen  = template.NewOp[Line, Report]("line.screen", nil)
	Solicit = template.NewOp[[]Report, Offer]("rfq.solicit", nil)
	Open    = template.NewOp[Purchase, Contract]("contract.open", nil)
	Notify  = template.NewOp[string, any]("notify", nil)
)

func ExampleDefine() {
	in := flow.Input[Order]()
	lines := flow.Call("split", Split, flow.Select[[]Line](in, "/lines"))
	reports := flow.Each("check", lines, func(line flow.Ref[Line]) flow.Ref[Report] {
		return flow.Call("screen", Screen, line)
	}, flow.MaxConcurrency(8))
	offer := flow.Call("solicit", Solicit, reports, flow.Timeout(30*time.Second))
	contract := flow.Call("contract", Open, flow.Object[Purchase](
		flow.With("offer", offer), flow.With("limit", flow.Select[int](in, "/limit"))))

	w, err := flow.Define("procure",
		lines,
		reports,
		offer,
		flow.If(flow.Completed(offer),
			flow.Then(contract),
			flow.Else(flow.Call("", Notify, flow.Value("no offer"))),
		),
		flow.Output(flow.FromOr(contract, Contract{ID: "none"})),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := json.Marshal(w.Document().(map[string]any)["output"])
	fmt.Println(w.Name, len(w.Steps), string(text))
	// Output:
	// procure 4 "{{ steps.contract.output ?? {\"id\":\"none\"} }}"
}

func ExampleEach() {
	lines := flow.Input[[]Line]()
	reports := flow.Each("check", lines, func(line flow.Ref[Line]) flow.Ref[Report] {
		note := flow.Call("note", Notify, flow.Value("screening"))
		return flow.Call("screen", Screen, line).After(note) // the body is note, then screen
	}, flow.As("line"))
	w := flow.MustDefine("check-lines", reports)

	text, _ := json.Marshal(w.Steps[0].(*template.Map).Steps[1].(*template.Step).Input)
	fmt.Println(string(text))
	// Output:
	// "{{ line }}"
}

func ExampleFunc() {
	cheap := func(o Offer) bool { return o.Price < 10 }
	offer := flow.Call("solicit", Solicit, flow.Value([]Report{}))
	w := flow.MustDefine("buy",
		offer,
		flow.If(flow.Func("cheap enough", cheap, offer), flow.Then(flow.Call("", Notify, flow.Value("bought")))),
	)

	f := w.Functions()[0]
	decision, err := f.Call([]any{map[string]any{"price": int64(7)}})
	fmt.Println(f.Name, decision, err)
	// Output:
	// cheap enough true <nil>
}
