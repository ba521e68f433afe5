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
		Any   json.RawMessage `json:"any"`
		Parts []part          `json:"parts"`
	}
	for text, want := range map[string]bodies.Fault{
		`{"z": 1, "b": 1, "any": {"x": 1}}`:                {Pointer: "/b", Detail: "there is no such key; the keys are any, parts"},
		`{"parts": [{"name": "a"}, {"part": {"n/~": 1}}]}`: {Pointer: "/parts/1/part/n~1~0", Detail: "there is no such key; the keys are name, part"},
		`{"Any": 1}`:               {Pointer: "/Any", Detail: "there is no such key; the keys are any, parts"},
		`{"parts": {"name": 1}}`:   {Pointer: "/parts", Detail: "it is of another type"},
		`{"parts": [{"name": 1}]}`: {Pointer: "/parts/name", Detail: "it is of another type"},
		`{"` + strings.Repeat("k", 200) + `": {"a": 1}, "z": 1}`: {Pointer: "/" + strings.Repeat("k", 100), Detail: "there is no such key; the keys are any, parts"},
		`[]`: {Detail: "the body is a JSON object"},
		`{"any": [0, {"a/b": 9223372036854775808}]}`: {Pointer: "/any/1/a~1b", Detail: "it has an integer that is beyond the range of int64; write it as a string"},
		`{"any": 1e777}`: {Pointer: "/any", Detail: "it has something that is not a number or out of range"},
	} {
		require.Equal(t, &want, bodies.Read([]byte(text), &body{}), text)
	}
	require.Equal(t, &bodies.Fault{Pointer: "/z", Detail: "there is no such key; the body has none"}, bodies.Read([]byte(`{"z": 1}`), &struct{}{}))
	var b body
	require.Nil(t, bodies.Read([]byte(`{"any": {"x": [1]}, "parts": [{"part": {"part": null}}]}`), &b))
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
