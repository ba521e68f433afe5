package call_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// full has a value in every field, so that tests detect a field that is not encoded.
var full = call.Request{Dir: "/srv/orders",
	Run: "r", Node: "check[3]", Operation: "check", Participant: "ann", Attempt: 2, Decision: 1, Making: 3,
	Input:    map[string]any{"n": int64(1) << 60, "x": 1.5, "list": []any{nil, true, "ü"}},
	Identity: &journal.Identity{ID: "ben", Scopes: []string{"read"}, Resources: map[string]any{"orders": int64(7)}},
	Secrets:  []string{"mark"}, Asked: "order[a].pay/k",
}

var fullResult = call.Result{
	Output: []any{int64(1) << 60, "a"}, About: map[string]any{"status": int64(200)}, RetryAt: 1 << 60, Unreachable: true,
	Failure: &journal.Failure{Code: "c", Message: "m", Details: map[string]any{"n": int64(2)}, Retryable: true, Step: "s"},
}

func TestARequestAndItsResultTravel(t *testing.T) {
	for name, of := range map[string]any{"request": full, "result": fullResult} {
		v := reflect.ValueOf(of)
		for i := range v.NumField() {
			require.False(t, v.Field(i).IsZero(), "%s: %s is not tried", name, v.Type().Field(i).Name)
		}
	}
	for name, travel := range map[string]func(from, to any) error{"CBOR": throughCBOR, "JSON": throughJSON} {
		var request call.Request
		require.NoError(t, travel(full, &request), name)
		require.Equal(t, full, request, name)
		var result call.Result
		require.NoError(t, travel(fullResult, &result), name)
		require.Equal(t, fullResult, result, name)
	}
}

// TestAnEncodedInputTravels: an input that is not decoded on the way arrives as the value that it encodes.
func TestAnEncodedInputTravels(t *testing.T) {
	encoded, err := value.Encode(full.Input)
	require.NoError(t, err)
	request := full
	request.Input = value.Raw(encoded)
	var got call.Request
	require.NoError(t, throughCBOR(request, &got))
	require.Equal(t, full, got)
}

func throughCBOR(from, to any) error {
	data, err := value.Encode(from)
	if err != nil {
		return err
	}
	return value.DecodeInto(data, to)
}

func throughJSON(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	v, err := value.ParseJSON(text)
	if err != nil {
		return err
	}
	return value.Convert(v, to)
}

func TestKeysTellCallsApart(t *testing.T) {
	again := full
	again.Attempt++
	require.Equal(t, full.Key(), again.Key(), "an automatic retry has the same key")
	asked, plain := full, full
	asked.Decision, asked.Asked = 0, ""
	plain.Decision, plain.Participant, plain.Asked = 0, "", ""
	require.Equal(t, []string{"r/check[3]/?1", "r/check[3]/ann", "r/check[3]"}, []string{full.Key(), asked.Key(), plain.Key()})
	own := plain
	own.Asked = "order[a].pay/k"
	require.Equal(t, "r/order[a].pay/k", own.Key())
}
