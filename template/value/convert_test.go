package value_test

import (
	"encoding/json"
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/value"
)

type line struct {
	ID    string         `json:"id"`
	Price float64        `json:"price"`
	Rest  any            `json:"rest"`
	More  map[string]any `json:"more"`
	Next  *line          `json:"next"`
	At    time.Time      `json:"at"`
	Data  []byte         `json:"data"`
	Body  value.Raw      `json:"body"`
	Any   []any          `json:"any"`
	Fixed [2]any         `json:"fixed"`
	Inner struct{ X any }
}

func TestConvertGivesWhatEncodingAndDecodingGives(t *testing.T) {
	const huge = int64(9007199254740993) // float64 has no such number
	raw, err := value.Encode([]any{1})
	require.NoError(t, err)
	in := line{
		ID: "a", Price: 2, Rest: map[string]any{"n": []any{huge, 2.5, 3.0}}, More: map[string]any{"n": huge}, Next: &line{ID: "b", Rest: huge, Body: value.Raw{0xf6}},
		At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Data: []byte{1, 2}, Body: raw, Any: []any{huge, nil, "x"}, Fixed: [2]any{huge, true},
	}
	in.Inner.X = huge
	want := in
	want.Rest = map[string]any{"n": []any{huge, 2.5, int64(3)}}

	var converted line
	require.NoError(t, value.Convert(in, &converted))
	require.Equal(t, want, converted)

	data, err := value.Encode(in)
	require.NoError(t, err)
	var decoded, fromRaw line
	require.NoError(t, value.DecodeInto(data, &decoded))
	require.Equal(t, want, decoded)
	require.NoError(t, value.Convert(value.Raw(data), &fromRaw))
	require.Equal(t, want, fromRaw)
}

func TestConvertToEachKind(t *testing.T) {
	object := map[string]any{"a": []any{int64(1), 2.5}}
	tests := []struct {
		name string
		in   any
		want any // a pointer to the expected result, whose type is converted to
	}{
		{"any", object, ptr[any](object)},
		{"object", object, &object},
		{"list", object["a"], ptr(object["a"].([]any))},
		{"string", "x", ptr("x")},
		{"bool", true, ptr(true)},
		{"int64", int64(5), ptr(int64(5))},
		{"int", int64(5), ptr(5)},
		{"int from a whole float", 5.0, ptr(5)},
		{"float from an integer", int64(5), ptr(5.0)},
		{"float", 2.5, ptr(2.5)},
		{"a float beyond int64", 1e19, ptr(1e19)},
		{"strings", []any{"a"}, ptr([]string{"a"})},
		{"floats by name", object, ptr(map[string][]float64{"a": {1, 2.5}})},
		{"numbers", []any{int64(1), 2.5}, ptr([]json.Number{"1", "2.5"})},
		{"by integers", map[string]any{"1": "x"}, ptr(map[int]string{1: "x"})},
		{"big integer", int64(7), ptr(*big.NewInt(7))},
		{"raw", int64(7), &value.Raw{7}},
		{"null into a pointer", nil, ptr[*int](nil)},
		{"null into a list", nil, ptr[[]any](nil)},
		{"null into an object", nil, ptr[map[string]any](nil)},
		{"null into any", nil, ptr[any](nil)},
		{"any in an object of objects", map[string]any{"a": map[string]any{"b": int64(1)}}, ptr(map[string]map[string]any{"a": {"b": int64(1)}})},
		{"pointers to any", []any{int64(1)}, ptr([]*any{ptr[any](int64(1))})},
		{"text that HTML would escape", "<&>\u2028", ptr[escaped]("<&>\u2028")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			into := reflect.New(reflect.TypeOf(tt.want).Elem()).Interface()
			require.NoError(t, value.Convert(tt.in, into))
			require.Equal(t, tt.want, into)

			data, err := value.Encode(tt.in)
			require.NoError(t, err)
			into = reflect.New(reflect.TypeOf(tt.want).Elem()).Interface()
			require.NoError(t, value.DecodeInto(data, into))
			require.Equal(t, tt.want, into)
		})
	}
}

type escaped string

func ptr[T any](v T) *T { return &v }

func TestConvertRefusesWhatDoesNotFit(t *testing.T) {
	require.ErrorContains(t, value.Convert("x", new(int)), "convert string to int")
	require.ErrorContains(t, value.Convert(2.5, new(int)), "convert number to int")
	require.ErrorContains(t, value.Convert(300, new(int8)), "convert integer to int8")
	require.ErrorContains(t, value.Convert([]any{}, new(map[string]any)), "convert list to map[string]interface {}")
	require.ErrorContains(t, value.Convert(1, nil), "into must be a non-nil pointer")
	require.ErrorContains(t, value.Convert(1, 5), "into must be a non-nil pointer")
	require.ErrorContains(t, value.Convert(1, (*int)(nil)), "into must be a non-nil pointer")
	require.Error(t, value.Convert(make(chan int), new(any)))
	require.Error(t, value.DecodeInto([]byte{0x81}, new(line)))
}

func TestConvertSharesNoMemory(t *testing.T) {
	v := map[string]any{"a": []any{map[string]any{"b": int64(1)}}}
	var asAny any
	var asObject map[string]any
	require.NoError(t, value.Convert(v, &asAny))
	require.NoError(t, value.Convert(v, &asObject))
	asAny.(map[string]any)["a"].([]any)[0].(map[string]any)["b"] = "changed"
	asObject["a"].([]any)[0] = "changed"
	require.Equal(t, map[string]any{"a": []any{map[string]any{"b": int64(1)}}}, v)
}

func TestPlain(t *testing.T) {
	type id string
	type inner struct {
		X int
		S string
	}
	tests := []struct {
		name string
		in   any
		want bool
	}{
		{"string", "", true}, {"named string", id(""), true}, {"int", 0, true}, {"float32", float32(0), true}, {"bool", true, true}, {"uint8", uint8(0), true},
		{"array", [2]inner{}, true}, {"struct", struct {
			A int `json:"a,omitempty"`
			B inner
		}{}, true},
		{"embedded struct", struct {
			inner2
			B int
		}{}, false}, // not exported
		{"exported embedded struct", struct {
			Inner3
			B int
		}{}, true},
		{"embedded struct with the same name", struct {
			Inner3
			Y int
		}{}, false},
		{"nothing", struct{}{}, true},
		{"pointer", new(int), false}, {"slice", []int{}, false}, {"map", map[string]int{}, false}, {"array of slices", [1][]int{}, false},
		{"interface inside", struct{ A any }{}, false}, {"channel", make(chan int), false}, {"function", func() {}, false}, {"complex", complex(1, 1), false},
		{"unexported field", struct{ a int }{}, false}, {"field left out", struct {
			A int `json:"-"`
		}{}, false},
		{"two fields of one name", struct {
			A int `json:"x"`
			B int `json:"X"`
		}{}, false},
		{"time", time.Time{}, false}, {"own form", time.Month(1), true}, {"marshaler", jsonForm(0), false}, {"text marshaler on the pointer", textForm{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, value.Plain(reflect.TypeOf(tt.in))) })
	}
	require.False(t, value.Plain(nil))
	require.False(t, value.Plain(reflect.TypeFor[any]()))
}

type inner2 struct{ X int }

type Inner3 struct{ Y int }

type jsonForm int

func (jsonForm) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

type textForm struct{ A int }

func (*textForm) UnmarshalText([]byte) error { return nil }
