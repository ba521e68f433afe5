package schema_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

func benchmarkNormalize(b *testing.B, t *schema.Type, v value.Value) {
	_, err := t.Normalize(v)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = t.Normalize(v)
	}
}

func BenchmarkNormalize(b *testing.B) {
	ts := types(b, `
Order: {record: {status: text, item: text, cents: nat, txn: option<text>, tags: set<text>}}
Line: {record: {id: uuid, at: time, price: dec128, for: duration}}
Event: {variant: {Placed: Order, Paid: Line}}
`)
	order := parsed(b, `{"status": "paying", "item": "book", "cents": 1200, "txn": null, "tags": ["a", "b"]}`)
	benchmarks := []struct {
		name, typ string
		v         value.Value
	}{
		{"record in normal form", "Order", order},
		{"record with an option left out", "Order", parsed(b, `{"status": "paying", "item": "book", "cents": 1200, "tags": ["a", "b"]}`)},
		{"record with an unsorted set", "Order", parsed(b, `{"status": "paying", "item": "book", "cents": 1200, "txn": null, "tags": ["b", "a", "b"]}`)},
		{"variant", "Event", map[string]any{"Placed": order}},
		{"scalars of texts", "Line", parsed(b, `{"id": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "at": "2027-01-31T12:00:00Z", "price": "12.5", "for": "PT30S"}`)},
	}
	for _, c := range benchmarks {
		b.Run(c.name, func(b *testing.B) { benchmarkNormalize(b, typ(b, ts, c.typ), c.v) })
	}
	for _, n := range []int{100, 10_000} {
		var texts, records []any
		for i := range n {
			texts = append(texts, fmt.Sprint(i*7919%n))
			records = append(records, map[string]any{"status": fmt.Sprint(i * 7919 % n), "item": "i", "cents": int64(i), "tags": []any{}})
		}
		b.Run(fmt.Sprintf("set of texts n=%d", n), func(b *testing.B) { benchmarkNormalize(b, typ(b, ts, "set<text>"), texts) })
		b.Run(fmt.Sprintf("set of records n=%d", n), func(b *testing.B) { benchmarkNormalize(b, typ(b, ts, "set<Order>"), records) })
	}
}
