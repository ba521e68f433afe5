package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

var fuzzLimits = document.Limits{Bytes: 1 << 14, Depth: 100}

// declarations reads types, if the text is a document and they have no faults.
func declarations(t require.TestingT, text string) *schema.Types {
	nodes, err := document.Parse("w.yaml", []byte(text), fuzzLimits)
	if err != nil || len(nodes) == 0 {
		return nil
	}
	ts, faults := schema.Read(nodes[0])
	for _, fault := range faults {
		require.Positive(t, fault.Line, "%v", fault)
		require.Positive(t, fault.Col, "%v", fault)
		require.NotEmpty(t, fault.Msg)
	}
	for _, name := range ts.Names() {
		require.NotNil(t, ts.Lookup(name))
	}
	if len(faults) > 0 {
		return nil
	}
	return ts
}

// FuzzRead: declarations are refused with places, or written as declarations that read the same.
func FuzzRead(f *testing.F) {
	f.Add(declared)
	f.Add(events)
	for _, c := range refusals {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ts := declarations(t, text)
		if ts == nil {
			return
		}
		again, faults := schema.Read(reread(t, ts.Document()))
		require.NoError(t, faults.Err())
		require.Equal(t, ts.Document(), again.Document())
		for _, name := range ts.Names() {
			read := ts.Lookup(name)
			require.True(t, read.Equal(again.Lookup(name)))
			require.Equal(t, map[string]any{"ref": name}, read.Document())
			_, _ = read.Normalize(nil)
		}
	})
}

// FuzzNormalize: any value is refused at a place in it, or has the normal form of the model.
func FuzzNormalize(f *testing.F) {
	types := `T: {record: {a: set<int>, b: option<dec128>, c: {variant: {X: time, Y: "map<nat, uuid>"}}, d: list<bytes>}}`
	f.Add(types, `{"a": [3, 1, -1, 3], "c": {"X": "2027-01-31T13:00:00+01:00"}, "d": ["AAE="]}`)
	f.Add(types, `{"a": [], "b": "01.50", "c": {"$tag": "Y", "$value": {"07": "F81D4FAE-7dec-11d0-A765-00A0C91E6BF6"}}, "d": []}`)
	f.Add("T: set<set<text>>", `[["b", "a"], ["a", "b"], []]`)
	f.Add("A: unit\nT: \"map<int, option<A>>\"", `{"-0": null, "0": null}`)
	for word, texts := range samples {
		for _, text := range texts {
			encoded, _ := value.JSON(text)
			f.Add("T: "+word, string(encoded))
		}
	}
	f.Fuzz(func(t *testing.T, types, text string) {
		ts := declarations(t, types)
		v, err := value.ParseJSON([]byte(text))
		if ts == nil || err != nil || len(text) > 1<<12 {
			return
		}
		m := model(ts.Document().(map[string]any))
		for _, name := range ts.Names() {
			requireNormal(t, ts.Lookup(name), v, m, map[string]any{"ref": name})
		}
	})
}
