package machine

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

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
	idempotency = sha256.Sum256(taggedMap(
		member{"origin_workflow", cborText(q.Machine)},
		member{"origin_workflow_hash", cborText(q.MachineHash)},
		member{"origin_instance_key", cborBytes(q.Key)},
		member{"effect", cborText(q.Effect)},
		member{"effect_hash", cborText(q.EffectHash)},
		member{"requested_idempotency_key", cborBytes([]byte(q.Requested))},
		member{"effect_index", cborHead(0, uint64(q.Index))},
		member{"emitted_at_seq", cborHead(0, q.Seq)},
	))
	params, err := schema.Tagged(q.Params)
	if err != nil {
		return idempotency, "", fmt.Errorf("params of effect %q: %w", q.Effect, err)
	}
	parts := []member{
		{"effect", cborText(q.Effect)},
		{"effect_hash", cborText(q.EffectHash)},
		{"params", cborBytes(params)},
		{"idempotency_key", cborBytes(idempotency[:])},
	}
	for _, known := range []struct{ name, text string }{
		{"executor_module", q.Executor}, {"executor_module_hash", q.ExecutorHash}, {"executor_entrypoint", q.Entrypoint},
	} {
		if known.text != "" {
			parts = append(parts, member{known.name, cborText(known.text)})
		}
	}
	return idempotency, fmt.Sprintf("sha256:%x", sha256.Sum256(taggedMap(parts...))), nil
}

// tag precedes the encoding of what is named by its hash: the value is CBOR.
var tag = []byte{0xd9, 0xd9, 0xf7}

// The functions below write canonical CBOR with byte strings, which the values of package value do not have.

// member is a key of a map and its encoded value.
type member struct {
	name    string
	encoded []byte
}

// taggedMap returns the tagged encoding of a map, whose keys are sorted by their encodings.
func taggedMap(members ...member) []byte {
	slices.SortFunc(members, func(a, b member) int { return bytes.Compare(cborText(a.name), cborText(b.name)) })
	out := append(slices.Clone(tag), cborHead(5, uint64(len(members)))...)
	for _, m := range members {
		out = append(append(out, cborText(m.name)...), m.encoded...)
	}
	return out
}

func cborText(text string) []byte { return append(cborHead(3, uint64(len(text))), text...) }

func cborBytes(data []byte) []byte { return append(cborHead(2, uint64(len(data))), data...) }

// cborHead returns the head of an item in the shortest form: its major type, and its number or length.
func cborHead(major byte, n uint64) []byte {
	major <<= 5
	switch {
	case n < 24:
		return []byte{major | byte(n)}
	case n < 1<<8:
		return []byte{major | 24, byte(n)}
	case n < 1<<16:
		return binary.BigEndian.AppendUint16([]byte{major | 25}, uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32([]byte{major | 26}, uint32(n))
	}
	return binary.BigEndian.AppendUint64([]byte{major | 27}, n)
}

// KeyOf returns the key of the bytes that KeyBytes has returned for a machine with a key.
func KeyOf(data []byte) (value.Value, error) {
	rest, ok := bytes.CutPrefix(data, tag)
	if !ok {
		return nil, fmt.Errorf("a key without the tag of CBOR")
	}
	return value.Decode(rest)
}
