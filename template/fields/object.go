package fields

import (
	"time"

	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/value"
)

// Object is a mapping under construction. Each of its methods sets a key, unless the value is the zero value, which a Reader
// returns for an absent key.
type Object map[string]any

// Text sets a string.
func (m Object) Text(key, text string) {
	if text != "" {
		m[key] = text
	}
}

// Texts sets a list of strings.
func (m Object) Texts(key string, list []string) {
	if len(list) == 0 {
		return
	}
	values := make([]any, len(list))
	for i, text := range list {
		values[i] = text
	}
	m[key] = values
}

// TextMap sets a mapping of strings.
func (m Object) TextMap(key string, texts map[string]string) {
	if len(texts) == 0 {
		return
	}
	values := make(map[string]any, len(texts))
	for k, text := range texts {
		values[k] = text
	}
	m[key] = values
}

// Count sets an integer.
func (m Object) Count(key string, n int) {
	if n != 0 {
		m[key] = int64(n)
	}
}

// Duration sets a duration in its canonical spelling.
func (m Object) Duration(key string, d time.Duration) {
	if d != 0 {
		m[key] = duration.Format(d)
	}
}

// Instant sets a time, in UTC.
func (m Object) Instant(key string, t time.Time) {
	if !t.IsZero() {
		m[key] = t.UTC().Format(time.RFC3339Nano)
	}
}

// Any sets any value.
func (m Object) Any(key string, v value.Value) {
	if v != nil {
		m[key] = v
	}
}

// List sets a list of any values.
func (m Object) List(key string, list []value.Value) {
	if len(list) > 0 {
		m[key] = list
	}
}

// Mapping sets a mapping of any values.
func (m Object) Mapping(key string, values map[string]value.Value) {
	if len(values) > 0 {
		m[key] = values
	}
}
