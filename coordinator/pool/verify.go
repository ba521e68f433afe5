package pool

import (
	"slices"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// signed is an effect whose answers a verifier judges.
type signed struct {
	world  *machine.World
	effect *machine.Effect
}

// signed returns the effect that a call carries out, if its answer is to be verified; otherwise nil.
func (h *Host) signed(req reactive.Request) *signed {
	if h.run.pool.verifier == nil || req.Decision != 0 {
		return nil
	}
	world, ok := machine.Of(h.entry.Plan.Workflow)
	if !ok {
		return nil
	}
	step := h.root.Place(req.Node).Step
	i := slices.IndexFunc(world.Effects, func(e *machine.Effect) bool { return e.Call.ID == step.ID })
	return &signed{world, world.Effects[i]}
}

// judged returns the result of a call, or its failure if the verifier refuses the answer. It is called on the goroutine that has
// made the call, behind its guard. The answer is judged in its journaled form, with marks in place of secrets.
func (c *Call) judged(result call.Result) call.Result {
	if c.rare == nil || c.rare.signed == nil || result.Failure != nil {
		return result
	}
	s := c.rare.signed
	payload, err := value.Of(result.Output)
	if err == nil && c.Participant == "" {
		payload = s.payload(payload)
	}
	a := &operation.Answer{World: s.world.Name, Manifest: s.world.Manifest(), Effect: s.effect.Name}
	if err == nil {
		a.Payload, err = value.Encode(payload)
	}
	if err != nil {
		return operation.ResultOf(nil, err)
	}
	if a.Signature, err = value.Own(result.About[operation.AboutSignature]); err == nil {
		err = c.run.pool.verifier.Verify(&c.Call, a)
	}
	if err != nil {
		return c.run.redacted(call.Result{Failure: operation.Verdict(c.run.redactedError(err))})
	}
	return result
}

// payload returns the payload of a receipt, or the value that the kernel of the world hashes in its place if the output does not fit.
func (s *signed) payload(output value.Value) value.Value {
	meter := &expr.Meter{}
	meter.Bound(reactive.EvaluationMax)
	payload, _ := s.effect.Receive(output, meter)
	return payload
}
