package value_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/value"
)

// drawType draws a struct, an array or a plain type, most often a plain one.
func drawType(t *rapid.T, depth int) reflect.Type {
	kinds := []reflect.Type{
		reflect.TypeFor[bool](), reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int64](),
		reflect.TypeFor[uint8](), reflect.TypeFor[uint64](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[*int](),
	}
	switch n := rapid.IntRange(0, len(kinds)+3).Draw(t, "kind"); {
	case n < len(kinds):
		return kinds[n]
	case n == len(kinds) || depth == 0:
		return reflect.ArrayOf(rapid.IntRange(0, 3).Draw(t, "length"), kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "of")])
	}
	return drawStruct(t, depth-1)
}

func drawStruct(t *rapid.T, depth int) reflect.Type {
	tags := []string{"", "", `json:"name"`, `json:"Name"`, `json:"a_%d"`, `json:"a-%d"`, `json:""`, `json:",omitempty"`, `json:"b%d,omitempty"`,
		`json:",string"`, `json:"-"`, `json:"é"`, `json:"a\"b"`, `yaml:"y"`}
	fields := make([]reflect.StructField, rapid.IntRange(0, 4).Draw(t, "fields"))
	for i := range fields {
		tag := rapid.SampledFrom(tags).Draw(t, "tag")
		if strings.Contains(tag, "%d") {
			tag = fmt.Sprintf(tag, i)
		}
		fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: drawType(t, depth), Tag: reflect.StructTag(tag)}
		fields[i].Anonymous = fields[i].Type.Kind() == reflect.Struct && rapid.Bool().Draw(t, "embedded")
	}
	return reflect.StructOf(fields)
}

// fill writes something into every field.
func fill(t *rapid.T, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case v.Kind() == reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case v.Kind() == reflect.String:
		v.SetString(rapid.SampledFrom([]string{"", "a", "<&>", "\u2028", "\xff", "é\xc3", "1"}).Draw(t, "string"))
	case v.CanInt():
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case v.CanUint():
		v.SetUint(rapid.Uint64().Draw(t, "uint"))
	case v.CanFloat():
		v.SetFloat(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 3, 1e15, 1e18, 1e19, -1e19, 1e21, 1 << 63,
			-1 << 63, 0.1, math.NaN(), math.Inf(1)})).Draw(t, "float"))
	}
}

func TestPlainStructsAreWhatEncodingJSONMakesOfThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := reflect.New(drawStruct(t, 2)).Elem()
		fill(t, v)
		var want value.Value
		text, err := json.Marshal(v.Interface())
		if err == nil {
			want, err = value.Of(json.RawMessage(text))
		}
		got, refused := value.Of(v.Interface())
		require.Equal(t, err == nil, refused == nil, "%v and %v", err, refused)
		if err == nil {
			require.Equal(t, want, got, "%s", text)
		}
	})
}

func TestAPlainStructCostsItsObject(t *testing.T) {
	type reading struct {
		OK bool `json:"ok"`
	}
	v := any(reading{true})
	_, err := value.Of(v)
	require.NoError(t, err)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = value.Of(v) }), 3.0)
}
