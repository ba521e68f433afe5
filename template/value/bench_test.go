package value_test

import (
	"fmt"
	"testing"

	"github.com/sluiceflow/sluice/template/value"
)

// sample is a value with n lines of four members each.
func sample(n int) value.Value {
	lines := make([]any, n)
	for i := range lines {
		lines[i] = map[string]any{"id": fmt.Sprint("line-", i), "price": float64(i) + 0.5, "count": int64(i), "ok": true}
	}
	return map[string]any{"lines": lines}
}

func BenchmarkOf(b *testing.B) {
	benchmark(b, func(v any, _ []byte) (any, error) { return value.Of(v) })
}
func BenchmarkEncode(b *testing.B) {
	benchmark(b, func(v any, _ []byte) (any, error) { return value.Encode(v) })
}
func BenchmarkDecode(b *testing.B) {
	benchmark(b, func(_ any, data []byte) (any, error) { return value.Decode(data) })
}
func BenchmarkJSON(b *testing.B) {
	benchmark(b, func(v any, _ []byte) (any, error) { return value.JSON(v) })
}

func BenchmarkConvert(b *testing.B) {
	type line struct {
		ID    string  `json:"id"`
		Price float64 `json:"price"`
		Count int     `json:"count"`
		OK    bool    `json:"ok"`
	}
	benchmark(b, func(v any, _ []byte) (any, error) {
		var into struct {
			Lines []line `json:"lines"`
		}
		return into, value.Convert(v, &into)
	})
}

func benchmark(b *testing.B, run func(v any, data []byte) (any, error)) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprintf("lines=%d", n), func(b *testing.B) {
			v := sample(n)
			data, err := value.Encode(v)
			if err != nil {
				b.Fatal(err)
			}
			if decoded, err := value.Decode(data); err != nil || !value.Equal(v, decoded) {
				b.Fatal("the sample does not survive", err)
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := run(v, data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
