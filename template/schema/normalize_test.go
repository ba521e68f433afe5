package schema_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// parsed is a value of a JSON text.
func parsed(t require.TestingT, text string) value.Value {
	v, err := value.ParseJSON([]byte(text))
	require.NoError(t, err, "%s", text)
	return v
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

// Each line is a type, a value, and its normal form; the same if it is in normal form.
func TestNormalForms(t *testing.T) {
	ts := types(t, declared)
	for _, c := range []struct{ typ, v, want string }{
		{"bool", "true", "true"},
		{"int", "-7", "-7"},
		{"int", "7.0", "7"},
		{"nat", "9223372036854775807", "9223372036854775807"},
		{"nat", "0", "0"},
		{"text", `""`, `""`},
		{"unit", "null", "null"},
		{"bytes", `"AAECAw=="`, `"AAECAw=="`},
		{"bytes", `"+/8="`, `"+/8="`},
		{"bytes", `""`, `""`},
		{"time", `"2027-01-31T13:00:00+01:00"`, `"2027-01-31T12:00:00Z"`},
		{"time", `"2027-01-31T12:00:00.120Z"`, `"2027-01-31T12:00:00.12Z"`},
		{"time", `"2027-01-31T12:00:00.000000000Z"`, `"2027-01-31T12:00:00Z"`},
		{"time", `"2027-01-31T12:00:00.000000001-00:00"`, `"2027-01-31T12:00:00.000000001Z"`},
		{"time", `"0000-01-01T00:00:00Z"`, `"0000-01-01T00:00:00Z"`},
		{"time", `"9999-12-31T23:59:59.999999999Z"`, `"9999-12-31T23:59:59.999999999Z"`},
		{"duration", `"PT90S"`, `"PT1M30S"`},
		{"duration", `"P1W"`, `"P7D"`},
		{"duration", `"P1DT2H30M0.5S"`, `"P1DT2H30M0.5S"`},
		{"hash", `"sha256:` + zeros + `"`, `"sha256:` + zeros + `"`},
		{"uuid", `"F81D4FAE-7dec-11d0-A765-00A0C91E6BF6"`, `"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`},
		{"dec128", `"01.50"`, `"1.5"`},
		{"dec128", `"-0"`, `"0"`},
		{"dec128", `"-0.00"`, `"0"`},
		{"dec128", `"0e999999999999999999999"`, `"0"`},
		{"dec128", `"100"`, `"100"`},
		{"dec128", `"-15E-1"`, `"-1.5"`},
		{"dec128", `"1.5e+3"`, `"1500"`},
		{"dec128", `"1e33"`, `"1000000000000000000000000000000000"`},
		{"dec128", `"1e-34"`, `"0.0000000000000000000000000000000001"`},
		{"dec128", `"` + zeros + `.10` + zeros + `"`, `"0.1"`},
		{"dec128", `"9999999999999999999999999999999999"`, `"9999999999999999999999999999999999"`},
		{"dec128", `"10000000000000000000000000000000000e-1"`, `"1000000000000000000000000000000000"`},
		{"list<nat>", "[3, 1, 3]", "[3,1,3]"},
		{"list<nat>", "[]", "[]"},
		{"set<text>", `["zz", "b", "a", "b"]`, `["a","b","zz"]`},
		{"set<text>", `["", "é", "zz", "aaa"]`, `["","zz","é","aaa"]`},
		{"set<int>", "[-1, 300, 0, -300, 24, -1, 23]", "[0,23,24,300,-1,-300]"},
		{"set<bool>", "[true, false, true]", "[false,true]"},
		{"set<option<int>>", "[null, 5, null, -5]", "[5,-5,null]"},
		{"set<unit>", "[null, null]", "[null]"},
		{"set<dec128>", `["1.0", "1", "0.1e1"]`, `["1"]`},
		{"set<list<nat>>", "[[2], [1, 1], [], [1], [2]]", "[[],[1],[2],[1,1]]"},
		{"set<set<nat>>", "[[2, 1], [1, 2], [1]]", "[[1],[1,2]]"},
		{"set<Item>", `[{"sku": "b"}, {"sku": "a"}, {"sku": "b"}]`, `[{"sku":"a"},{"sku":"b"}]`},
		{"option<text>", "null", "null"},
		{"option<text>", `"a"`, `"a"`},
		{"option<option<text>>", "null", "null"},
		{`"map<text, nat>"`, `{"b": 1, "": 2.0}`, `{"":2,"b":1}`},
		{`"map<int, bool>"`, `{"-07": true, "+5": false, "-0": true}`, `{"-7":true,"0":true,"5":false}`},
		{`"map<uuid, unit>"`, `{"F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6": null}`, `{"f81d4fae-7dec-11d0-a765-00a0c91e6bf6":null}`},
		{`"map<nat, set<nat>>"`, `{"1": [2, 1], "02": [1]}`, `{"1":[1,2],"2":[1]}`},
		{"Order", `{"id": "o", "cents": 5, "items": []}`, `{"cents":5,"id":"o","items":[],"memo":null}`},
		{"Order", `{"id": "o", "cents": 5, "items": [{"sku": "a"}], "memo": "m"}`, `{"cents":5,"id":"o","items":[{"sku":"a"}],"memo":"m"}`},
		{"{record: {}}", "{}", "{}"},
		{"Shape", `{"Square": 4}`, `{"$tag":"Square","$value":4}`},
		{"Shape", `{"$tag": "Circle", "$value": {"radius": "2.0"}}`, `{"$tag":"Circle","$value":{"radius":"2"}}`},
		{"{variant: {A: option<nat>, B: unit}}", `{"$tag": "A"}`, `{"$tag":"A","$value":null}`},
		{"{variant: {A: option<nat>, B: unit}}", `{"B": null}`, `{"$tag":"B","$value":null}`},
	} {
		v := parsed(t, c.v)
		before, err := value.JSON(v)
		require.NoError(t, err)
		n, err := typ(t, ts, c.typ).Normalize(v)
		require.NoError(t, err, "%s of %s", c.v, c.typ)
		got, err := value.JSON(n)
		require.NoError(t, err)
		require.Equal(t, c.want, string(got), "%s of %s", c.v, c.typ)
		after, err := value.JSON(v)
		require.NoError(t, err)
		require.Equal(t, before, after, "Normalize has changed its argument")
	}
}

// Each line is a type, a value that it does not have, and the fault.
func TestEachFaultOfAValueIsNamedWithItsPointer(t *testing.T) {
	ts := types(t, declared+"Filed: {record: {id: text, tags: set<text>, memo: option<text>, at: {record: {page: nat, ratio: dec128}}}}\n")
	for _, c := range []struct{ typ, v, want string }{
		{"bool", `"true"`, "must be a boolean, not a text"},
		{"int", "1.5", "must be an integer, not a fraction"},
		{"int", "1e19", "must be an integer, not a number beyond 64 bits"},
		{"int", `"1"`, "must be an integer, not a text"},
		{"nat", "-1", "must be at least 0"},
		{"nat", "null", "must be an integer, not null"},
		{"text", "5", "must be a text, not an integer"},
		{"text", "[]", "must be a text, not a list"},
		{"unit", "{}", "must be null, not an object"},
		{"option<text>", "5", "must be a text, not an integer"},
		{"bytes", `"AAE"`, `must be base64, padded with =, not "AAE"`},
		{"bytes", `"AA=A"`, `must be base64, padded with =, not "AA=A"`},
		{"bytes", `"A==="`, `must be base64, padded with =, not "A==="`},
		{"bytes", `"AA\nA"`, `must be base64, padded with =, not "AA\nA"`},
		{"bytes", `"__=="`, `must be base64, padded with =, not "__=="`},
		{"bytes", `"AB=="`, `must be base64, padded with =, whose unused bits are 0, not "AB=="`},
		{"bytes", `"AI=="`, `must be base64, padded with =, whose unused bits are 0, not "AI=="`},
		{"bytes", `"AAB="`, `must be base64, padded with =, whose unused bits are 0, not "AAB="`},
		{"time", `"2027-01-31"`, `must be a time such as 2027-01-31T12:00:00Z, not "2027-01-31"`},
		{"time", `"2027-02-31T12:00:00Z"`, `must be a time such as 2027-01-31T12:00:00Z, not "2027-02-31T12:00:00Z"`},
		{"time", `"2027-01-31T12:00:00,5Z"`, `must be a time such as 2027-01-31T12:00:00Z, not "2027-01-31T12:00:00,5Z"`},
		{"time", `"2027-01-31T1:00:00Z"`, `must be a time such as 2027-01-31T12:00:00Z, not "2027-01-31T1:00:00Z"`},
		{"time", `"2027-01-31T12:00:00+25:00"`, `must be a time such as 2027-01-31T12:00:00Z, not "2027-01-31T12:00:00+25:00"`},
		{"time", `"2027-01-31T12:00:00.0000000001Z"`, `must be a time such as 2027-01-31T12:00:00Z, with at most 9 digits of a second, not "2027-01-31T12:00:00.0000000001Z"`},
		{"time", `"0000-01-01T00:00:00+01:00"`, `must be a time such as 2027-01-31T12:00:00Z, in the years 0 to 9999 of UTC, not "0000-01-01T00:00:00+01:00"`},
		{"time", `"9999-12-31T23:59:59-01:00"`, `must be a time such as 2027-01-31T12:00:00Z, in the years 0 to 9999 of UTC, not "9999-12-31T23:59:59-01:00"`},
		{"duration", `"30s"`, `invalid duration "30s": write it as PT30S, PT5M or P1DT12H`},
		{"duration", `"PT0S"`, `invalid duration "PT0S": it is zero`},
		{"duration", "30", "must be a text, not an integer"},
		{"hash", `"sha256:AA"`, `must be sha256: and 64 digits in lower case, not "sha256:AA"`},
		{"hash", `"sha256:` + zeros[1:] + `A"`, `must be sha256: and 64 digits in lower case, not "sha256:` + zeros[1:] + `A"`},
		{"hash", `"` + zeros + `"`, `must be sha256: and 64 digits in lower case, not "` + zeros + `"`},
		{"uuid", `"f81d4fae7dec11d0a76500a0c91e6bf6"`, `must be a UUID such as f81d4fae-7dec-11d0-a765-00a0c91e6bf6, not "f81d4fae7dec11d0a76500a0c91e6bf6"`},
		{"uuid", `"g81d4fae-7dec-11d0-a765-00a0c91e6bf6"`, `must be a UUID such as f81d4fae-7dec-11d0-a765-00a0c91e6bf6, not "g81d4fae-7dec-11d0-a765-00a0c91e6bf6"`},
		{"uuid", `"f81d4fae-7dec-11d0-a765-00a0c91e6b\u0016\u0016"`, `must be a UUID such as f81d4fae-7dec-11d0-a765-00a0c91e6bf6, not "f81d4fae-7dec-11d0-a765-00a0c91e6b\x16\x16"`},
		{"uuid", `"f81d4fae+7dec-11d0-a765-00a0c91e6bf6"`, `must be a UUID such as f81d4fae-7dec-11d0-a765-00a0c91e6bf6, not "f81d4fae+7dec-11d0-a765-00a0c91e6bf6"`},
		{"dec128", `"1,5"`, `must be a decimal such as 12.5, not "1,5"`},
		{"dec128", `""`, `must be a decimal such as 12.5, not ""`},
		{"dec128", `".5"`, `must be a decimal such as 12.5, not ".5"`},
		{"dec128", `"5."`, `must be a decimal such as 12.5, not "5."`},
		{"dec128", `"+5"`, `must be a decimal such as 12.5, not "+5"`},
		{"dec128", `"--5"`, `must be a decimal such as 12.5, not "--5"`},
		{"dec128", `"1e"`, `must be a decimal such as 12.5, not "1e"`},
		{"dec128", `"1e+-2"`, `must be a decimal such as 12.5, not "1e+-2"`},
		{"dec128", `"NaN"`, `must be a decimal such as 12.5, not "NaN"`},
		{"dec128", "1.5", "must be a text, not a fraction"},
		{"dec128", `"1e34"`, `must be a decimal such as 12.5, with at most 34 digits, not "1e34"`},
		{"dec128", `"1e-35"`, `must be a decimal such as 12.5, with at most 34 digits, not "1e-35"`},
		{"dec128", `"1e99999999999999999999"`, `must be a decimal such as 12.5, with at most 34 digits, not "1e99999999999999999999"`},
		{"dec128", `"12345678901234567890123456789012345"`, `must be a decimal such as 12.5, with at most 34 digits, not "12345678901234567890123456789012345"`},
		{"list<nat>", "{}", "must be a list, not an object"},
		{"list<nat>", "[1, -1, -2]", "/1: must be at least 0"},
		{"set<text>", `["a", 1]`, "/1: must be a text, not an integer"},
		{"set<text>", `"a"`, "must be a list, not a text"},
		{`"map<text, nat>"`, "[]", "must be an object, not a list"},
		{`"map<text, nat>"`, `{"b": -1, "a/b": "x"}`, "/a~1b: must be an integer, not a text"},
		{`"map<int, nat>"`, `{"x": 1}`, `/x: the key must be an integer of 64 bits in decimal, not "x"`},
		{`"map<int, nat>"`, `{"9223372036854775808": 1}`, `/9223372036854775808: the key must be an integer of 64 bits in decimal, not "9223372036854775808"`},
		{`"map<nat, nat>"`, `{"-1": 1}`, `/-1: the key must be at least 0`},
		{`"map<hash, nat>"`, `{"-1": 1}`, `/-1: the key must be sha256: and 64 digits in lower case, not "-1"`},
		{`"map<nat, nat>"`, `{"7": 1, "07": 1}`, `/7: is the key "7" again`},
		{"Filed", "null", "must be an object, not null"},
		{"Filed", `{"id": "f", "tags": [], "at": {"page": -7, "ratio": "1"}}`, "/at/page: must be at least 0"},
		{"Filed", `{"id": "f", "tags": [], "at": {"page": 1}}`, "/at/ratio: is missing"},
		{"Filed", `{"id": "f", "tags": [], "at": {"page": 1, "ratio": "1"}, "extra": 1}`, "/extra: is not declared"},
		{"Filed", `{"id": "f", "tag": [], "zzz": 1}`, `/tag: is not declared (did you mean "tags"?)`},
		{"Filed", `{"id": 5, "tags": 5}`, `/at: is missing`},
		{"Filed", `{"id": "f", "tags": ["a", 1], "at": {"page": 1, "ratio": "1"}}`, "/tags/1: must be a text, not an integer"},
		{"Shape", `{"Oval": 4}`, `has no arm "Oval"`},
		{"Shape", `{"$tag": "Oval", "$value": 4}`, `has no arm "Oval"`},
		{"Shape", `{"Sqare": 4}`, `has no arm "Sqare" (did you mean "Square"?)`},
		{"Shape", `{"Square": -4}`, "/Square: must be at least 0"},
		{"Shape", `{"$tag": "Square", "$value": -4}`, "/$value: must be at least 0"},
		{"Shape", `{"$tag": "Square"}`, "/$value: is missing"},
		{"Shape", `{"$tag": "Square", "value": 4}`, `/value: is not declared (did you mean "$value"?)`},
		{"Shape", `{"$tag": "Square", "$value": 4, "x": 1}`, "/x: is not declared"},
		{"{variant: {A: option<nat>}}", `{"$tag": "A", "x": 1}`, "/x: is not declared"},
		{"Shape", `{"$tag": 5, "$value": 4}`, "/$tag: must be a text, not an integer"},
		{"Shape", "{}", "must be one arm with its value or {$tag, $value}, not 0 keys"},
		{"Shape", `{"Square": 1, "Circle": {}}`, "must be one arm with its value or {$tag, $value}, not 2 keys"},
		{"Shape", `"Square"`, "must be an object, not a text"},
		{"Shape", `{"Receipt": {}}`, "/Receipt: is made by the run itself, so it cannot be given"},
		{"list<Shape>", `[{"Circle": {"radius": "x"}}]`, `/0/Circle/radius: must be a decimal such as 12.5, not "x"`},
		{`"map<text, Order>"`, `{"a/~": {"id": 5, "cents": 1, "items": []}}`, "/a~1~0/id: must be a text, not an integer"},
	} {
		n, err := typ(t, ts, c.typ).Normalize(parsed(t, c.v))
		require.Nil(t, n)
		var f *schema.Fault
		require.ErrorAs(t, err, &f, "%s of %s", c.v, c.typ)
		require.EqualError(t, err, c.want, "%s of %s", c.v, c.typ)
		if pointer, _, ok := strings.Cut(c.want, ": "); ok && strings.HasPrefix(c.want, "/") {
			require.Equal(t, pointer, f.Pointer.String())
		} else if !ok {
			require.Empty(t, f.Pointer)
		}
	}
}

func TestALongTextIsCutInAMessage(t *testing.T) {
	ts := types(t, "{}")
	long := strings.Repeat("x", 1<<20)
	for text, v := range map[string]any{"hash": long, `"map<text, nat>"`: map[string]any{long: "x"}, "{variant: {A: int}}": map[string]any{long: "x"}, "{record: {}}": map[string]any{long: "x"}} {
		_, err := typ(t, ts, text).Normalize(v)
		require.Error(t, err)
		require.Less(t, len(err.Error()), 600)
	}
}

// Values of Go code are of the model once they are converted.
func TestValuesOutsideTheModelAreBroughtIntoIt(t *testing.T) {
	ts := types(t, declared)
	for _, c := range []struct {
		typ     string
		v, want any
	}{
		{"int", 7, int64(7)}, {"int", 7.0, int64(7)}, {"nat", uint8(7), int64(7)}, {"text", "a\xff", "a\ufffd"},
		{"list<text>", []string{"a"}, []any{"a"}}, {"Item", struct {
			SKU string `json:"sku"`
		}{"s"}, map[string]any{"sku": "s"}},
		{"option<text>", []any(nil), nil}, {"Item", map[string]any{"sku": value.Raw("\x61\x61")}, map[string]any{"sku": "a"}},
		{"int", math.MinInt64 * 1.0, int64(math.MinInt64)},
	} {
		n, err := typ(t, ts, c.typ).Normalize(c.v)
		require.NoError(t, err)
		require.Equal(t, c.want, n)
	}
	for _, c := range []struct {
		typ  string
		v    any
		want string
	}{
		{"int", math.NaN(), "must be an integer, not a fraction"}, {"int", math.Inf(1), "must be an integer, not a number beyond 64 bits"},
		{"text", []any(nil), "must be a text, not null"}, {"text", make(chan int), "cannot be represented: json: unsupported type: chan int"},
		{`"map<text, int>"`, map[string]any{"\xff": 1}, "/\xff: the key is not valid UTF-8"},
		{"Item", map[string]any{"sku": []any{make(chan int)}}, "/sku: must be a text, not a list"},
	} {
		_, err := typ(t, ts, c.typ).Normalize(c.v)
		require.EqualError(t, err, c.want)
	}
}

func TestAValueInNormalFormIsNotCopied(t *testing.T) {
	ts := types(t, declared)
	v := parsed(t, `[{"cents": 5, "id": "o", "items": [{"sku": "a"}], "memo": null}]`)
	list := typ(t, ts, "list<Order>")
	n, err := list.Normalize(v)
	require.NoError(t, err)
	require.Same(t, &v.([]any)[0], &n.([]any)[0])
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = list.Normalize(v) }))
}
