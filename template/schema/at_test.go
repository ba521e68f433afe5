package schema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/schema"
)

const events = `
Opened: {record: {id: text, who: option<Person>, size: nat}}
Edited: {record: {id: option<Id>, who: {record: {name: text}}, size: int}}
Person: {record: {name: text, mail: option<option<text>>}}
Id: text
Event: {variant: {O: Opened, E: option<Edited>, Receipt: sys/EffectReceiptEnvelope@1}}
Nested: {variant: {A: Event, B: {variant: {X: Opened}}}}
Kernel: {variant: {Receipt: sys/EffectReceiptEnvelope@1}}
Same: {variant: {A: {record: {p: {record: {q: nat}}}}, B: {record: {p: {record: {q: nat}}}}}}
`

func TestAPathLeadsThroughOptionsAndArms(t *testing.T) {
	ts := types(t, events)
	for _, c := range []struct{ typ, path, want string }{
		{"Opened", "id", "text"}, {"Opened", "who", "Person"}, {"Opened", "who.mail", "text"}, {"option<Opened>", "size", "nat"},
		{"Event", "$value.id", "text"}, {"Event", "$value.who.name", "text"}, {"Nested", "$value.$value.id", "text"},
		{"Same", "$value.p", "record"}, {"Same", "$value.p.q", "nat"},
	} {
		got, err := typ(t, ts, c.typ).At(strings.Split(c.path, "."))
		require.NoError(t, err, "%s of %s", c.path, c.typ)
		require.Equal(t, c.want, through(got).String(), "%s of %s", c.path, c.typ)
	}
	whole, err := ts.Lookup("Opened").At(nil)
	require.NoError(t, err)
	require.Same(t, ts.Lookup("Opened"), whole)
	for _, c := range []struct{ typ, path, want string }{
		{"Opened", "ip", `has no field "ip" (did you mean "id"?)`},
		{"Opened", "who.nme", `has no field "who.nme" (did you mean "name"?)`},
		{"Opened", "who.name.first", `has no field "who.name.first"`},
		{"Opened", "$value", `has no field "$value"`},
		{"Event", "id", `has no field "id" (did you mean "$value.id"?)`},
		{"Event", "$value.zzz", `has no field "$value.zzz"`},
		{"Event", "$value.size", `has arms without a common type at "$value.size"`},
		{"Event", "$value", `has arms without a common type at "$value"`},
		{"Kernel", "$value.id", `has arms without a common type at "$value.id"`},
		{"list<Opened>", "0", `has no field "0"`},
	} {
		_, err := typ(t, ts, c.typ).At(strings.Split(c.path, "."))
		require.EqualError(t, err, c.want, "%s of %s", c.path, c.typ)
	}
}

// through returns the type without its other name.
func through(t *schema.Type) *schema.Type {
	if t.Name == "Id" {
		return &schema.Type{Kind: t.Kind}
	}
	return t
}
