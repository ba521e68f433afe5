package gotypes_test

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/schema/gotypes"
	"github.com/sluiceflow/sluice/template/value"
)

type line struct {
	SKU string `json:"sku"`
	N   uint16 `json:"n"`
}

type shape struct {
	_      struct{} `type:"variant"`
	Circle *line
	Square *struct{ Side int8 }
}

type all struct {
	B     bool
	I     int64 `json:"i"`
	U     uint64
	Nat   int `type:"nat"`
	S     string
	Data  []byte
	At    time.Time
	For   time.Duration
	ID    [16]byte
	Sum   [32]byte
	Dec   string `type:"dec128"`
	Lines []line
	Tags  map[string]struct{}
	Sizes []int `type:"set<int>"`
	ByNr  map[int32]line
	ByID  map[[16]byte]*string
	Memo  *string
	Shape *shape
	Unit  struct{}
	Left  func() `json:"-"`
}

func compile(t require.TestingT, of reflect.Type) *gotypes.Codec {
	types := gotypes.Declarations{}
	doc, err := types.Derive(of, "")
	require.NoError(t, err)
	declared, err := types.Types()
	require.NoError(t, err)
	s, err := gotypes.Read(declared, doc)
	require.NoError(t, err)
	c, err := gotypes.Compile(of, s)
	require.NoError(t, err)
	return c
}

// draw draws a value that the types of all can hold.
func draw(t *rapid.T) all {
	text := rapid.StringN(0, 8, -1)
	lines := rapid.Custom(func(t *rapid.T) line { return line{text.Draw(t, "sku"), rapid.Uint16().Draw(t, "n")} })
	v := all{
		B: rapid.Bool().Draw(t, "b"), I: rapid.Int64().Draw(t, "i"), U: rapid.Uint64().Draw(t, "u"), Nat: rapid.Int().Draw(t, "nat"), S: text.Draw(t, "s"),
		Data: rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "data"),
		At:   time.Unix(rapid.Int64Range(-1<<35, 1<<37).Draw(t, "at"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")),
		For:  time.Duration(rapid.Int64().Draw(t, "for")), Dec: rapid.SampledFrom([]string{"0", "1.50", "-3", "x", "1e3"}).Draw(t, "dec"),
		Lines: rapid.SliceOfN(lines, 0, 3).Draw(t, "lines"), Sizes: rapid.SliceOfN(rapid.IntRange(-3, 30), 0, 5).Draw(t, "sizes"),
		ByNr: rapid.MapOfN(rapid.Int32(), lines, 0, 3).Draw(t, "by"), Memo: rapid.Ptr(text, true).Draw(t, "memo"),
		Tags: map[string]struct{}{}, ByID: map[[16]byte]*string{},
	}
	copy(v.ID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
	copy(v.Sum[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "sum"))
	for _, tag := range rapid.SliceOfN(text, 0, 4).Draw(t, "tags") {
		v.Tags[tag] = struct{}{}
	}
	v.ByID[v.ID] = v.Memo
	if rapid.Bool().Draw(t, "circle") {
		v.Shape = &shape{Circle: &line{"c", 1}}
	} else if rapid.Bool().Draw(t, "square") {
		v.Shape = &shape{Square: &struct{ Side int8 }{-4}}
	}
	return v
}

// A codec writes the normal form of package schema, and reads the value that was written.
func TestTheCodecWritesTheNormalForm(t *testing.T) {
	c := compile(t, reflect.TypeFor[all]())
	rapid.Check(t, func(t *rapid.T) {
		v := draw(t)
		fits := v.U <= math.MaxInt64 && v.Nat >= 0 && v.For > 0 && v.Dec != "x"
		got, err := c.Encode(reflect.ValueOf(v))
		if !fits {
			require.Error(t, err)
			return
		}
		if err != nil {
			_, parsed := (&schema.Type{Kind: schema.Dec128}).Normalize(v.Dec)
			require.Error(t, parsed, err)
			return
		}
		normal, err := c.Type().Normalize(got)
		require.NoError(t, err)
		was, err := value.Encode(got)
		require.NoError(t, err)
		is, err := value.Encode(normal)
		require.NoError(t, err)
		require.Equal(t, is, was)

		var back all
		require.NoError(t, c.Decode(got, reflect.ValueOf(&back).Elem()))
		again, err := c.Encode(reflect.ValueOf(back))
		require.NoError(t, err)
		require.True(t, value.Equal(got, again))
		require.True(t, v.At.Equal(back.At))
		require.Equal(t, v.Memo, back.Memo)
		require.Equal(t, v.Tags, back.Tags)
		require.Equal(t, v.ByNr, back.ByNr)
		require.True(t, bytes.Equal(v.Data, back.Data))
	})
}

// FuzzDecode reads arbitrary values: a value that package schema brings into the normal form can be read and is written again,
// unless a number does not fit its Go type.
func FuzzDecode(f *testing.F) {
	c := compile(f, reflect.TypeFor[line]())
	f.Add([]byte(`{"sku": "a", "n": 3}`))
	f.Add([]byte(`{"sku": "a", "n": 70000}`))
	f.Add([]byte(`{"sku": 1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := value.ParseJSON(data)
		if err != nil {
			return
		}
		normal, err := c.Type().Normalize(v)
		if err != nil {
			return
		}
		var into line
		if err := c.Decode(normal, reflect.ValueOf(&into).Elem()); err != nil {
			require.Greater(t, normal.(map[string]any)["n"], int64(math.MaxUint16))
			return
		}
		again, err := c.Encode(reflect.ValueOf(into))
		require.NoError(t, err)
		require.True(t, value.Equal(normal, again))
	})
}

type loop struct{ Next *loop }

// A type that cannot be converted is refused with the field and a remedy.
func TestWhatCannotBeKeptIsRefused(t *testing.T) {
	for _, c := range []struct {
		of   any
		want string
	}{
		{struct{ Price float64 }{}, "Price: float64: machines have no floats"},
		{struct{ Any any }{}, "Any: interface {}: an interface does not say what it holds"},
		{loop{}, "gotypes_test.loop.Next: gotypes_test.loop: it contains itself"},
		{struct{ hidden int }{}, "hidden: int: it is not exported"},
		{struct{ line }{}, "line: gotypes_test.line: an embedded field"},
		{struct{ P **int }{}, "P: **int: an option has one null"},
		{struct{ F func() }{}, "F: func(): it has no values that can be kept"},
		{struct{ M map[bool]int }{}, "M: map[bool]int: the keys of a map are"},
		{struct{ A [3]int }{}, "A: [3]int: only [16]byte (uuid) and [32]byte (hash) are known"},
		{struct {
			X int `type:"text"`
		}{}, "X: int does not fit text"},
	} {
		_, err := gotypes.Declarations{}.Derive(reflect.TypeOf(c.of), "")
		require.Error(t, err, c.want)
		require.True(t, strings.Contains(err.Error(), c.want), "%v", err)
	}
}

// The first fault does not depend on the order of a map.
func TestTheFaultOfAMapIsTheSameEachTime(t *testing.T) {
	c := compile(t, reflect.TypeFor[map[string]uint64]())
	m := map[string]uint64{"a": 1, "b": math.MaxUint64, "c": math.MaxUint64, "d": math.MaxUint64}
	for range 50 {
		_, err := c.Encode(reflect.ValueOf(m))
		require.EqualError(t, err, "/b: must be at most 9223372036854775807")
	}
}
