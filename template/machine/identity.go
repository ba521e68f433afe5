package machine

import (
	"bytes"
	"fmt"

	"github.com/sluiceflow/sluice/template/machine/tagged"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// Request identifies an effect that was asked for: the cell, the effect with its params, and the event of the activation.
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

	Executor, ExecutorHash, Entrypoint string // of the code that carries it out; "": unknown
}

// KeyBytes returns the bytes that identify the cell of a key within its machine: empty if the machine has no key.
func KeyBytes(m *Machine, key value.Value) ([]byte, error) {
	if m.Key == nil {
		return nil, nil
	}
	return schema.Tagged(key)
}

// Identities returns the idempotency key and the intent of a request. Two requests have equal ones only if a journal is read
// again.
func (q *Request) Identities() (idempotency [32]byte, intent string, err error) {
	m := tagged.NewMap()
	m.Text("effect", q.Effect)
	m.Text("effect_hash", q.EffectHash)
	m.Uint("effect_index", uint64(q.Index))
	m.Uint("emitted_at_seq", q.Seq)
	m.Text("origin_workflow", q.Machine)
	m.Bytes("origin_instance_key", q.Key)
	m.Text("origin_workflow_hash", q.MachineHash)
	m.Bytes("requested_idempotency_key", []byte(q.Requested))
	idempotency = m.Hash()
	params, err := schema.Tagged(q.Params)
	if err != nil {
		return idempotency, "", fmt.Errorf("params of effect %q: %w", q.Effect, err)
	}
	m = tagged.NewMap()
	m.Text("effect", q.Effect)
	m.Bytes("params", params)
	m.Text("effect_hash", q.EffectHash)
	known := func(name, text string) {
		if text != "" {
			m.Text(name, text)
		}
	}
	known("executor_module", q.Executor)
	m.Bytes("idempotency_key", idempotency[:])
	known("executor_entrypoint", q.Entrypoint)
	known("executor_module_hash", q.ExecutorHash)
	return idempotency, m.HashText(), nil
}

// KeyOf returns the key that KeyBytes has encoded, for a machine with a key.
func KeyOf(data []byte) (value.Value, error) {
	rest, ok := bytes.CutPrefix(data, tagged.Tag)
	if !ok {
		return nil, fmt.Errorf("a key without the tag of CBOR")
	}
	return value.Decode(rest)
}
