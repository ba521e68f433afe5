// Package receipt has the forms in which machines receive the results of effects and timers: receipts, rejections and frames.
package receipt

import (
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// The statuses of receipts.
const (
	OK      = "ok"
	Error   = "error"
	Timeout = "timeout"
)

// Receipt is the end of an intent.
type Receipt struct {
	Effect    string           // name
	Issuer    string           // issuer in the emission; of a timer, its name; "": none
	Intent    string           // identity of the emission
	Emitted   uint64           // sequence of the activation that emitted
	Status    string           // OK, Error or Timeout
	Payload   value.Value      // if Status is OK
	Failure   *journal.Failure // for any other Status
	Signature value.Value      // of the answer; nil: none
}

// Value returns the receipt for rules.
func (r *Receipt) Value() value.Value {
	v := r.common()
	v["payload"], v["error"] = r.Payload, nil
	if f := r.Failure; f != nil {
		v["error"] = map[string]any{"code": f.Code, "message": f.Message, "details": f.Details}
	}
	return v
}

// Rejection returns the rejection of a receipt that does not fit, for rules.
func (r *Receipt) Rejection(f *journal.Failure) value.Value {
	v := r.common()
	v["error_code"], v["error_message"] = f.Code, f.Message
	hash, encoded, _ := journal.HashOf(r.Payload) // a value of the model, since it was journaled
	v["payload_hash"], v["payload_size"] = fmt.Sprintf("sha256:%x", hash[:]), int64(len(encoded))
	return v
}

// Frame returns a report of a call in progress, for rules.
func (r *Receipt) Frame(number int32, kind string, payload value.Value) value.Value {
	v := r.common()
	delete(v, "status")
	v["number"], v["kind"], v["payload"] = int64(number), kind, payload
	return v
}

func (r *Receipt) common() map[string]any {
	v := map[string]any{"effect": r.Effect, "issuer": nil, "status": r.Status, "intent": r.Intent, "emitted_at_seq": int64(r.Emitted)}
	if r.Issuer != "" {
		v["issuer"] = r.Issuer
	}
	if r.Signature != nil {
		v["signature"] = r.Signature
	}
	return v
}

// Fired returns the payload of the receipt of a timer that was due at an instant, in nanoseconds since 1970.
func Fired(name string, due int64) value.Value {
	return map[string]any{"name": name, "due": time.Unix(0, due).UTC().Format(time.RFC3339Nano)}
}
