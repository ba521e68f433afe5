package flow_test

import (
	"encoding/json"
	"fmt"
	"strings"
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

func ExampleChoose() {
	offer := flow.Call("solicit", Solicit, nil)
	contract := flow.Call("contract", Open, flow.Object[Purchase](flow.With("offer", offer)))
	own := flow.Call("own", Open, flow.Value(Purchase{Offer: Offer{By: "the warehouse"}}))
	signed := flow.Choose(flow.Completed(offer), contract, own)
	w := flow.MustDefine("buy", offer, signed, flow.Output(signed))

	text, _ := json.Marshal(w.Output)
	fmt.Println(string(text))
	// Output:
	// "{{ steps.contract.output ?? steps.own.output ?? null }}"
}

func ExampleCoalesce() {
	offer := flow.Call("solicit", Solicit, nil)
	w := flow.MustDefine("buy",
		offer,
		flow.If(flow.Completed(offer), flow.Else(flow.Call("", Notify, flow.Value("no offer")))), // catches its failure
		flow.Output(flow.Coalesce(flow.Select[int](offer, "/price"), flow.Value(0))),
	)
	fmt.Println(w.Output)
	// Output:
	// {{ steps.solicit.output.price ?? 0 }}
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

// isCheap is made once, so that it is the same function in every use.
var isCheap = flow.NewFunc("is cheap", func(o Offer) bool { return o.Price < 10 })

func ExampleNewFunc() {
	first, second := flow.Call("first", Solicit, nil), flow.Call("second", Solicit, nil)
	w := flow.MustDefine("buy",
		first,
		flow.If(isCheap.Of(first), flow.Else(
			second,
			flow.If(isCheap.Of(second), flow.Then(flow.Call("", Notify, flow.Value("bought")))),
		)),
	)
	fmt.Println(len(w.Functions()), w.Functions()[0].Name)
	// Output:
	// 1 is cheap
}

func ExampleStruct() {
	var p Purchase
	order, offer := flow.Input[Order](), flow.Call("solicit", Solicit, nil)
	fits := flow.NewFunc("fits", func(p Purchase) bool { return p.Offer.Price <= p.Limit })
	w := flow.MustDefine("buy",
		offer,
		flow.If(fits.Of(flow.Struct(&p, flow.Set(&p.Offer, offer), flow.Set(&p.Limit, flow.Select[int](order, "/limit")))),
			flow.Then(flow.Call("", Notify, flow.Value("bought")))),
	)
	text, _ := json.Marshal(w.Steps[1].(*template.Conditional).Func.Args)
	fmt.Println(string(text))
	// Output:
	// [{"limit":"{{ input.limit }}","offer":"{{ steps.solicit.output }}"}]
}

func ExampleNodes() {
	var shops flow.Nodes
	for _, shop := range []string{"hill", "river"} {
		shops = append(shops, flow.Call(shop, Notify, flow.Value("an order")))
	}
	aside := flow.MustDefine("ask", flow.Parallel(flow.MaxConcurrency(1), shops))
	inTurn := flow.MustDefine("ask", shops)
	fmt.Println(len(aside.Steps[0].(*template.Parallel).Steps), len(inTurn.Steps))
	// Output:
	// 2 2
}

func ExampleNew() {
	order := flow.Input[Order]()
	lines := flow.Call("split", Split, flow.Select[[]Line](order, "/lines"))
	split, err := flow.New("split", order, flow.Output(lines), lines) // a Workflow[Order, []Line]
	fmt.Println(split.Tree().Name, err)

	_, err = flow.New("split", order, flow.Output(lines), lines, flow.Call("screen", Screen, flow.Input[Line]()))
	fmt.Println(strings.SplitN(err.Error(), ": ", 2)[1])
	// Output:
	// split <nil>
	// the input of workflow "split" is a flow_test.Order, not a flow_test.Line
}

func ExampleTyped() {
	tree, err := template.Parse("screen.yaml", []byte(`
kind: Workflow
name: screen
steps: [{operation: line.screen, input: "{{ input }}"}]
output: '{{ steps["line.screen"].output }}'
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	screen := flow.Typed[Line, Report](tree)
	w, err := flow.Define("twice", flow.Sub("first", screen, flow.Value(Line("a"))), flow.Sub("second", screen, flow.Value(Line("b"))))
	fmt.Println(len(w.Steps), err)
	// Output:
	// 2 <nil>
}

func ExampleSub() {
	line := flow.Input[Line]()
	report := flow.Call("screen", Screen, line)
	check := flow.MustNew("check", line, flow.Output(report), report)

	order := flow.Input[Order]()
	reports := flow.Each("reports", flow.Select[[]Line](order, "/lines"), func(line flow.Ref[Line]) flow.Ref[Report] {
		return flow.Sub("", check, line)
	})
	w := flow.MustNew("check-all", order, flow.Output(reports), reports).Tree()
	text, _ := json.Marshal(w.Document().(map[string]any)["operations"])
	fmt.Println(string(text))
	// Output:
	// {"check":{"workflow":{"name":"check"}}}
}
