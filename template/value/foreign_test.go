package value_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/template/value"
)

// Values of a program have methods, which are called to encode and decode them.
type (
	badJSON    struct{ X int }
	badText    struct{ X int }
	badKey     int
	badError   struct{ X int }
	badReading struct{ X int }
	badParsing struct{ X int }
)

func (badJSON) MarshalJSON() ([]byte, error)        { panic("no JSON") }
func (badText) MarshalText() ([]byte, error)        { panic("no text") }
func (badKey) MarshalText() ([]byte, error)         { panic("no key") }
func (badError) MarshalJSON() ([]byte, error)       { return nil, mute{} }
func (*badReading) UnmarshalJSON(data []byte) error { panic("no reading") }
func (*badParsing) UnmarshalText(data []byte) error { panic("no parsing") }

// mute is an error whose methods panic.
type mute struct{}

func (mute) Error() string { panic("no words") }

var (
	_ json.Marshaler   = badJSON{}
	_ json.Unmarshaler = (*badReading)(nil)
)

func TestMethodsThatPanicAreErrors(t *testing.T) {
	for _, v := range []any{badJSON{}, &badJSON{}, badText{}, map[badKey]int{1: 1}, []any{1, badJSON{}}, map[string]any{"a": badText{}}} {
		for name, into := range map[string]func() error{
			"Of":      func() error { _, err := value.Of(v); return err },
			"Encode":  func() error { _, err := value.Encode(v); return err },
			"Hash":    func() error { _, err := value.Hash(v); return err },
			"Convert": func() error { var x any; return value.Convert(v, &x) },
			"JSON":    func() error { _, err := value.JSON(v); return err },
		} {
			err := into()
			var p *usercode.Panic
			require.ErrorAs(t, err, &p, "%s of %T", name, v)
			require.Contains(t, err.Error(), "cannot be represented: panic: no ")
			require.Contains(t, p.Stack, "value_test.bad", "the stack names the method")
		}
	}
	_, err := value.Of(map[string]any{"a": []any{badJSON{}}})
	require.ErrorContains(t, err, "at /a/0 (a value_test.badJSON) cannot be represented: panic: no JSON")
	_, err = value.Of(badError{})
	require.ErrorContains(t, err, "cannot be represented")

	var p *usercode.Panic
	require.ErrorAs(t, value.Convert("x", new(badReading)), &p)
	require.ErrorAs(t, value.Convert(map[string]any{"a": "x"}, &struct{ A *badParsing }{}), &p)
	data, err := value.Encode("x")
	require.NoError(t, err)
	require.ErrorAs(t, value.DecodeInto(data, new(badReading)), &p)
}

// Methods that end their goroutine, at any depth of a type.
type (
	leavingJSON    struct{}
	leavingText    struct{}
	leavingKey     struct{ k string }
	leavingZero    struct{ X int }
	leavingReading struct{}
	leavingParsing string
	inner[T any]   struct {
		Next *inner[T]
		Of   map[string][]*T
	}
)

func (leavingJSON) MarshalJSON() ([]byte, error)   { runtime.Goexit(); return nil, nil }
func (*leavingText) MarshalText() ([]byte, error)  { runtime.Goexit(); return nil, nil }
func (leavingKey) MarshalText() ([]byte, error)    { runtime.Goexit(); return nil, nil }
func (*leavingKey) UnmarshalText([]byte) error     { runtime.Goexit(); return nil }
func (leavingZero) IsZero() bool                   { runtime.Goexit(); return false }
func (*leavingReading) UnmarshalJSON([]byte) error { runtime.Goexit(); return nil }
func (*leavingParsing) UnmarshalText([]byte) error { runtime.Goexit(); return nil }

// TestMethodsThatEndTheirGoroutineAreErrors: a value whose type can have such a method is converted on another goroutine.
func TestMethodsThatEndTheirGoroutineAreErrors(t *testing.T) {
	var p *usercode.Panic
	for _, v := range []any{
		leavingJSON{}, &leavingText{}, map[leavingKey]int{{"a"}: 1}, []*leavingText{{}}, struct{ A any }{leavingJSON{}},
		struct{ A fmt.Stringer }{leavingStringer{}}, struct{ leavingJSON }{}, [2]leavingJSON{},
		struct {
			A leavingZero `json:",omitzero"`
		}{},
		inner[leavingText]{Next: &inner[leavingText]{Of: map[string][]*leavingText{"a": {{}}}}},
	} {
		_, err := value.Of(v)
		require.ErrorAs(t, err, &p, "%T", v)
	}
	object := map[string]any{"A": "x", "Next": map[string]any{"Of": map[string]any{"a": []any{"x"}}}}
	for _, into := range []any{
		&leavingReading{}, new(leavingParsing), &struct{ A leavingReading }{}, &struct{ A **leavingParsing }{}, &map[leavingKey]any{},
		&inner[leavingReading]{}, &inner[leavingParsing]{}, &struct{ leavingReading }{},
	} {
		v := value.Value(object)
		if _, ok := into.(*leavingParsing); ok {
			v = "x"
		}
		require.ErrorAs(t, value.Convert(v, into), &p, "%T", into)
	}
	// No method of the program: these run here.
	type plain struct {
		A  string
		At time.Time
		Of []*int
	}
	var back plain
	require.NoError(t, value.Convert(map[string]any{"A": "x", "At": "2026-01-02T03:04:05Z", "Of": []any{int64(1)}}, &back))
	v, err := value.Of(&back)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"A": "x", "At": "2026-01-02T03:04:05Z", "Of": []any{int64(1)}}, v)
}

type leavingStringer struct{ leavingJSON }

func (leavingStringer) String() string { return "" }

// Every value of a plain and total type can be encoded without a check.
func TestTotalTypesCanAlwaysBeEncoded(t *testing.T) {
	kinds := []reflect.Type{
		reflect.TypeFor[bool](), reflect.TypeFor[string](), reflect.TypeFor[int8](), reflect.TypeFor[int64](), reflect.TypeFor[uint8](),
		reflect.TypeFor[uint32](), reflect.TypeFor[uint64](), reflect.TypeFor[uint](), reflect.TypeFor[float32](), reflect.TypeFor[float64](),
	}
	refused := false
	rapid.Check(t, func(t *rapid.T) {
		var fields []reflect.StructField
		for i := range rapid.IntRange(1, 4).Draw(t, "fields") {
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			if rapid.Bool().Draw(t, "array") {
				kind = reflect.ArrayOf(2, kind)
			}
			fields = append(fields, reflect.StructField{Name: fmt.Sprint("F", i), Type: kind})
		}
		typ := reflect.StructOf(fields)
		require.True(t, value.Plain(typ))
		v := reflect.New(typ).Elem()
		for i := range v.NumField() {
			extreme(t, v.Field(i))
		}
		_, err := value.Encode(v.Interface())
		if value.Total(typ) {
			require.NoError(t, err, "%#v", v.Interface())
		}
		refused = refused || err != nil
	})
	require.True(t, refused, "no value was tried that cannot be encoded")
}

// extreme sets a field to one of the values at the ends of its type.
func extreme(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Array:
		for i := range v.Len() {
			extreme(t, v.Index(i))
		}
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{"", "a", "\xff"}).Draw(t, "text"))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(rapid.SampledFrom([]float64{0, math.Inf(1), math.Inf(-1), math.NaN()}).Draw(t, "float"))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64, reflect.Uint:
		v.SetUint(rapid.SampledFrom([]uint64{0, 1<<64 - 1}).Draw(t, "unsigned") >> (64 - v.Type().Bits()))
	case reflect.Int8, reflect.Int64:
		v.SetInt(rapid.SampledFrom([]int64{0, -1 << 63, 1<<63 - 1}).Draw(t, "int") >> (64 - v.Type().Bits()))
	}
}
