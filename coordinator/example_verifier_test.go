package coordinator_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/value"
)

const appraisals = `
kind: World
name: appraisals
types:
  Offered: {record: {id: text}}
effects:
  appraise: {params: text, receipt: {record: {cents: nat}}}
machines:
  painting:
    key: text
    state: {record: {said: text}}
    event: [Offered]
    emits: [appraise]
    lifecycle: entity
    rules:
      - {event: Offered, set: {said: ""}, emit: [{effect: appraise, params: "{{ key }}"}]}
      - {event: appraise, when: '{{ event.status == "ok" }}', set: {said: "{{ event.payload.cents }} cents"}}
      - {event: appraise, set: {said: "{{ event.error.code }}: {{ event.error.message }}"}}
routing: {subscriptions: [{event: Offered, machine: painting, key_field: id}]}
`

// appraisers are the keys of known appraisers.
type appraisers []ed25519.PublicKey

// Verify requires that the key of the call is signed with the payload: a signature is valid for one call.
func (known appraisers) Verify(c *operation.Call, a *operation.Answer) error {
	text, _ := a.Signature.(string)
	signature, err := base64.StdEncoding.DecodeString(text)
	if err != nil || text == "" {
		return operation.Permanent(errors.New("the answer is not signed"))
	}
	for _, key := range known {
		if ed25519.Verify(key, append([]byte(c.Key()), a.Payload...), signature) {
			return nil
		}
	}
	return operation.Permanent(errors.New("no appraiser has signed it"))
}

// An appraiser signs the worth of a painting. An answer that no known appraiser has signed is refused.
func ExampleConfig_verifier() {
	seed := sha256.Sum256([]byte("a secret of the appraiser"))
	private := ed25519.NewKeyFromSeed(seed[:])
	appraise := operation.Define("appraise", func(ctx context.Context, painting string) (operation.Reply, error) {
		worth := map[string]any{"cents": 125000}
		payload, err := value.Encode(worth)
		if err != nil {
			return operation.Reply{}, err
		}
		signature := ed25519.Sign(private, append([]byte(operation.CallOf(ctx).Key()), payload...))
		if painting == "forgery" {
			worth["cents"] = 999999999
		}
		return operation.Reply{Output: worth, About: map[string]any{operation.AboutSignature: signature}}, nil
	})

	ctx := context.Background()
	engine, err := coordinator.New(ctx, memory.New(), coordinator.Config{
		Operations: []coordinator.Operation{appraise},
		Verifier:   appraisers{private.Public().(ed25519.PublicKey)},
	})
	if err != nil {
		panic(err)
	}
	defer engine.Shutdown(ctx)
	checked, err := kinds.Load("appraisals.yaml", []byte(appraisals), template.Known{Lenient: true})
	if err != nil {
		panic(err)
	}
	run, err := engine.Start(ctx, checked.Workflow, nil)
	if err != nil {
		panic(err)
	}
	for _, painting := range []string{"landscape", "forgery"} {
		if _, err := run.SendMessage(ctx, cells.Message{Name: "Offered", Payload: map[string]any{"id": painting}}); err != nil {
			panic(err)
		}
		cell, err := run.Await(ctx, "painting["+painting+"]", func(c *cells.State) bool { return c.Status == world.Completed })
		fmt.Println(cell.Address, cell.State, err)
	}
	// Output:
	// painting[landscape] map[said:125000 cents] <nil>
	// painting[forgery] map[said:bad_signature: no appraiser has signed it] <nil>
}
