package main

import (
	"time"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
)

// Order is the input of a run.
type Order struct {
	Item     string `json:"item"`
	Quantity int    `json:"quantity"`
}

// Quote is the answer of a provider: the price of one item, in cents.
type Quote struct {
	Provider string `json:"provider"`
	Price    int    `json:"price"`
}

// Draft is the input of a contract.
type Draft struct {
	Quote    Quote `json:"quote"`
	Quantity int   `json:"quantity"`
}

// Contract is the supplier and the price: the output of a run.
type Contract struct {
	Provider string `json:"provider"`
	Total    int    `json:"total"` // in cents
}

// answer is the result of an HTTP request of a step.
type answer[T any] struct {
	Status int `json:"status"`
	Body   T   `json:"body"`
}

// The operations are bound in the workflow, see bindings: none of them is a Go function.
var (
	requestQuote = template.NewOp[Order, answer[Quote]]("quote.request", nil)
	draft        = template.NewOp[Draft, Contract]("contract.draft", nil)
	lend         = template.NewOp[Order, Contract]("stock.lend", nil)
	notify       = template.NewOp[string, answer[any]]("notify", nil)
)

// procurement returns the workflow of procure.yaml. The comments there explain the steps. The contract waits at most patience for a
// decision.
func procurement(patience time.Duration) flow.Workflow[Order, Contract] {
	order := flow.Input[Order]()
	quote := flow.Call("solicit", requestQuote, order,
		flow.Target(template.Target{Resolve: template.ResolveCapability, CapabilityID: "quotes"}),
		flow.FanIn(template.FanIn{Policy: template.BestOf, ScoreField: "/body/price", ScoreOrder: "asc"}),
		flow.Timeout(2*time.Second),
		flow.Retry(template.Retry{MaxAttempts: 2, Backoff: time.Second}),
	)
	var d Draft
	contract := flow.Call("contract", draft,
		flow.Struct(&d,
			flow.Set(&d.Quote, flow.Select[Quote](quote, "/body")),
			flow.Set(&d.Quantity, flow.Select[int](order, "/quantity")),
		),
		flow.Fulfillment(template.Fulfillment{
			Policy: template.ExternalDecision,
			Source: &template.DecisionSource{Kind: template.DecidedByOperator, Timing: &template.Timing{Timeout: patience}},
		}),
	)
	loan := flow.Call("loan", lend, order)
	parts := []flow.Part{
		flow.Schema(schema),
		flow.Deadline(15 * time.Minute),
		flow.Directory(contacts),
		quote,
		contract,
		flow.If(flow.Expr[bool]("{{ steps.solicit.status == 'completed' and steps.contract.status == 'completed' }}"),
			flow.Then(tell("bought", "{{ input.quantity }} × {{ input.item }} from {{ steps.contract.output.provider }}")),
			flow.Else(
				loan,
				tell("lent", "{{ input.quantity }} × {{ input.item }} on loan from {{ steps.loan.output.provider }}"),
			),
		),
	}
	for operation, binding := range bindings {
		parts = append(parts, flow.Bind(operation, binding))
	}
	return flow.MustNew("procure", order, flow.Output(flow.Coalesce(loan, contract)), parts...)
}

// tell returns a step that sends the kitchen a message.
func tell(id, text string) flow.Node {
	return flow.Call(id, notify, flow.Expr[string](text),
		flow.Target(template.Target{Resolve: template.ResolveStatic, Participants: []string{"kitchen"}}),
		flow.Timeout(5*time.Second),
		flow.Retry(template.Retry{MaxAttempts: 3, Backoff: time.Second}),
	)
}

// bindings holds the bindings of the operations.
var bindings = map[string]template.Binding{
	"quote.request": {HTTP: &template.HTTP{
		Method: "POST", URL: "{{ participant.endpoint }}/quotes", Body: "{{ input }}",
	}},
	"contract.draft": {Value: &template.Constant{Value: map[string]any{
		"provider": "{{ input.quote.provider }}", "total": "{{ input.quote.price * input.quantity }}",
	}}},
	"stock.lend": {Value: &template.Constant{Value: map[string]any{"provider": "the warehouse", "total": int64(0)}}},
	"notify": {HTTP: &template.HTTP{
		Method: "POST", URL: "{{ participant.endpoint }}/notes", Body: "{{ input }}",
	}},
}

// schema is the schema of the input.
var schema = map[string]any{
	"type":                 "object",
	"required":             []any{"item", "quantity"},
	"additionalProperties": false,
	"properties": map[string]any{
		"item":     map[string]any{"type": "string", "minLength": int64(1)},
		"quantity": map[string]any{"type": "integer", "minimum": int64(1)},
	},
}

// contacts holds the participants. market.directory adds their addresses.
var contacts = template.Directory{
	Participants: map[string]any{
		"hill": map[string]any{}, "river": map[string]any{}, "harbor": map[string]any{}, "kitchen": map[string]any{},
	},
	Capabilities: map[string][]template.Passport{
		"quotes": {{Participant: "hill"}, {Participant: "river"}, {Participant: "harbor"}},
	},
}
