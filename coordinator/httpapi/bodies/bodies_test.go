package bodies_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/httpapi/bodies"
	"github.com/sluiceflow/sluice/coordinator/workers/wire"
)

func TestTheFirstFaultIsShown(t *testing.T) {
	type part struct {
		Name string `json:"name"`
		Part *part  `json:"part"`
	}
	type body struct {
		Any   json.RawMessage   `json:"any"`
		Parts []part            `json:"parts"`
		By    map[string]string `json:"by"`
		Sure  bool              `json:"sure"`
		Count int               `json:"count"`
		Size  uint64            `json:"size"`
	}
	for text, want := range map[string]bodies.Fault{
		`{"z": 1, "b": 1, "any": {"x": 1}}`:                {Pointer: "/b", Detail: "there is no such key; the keys are any, parts, by, sure, count, size"},
		`{"parts": [{"name": "a"}, {"part": {"n/~": 1}}]}`: {Pointer: "/parts/1/part/n~1~0", Detail: "there is no such key; the keys are name, part"},
		`{"Any": 1}`:                   {Pointer: "/Any", Detail: "there is no such key; the keys are any, parts, by, sure, count, size"},
		`{"parts": {"name": 1}}`:       {Pointer: "/parts", Detail: "it must be a list"},
		`{"parts": [{}, {"name": 1}]}`: {Pointer: "/parts/1/name", Detail: "it must be a text"},
		`{"parts": [{"part": []}]}`:    {Pointer: "/parts/0/part", Detail: "it must be an object"},
		`{"by": {"a/b": "x", "c": 1}}`: {Pointer: "/by/c", Detail: "it must be a text"},
		`{"by": "x"}`:                  {Pointer: "/by", Detail: "it must be an object"},
		`{"sure": "true"}`:             {Pointer: "/sure", Detail: "it must be true or false"},
		`{"count": 1.5}`:               {Pointer: "/count", Detail: "it must be an integer"},
		`{"count": "1"}`:               {Pointer: "/count", Detail: "it must be an integer"},
		`{"size": -1}`:                 {Pointer: "/size", Detail: "it must be an integer that is not negative"},
		`{"count": 1.0}`:               {Pointer: "/count", Detail: "it must be an integer, and in digits only"},
		`{"` + strings.Repeat("k", 200) + `": {"a": 1}, "z": 1}`: {Pointer: "/" + strings.Repeat("k", 100), Detail: "there is no such key; the keys are any, parts, by, sure, count, size"},
		`[]`: {Detail: "the body is a JSON object"},
		`{"any": [0, {"a/b": 9223372036854775808}]}`: {Pointer: "/any/1/a~1b", Detail: "it has an integer that is beyond the range of int64; write it as a string"},
		`{"any": 1e777}`: {Pointer: "/any", Detail: "it has something that is not a number or out of range"},
	} {
		require.Equal(t, &want, bodies.Read([]byte(text), &body{}), text)
	}
	require.Equal(t, &bodies.Fault{Pointer: "/z", Detail: "there is no such key; the body has none"}, bodies.Read([]byte(`{"z": 1}`), &struct{}{}))
	var b body
	require.Nil(t, bodies.Read([]byte(`{"any": {"x": [1]}, "parts": [{"part": {"part": null}}], "by": null, "sure": null, "count": -1, "size": 1}`), &b))
	require.JSONEq(t, `{"x": [1]}`, string(b.Any))
	require.NotNil(t, b.Parts[0].Part)
}

// The allocations to read a body are its value and its struct.
func TestTheWorkOfABody(t *testing.T) {
	body := wire.GiveBody{Worker: "w"}
	const results = 64
	for i := range results {
		body.Results = append(body.Results, wire.GiveResult{Lease: fmt.Sprint("lease-", i), Output: json.RawMessage(`{"receipt":7}`)})
	}
	data, err := json.Marshal(body)
	require.NoError(t, err)
	allocations := testing.AllocsPerRun(100, func() {
		if fault := bodies.Read(data, &wire.GiveBody{}); fault != nil {
			panic(fault.Detail)
		}
	})
	require.Less(t, allocations, float64(20*results))
}
