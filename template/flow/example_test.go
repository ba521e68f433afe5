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
	Report struct{ OK bool }
	Offer  struct {
		Price int `json:"price"`
	}
	Contract struct {
		ID string `json:"id"`
	}
)

var (
	Split   = template.NewOp[[]Line, []Line]("order.split", nil)
	Screen  = template.NewOp[Line, Report]("line.screen", nil)
	Solicit = template.NewOp[[]Report, Offer]("rfq.solicit", nil)
	Open    = template.NewOp[Offer, Contract]("contract.open", nil)
	Notify  = template.NewOp[string, any]("notify", nil)
)

func ExampleDefine() {
	in := flow.Input[Order]()
	lines := flow.Call("split", Split, flow.Select[[]Line](in, "/lines"))
	reports := flow.Each("check", lines, func(line flow.Ref[Line]) flow.Ref[Report] {
		return flow.Call("screen", Screen, line)
	}, flow.MaxConcurrency(8))
	offer := flow.Call("solicit", Solicit, reports, flow.Timeout(30*time.Second))
	contract := flow.Call("contract", Open, offer)

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
	text, _ := json.MarshalIndent(w, "", "  ")
	fmt.Println(string(text))
	// Output:
}
