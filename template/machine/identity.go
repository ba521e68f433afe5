package machine

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/sluiceflow/sluice/template/machine/tagged"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// Request is all that identifies an effect that was asked for: who asked, for what, and when.
type Request struct {
	Machine     string      // name of the machine that emitted
	MachineHash string      // sha256:…
	Key         []byte      // key bytes of the cell; empty: it has no key
	Effect      string      // name
	EffectHash  string      // sha256:…
	Requested   string      // idempotency key that the machine asked for; "": none
	Index       int         // in the emissions of the step
	Seq         uint64      // of the activation's event
	Params      value.Value // in normal form

	Executor, ExecutorHash, Entrypoint string // what carries it out, as far as that is known; "": unknown
}

// KeyBytes returns the bytes that identify the cell of a key within its machine: empty if the machine has no key.
func KeyBytes(m *Machine, key value.Value) ([]byte, error) {
	if m.Key == nil {
		return nil, nil
	}
	return schema.Tagged(key)
}

// Identities returns the idempotency key and the intent of a request. Two requests have the same only if a journal is read
// again.
func (q *Request) Identities() (idempotency [32]byte, intent string, err error) {
	idempotency = sha256.Sum256(tagged.Map(
		tagged.Member{Name: "origin_workflow", Encoded: tagged.Text(q.Machine)},
		tagged.Member{Name: "origin_workflow_hash", Encoded: tagged.Text(q.MachineHash)},
		tagged.Member{Name: "origin_instance_key", Encoded: tagged.Bytes(q.Key)},
		tagged.Member{Name: "effect", Encoded: tagged.Text(q.Effect)},
		tagged.Member{Name: "effect_hash", Encoded: tagged.Text(q.EffectHash)},
		tagged.Member{Name: "requested_idempotency_key", Encoded: tagged.Bytes([]byte(q.Requested))},
		tagged.Member{Name: "effect_index", Encoded: tagged.Head(0, uint64(q.Index))},
		tagged.Member{Name: "emitted_at_seq", Encoded: tagged.Head(0, q.Seq)},
	))
	params, err := schema.Tagged(q.Params)
	if err != nil {
		return idempotency, "", fmt.Errorf("params of effect %q: %w", q.Effect, err)
	}
	parts := []tagged.Member{
		{Name: "effect", Encoded: tagged.Text(q.Effect)},
		{Name: "effect_hash", Encoded: tagged.Text(q.EffectHash)},
		{Name: "params", Encoded: tagged.Bytes(params)},
		{Name: "idempotency_key", Encoded: tagged.Bytes(idempotency[:])},
	}
	for _, known := range []struct{ name, text string }{
		{"executor_module", q.Executor}, {"executor_module_hash", q.ExecutorHash}, {"executor_entrypoint", q.Entrypoint},
	} {
		if known.text != "" {
			parts = append(parts, tagged.Member{Name: known.name, Encoded: tagged.Text(known.text)})
		}
	}
	return idempotency, fmt.Sprintf("sha256:%x", sha256.Sum256(tagged.Map(parts...))), nil
}

// KeyOf returns the key of the bytes that KeyBytes has returned for a machine with a key.
func KeyOf(data []byte) (value.Value, error) {
	rest, ok := bytes.CutPrefix(data, tagged.Tag)
	if !ok {
		return nil, fmt.Errorf("a key without the tag of CBOR")
	}
	return value.Decode(rest)
}
