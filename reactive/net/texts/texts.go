// Package texts writes values as texts in the digest of a net.
package texts

import (
	"crypto/sha256"
	"fmt"
	"reflect"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// Texts writes values as texts. Parallel iterations share the values that they have not written: a large value is written as
// its hash, which is computed once for all places that share it.
type Texts struct {
	meter  *expr.Meter
	buffer []byte // of the last text, for reuse
	hashes map[shared]hashed
}

// New returns Texts that count their work with a meter, one step for every byte.
func New(meter *expr.Meter) *Texts { return &Texts{meter: meter, hashes: map[shared]hashed{}} }

// shortText is the length beyond which a text is written as its hash.
const shortText = 256

// shared identifies a list or an object by its address in memory.
type shared struct {
	at     uintptr
	length int
}

// hashed is the hash of a value. It references the value, so that its address is not reused.
type hashed struct {
	v    any
	text string
}

// Of returns canonical JSON, or its hash if that is long: equal for equal values.
func (t *Texts) Of(v any) string {
	var at shared
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Map, reflect.Slice:
		at = shared{r.Pointer(), r.Len()}
		if h, ok := t.hashes[at]; ok {
			return h.text
		}
	}
	data, err := value.AppendJSON(t.buffer[:0], v)
	if err != nil {
		return err.Error()
	}
	t.buffer = data
	t.meter.Add(len(data))
	if len(data) <= shortText {
		return string(data)
	}
	text := fmt.Sprintf("#%x", sha256.Sum256(data))
	if at.length > 0 {
		t.hashes[at] = hashed{v, text}
	}
	return text
}
