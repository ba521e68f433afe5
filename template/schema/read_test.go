package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// node is the one document of a text.
func node(t require.TestingT, text string) *document.Node {
	nodes, err := document.Parse("w.yaml", []byte(text), document.Limits{})
	require.NoError(t, err)
	require.Len(t, nodes, 1)
	return nodes[0]
}

// types reads declarations that have no faults.
func types(t require.TestingT, text string) *schema.Types {
	ts, faults := schema.Read(node(t, text))
	require.NoError(t, faults.Err())
	return ts
}

// typ reads a type that has no faults.
func typ(t require.TestingT, ts *schema.Types, text string) *schema.Type {
	read, faults := ts.ReadType(node(t, "t: "+text).Get("t"))
	require.NoError(t, faults.Err(), "%s", text)
	return read
}

const declared = `
Order: {record: {id: text, cents: nat, items: list<Item>, memo: option<text>}}
Item: {record: {sku: text}}
Other: Order
Shape: {variant: {Square: nat, Receipt: {ref: sys/EffectReceiptEnvelope@1}, Circle: {record: {radius: dec128}}}}
com.acme/Id@1: uuid
`

func TestATypeHasOneNormalForm(t *testing.T) {
	ts := types(t, declared)
	for _, c := range []struct {
		want      string
		spellings []string
	}{
		{`{"text":{}}`, []string{"text", "{text: {}}", `" text "`}},
		{`{"ref":"Order"}`, []string{"Order", "{ref: Order}"}},
		{`{"ref":"com.acme/Id@1"}`, []string{"com.acme/Id@1", "{ref: com.acme/Id@1}"}},
		{`{"list":{"ref":"Order"}}`, []string{"list<Order>", "{list: Order}", "{list: {ref: Order}}", `"list < Order >"`}},
		{`{"option":{"set":{"int":{}}}}`, []string{"option<set<int>>", "{option: {set: int}}", "{option: set<int>}"}},
		{`{"map":{"key":{"nat":{}},"value":{"list":{"list":{"bool":{}}}}}}`,
			[]string{`"map<nat, list<list<bool>>>"`, `"map<nat,list<list<bool> > >"`, "{map: {value: list<list<bool>>, key: nat}}"}},
		{`{"map":{"key":{"ref":"com.acme/Id@1"},"value":{"map":{"key":{"int":{}},"value":{"unit":{}}}}}}`,
			[]string{`"map<com.acme/Id@1, map<int, unit>>"`}},
		{`{"record":{"a":{"time":{}},"b":{"record":{}}}}`, []string{"{record: {b: {record: {}}, a: time}}", "{record: {a: {time: {}}, b: {record: {}}}}"}},
		{`{"variant":{"A":{"ref":"Item"},"B":{"unit":{}}}}`, []string{"{variant: {B: unit, A: Item}}"}},
	} {
		for _, spelling := range c.spellings {
			text, err := value.JSON(typ(t, ts, spelling).Document())
			require.NoError(t, err)
			require.Equal(t, c.want, string(text), "%s", spelling)
		}
	}
	text, err := value.JSON(ts.Document())
	require.NoError(t, err)
	require.Equal(t, `{"Item":{"record":{"sku":{"text":{}}}},"Order":{"record":{"cents":{"nat":{}},"id":{"text":{}},"items":{"list":{"ref":"Item"}},`+
		`"memo":{"option":{"text":{}}}}},"Other":{"ref":"Order"},"Shape":{"variant":{"Circle":{"record":{"radius":{"dec128":{}}}},`+
		`"Receipt":{"ref":"sys/EffectReceiptEnvelope@1"},"Square":{"nat":{}}}},"com.acme/Id@1":{"uuid":{}}}`, string(text))
}

func TestReferencesAreTheDeclaredType(t *testing.T) {
	ts := types(t, declared)
	require.Equal(t, []string{"Item", "Order", "Other", "Shape", "com.acme/Id@1"}, ts.Names())
	order := ts.Lookup("Order")
	require.Same(t, order, typ(t, ts, "Order"))
	require.Same(t, order, typ(t, ts, "list<Order>").Elem)
	require.Same(t, ts.Lookup("Item"), order.Field("items").Elem)
	require.Nil(t, order.Field("item"))
	require.Nil(t, ts.Lookup("order"))
	require.Equal(t, []schema.Field{{"cents", order.Field("cents")}, {"id", order.Field("id")}, {"items", order.Field("items")}, {"memo", order.Field("memo")}}, order.Fields)

	other := ts.Lookup("Other")
	require.Equal(t, "Other", other.Name)
	require.True(t, other.Equal(order), "another name of it")
	require.Equal(t, order.Fields, other.Fields)
	require.False(t, order.Equal(ts.Lookup("Item")))
	require.True(t, ts.Lookup("Item").Equal(typ(t, ts, "{record: {sku: text}}")))
	require.Equal(t, schema.System, ts.Lookup(schema.FrameType).Kind)

	none, faults := schema.Read(nil)
	require.Empty(t, faults)
	require.Empty(t, none.Names())
}

func TestTypesAreEqualWhereTheirValuesAre(t *testing.T) {
	ts := types(t, declared)
	distinct := []string{
		"bool", "int", "nat", "text", "bytes", "time", "duration", "hash", "uuid", "dec128", "unit",
		"{record: {}}", "{record: {a: int}}", "{record: {a: nat}}", "{record: {b: int}}", "{record: {a: int, b: int}}", "{record: {ab: int}}",
		"{variant: {a: int}}", "list<int>", "set<int>", "option<int>", `"map<int, int>"`, `"map<nat, int>"`, `"map<int, nat>"`,
		"list<list<int>>", "{record: {a: {record: {b: int}}}}",
		"{variant: {R: sys/EffectReceiptEnvelope@1}}", "{variant: {R: sys/EffectReceiptRejected@1}}", "{variant: {R: sys/EffectStreamFrame@1}}",
	}
	for i, a := range distinct {
		for k, b := range distinct {
			require.Equal(t, i == k, typ(t, ts, a).Equal(typ(t, ts, b)), "%s and %s", a, b)
		}
	}
}

func TestTypesAreShownAsTexts(t *testing.T) {
	ts := types(t, declared)
	for spelling, want := range map[string]string{
		"{option: {list: Order}}": "option<list<Order>>", "{map: {key: nat, value: {set: int}}}": "map<nat, set<int>>",
		"{record: {a: int}}": "record", "{variant: {a: int}}": "variant", "{text: {}}": "text", "Other": "Other",
	} {
		require.Equal(t, want, typ(t, ts, spelling).String())
	}
}

// refusals are declarations with their errors.
var refusals = []struct{ name, text, want string }{
	{"no mapping", "[A]", `w.yaml:1:1: types must be a mapping from names to types, not a list`},
	{"an unknown name", "A: txt", `w.yaml:1:4: A: unknown type "txt" (did you mean "text"?)`},
	{"an unknown type", "Order: {record: {a: list<Ordr>}}", `w.yaml:1:21: Order.record.a: unknown type "Ordr" (did you mean "Order"?)`},
	{"an unknown reference", "A: {ref: B}\nBee: int", `w.yaml:1:10: A.ref: unknown type "B"`},
	{"a system type, misspelt", "A: {variant: {R: sys/EffectReceiptEnvelop@1}}", `w.yaml:1:18: A.variant.R: unknown type "sys/EffectReceiptEnvelop@1" (did you mean "sys/EffectReceiptEnvelope@1"?)`},
	{"words of other languages", "A: string\nB: {object: {}}\nC: Array<int>", `w.yaml:1:4: A: unknown type "string" (did you mean "text"?)
w.yaml:2:5: B.object: unknown type "object" (did you mean "record"?)
w.yaml:3:4: C: unknown type "Array" (did you mean "list"?)`},
	{"a question mark", "A: text?\nB: A?", `w.yaml:1:4: A: unknown type "text?" (did you mean "option<text>"?)
w.yaml:2:4: B: unknown type "A?" (did you mean "option<A>"?)`},
	{"a reference to a word", "A: {ref: text}", `w.yaml:1:10: A.ref: "text" is built in: write it without ref`},
	{"a reference that is no text", "A: {ref: [B]}", `w.yaml:1:10: A.ref: ref must be the name of a type, not a list`},
	{"itself", "T: {record: {next: option<T>, prev: T}}", `w.yaml:1:1: T: recursive type "T": a value would have no end, so let it hold a key of the other`},
	{"each other", "A: list<B>\nB: {variant: {X: C}}\nC: {map: {key: text, value: A}}", `w.yaml:1:1: A: recursive type "A": a value would have no end, so let it hold a key of the other`},
	{"its own name", "A: A", `w.yaml:1:1: A: recursive type "A": a value would have no end, so let it hold a key of the other`},
	{"two that are recursive", "A: list<A>\nB: {record: {a: A, b: B}}", `w.yaml:1:1: A: recursive type "A": a value would have no end, so let it hold a key of the other
w.yaml:2:1: B: recursive type "B": a value would have no end, so let it hold a key of the other`},
	{"keys of maps", "A: {map: {key: time, value: int}}\nB: map<list<int>,int>\nC: {list: {map: {key: D, value: int}}}\nD: option<text>",
		`w.yaml:1:1: A: map keys must be int, nat, text, uuid or hash, not time
w.yaml:2:1: B: map keys must be int, nat, text, uuid or hash, not list
w.yaml:3:11: C.list: map keys must be int, nat, text, uuid or hash, not option`},
	{"parts of a map", "A: {map: {ky: int, value: int}}\nB: {map: {key: int}}\nC: {map: text}\nD: {map: {key: int, value: int, other: int}}",
		`w.yaml:1:11: A.map.ky: unknown key "ky" (did you mean "key"?)
w.yaml:2:10: B.map.value: value is missing
w.yaml:3:10: C.map: map must be {key: K, value: V}, not a string: "text"
w.yaml:4:33: D.map.other: unknown key "other"`},
	{"a built-in name", "text: {record: {}}\nsys/EffectStreamFrame@1: int", `w.yaml:1:1: text: type "text" is built in: give it another name
w.yaml:2:1: ["sys/EffectStreamFrame@1"]: type "sys/EffectStreamFrame@1" is built in: give it another name`},
	{"names", "a b: int\nc<d: int\n$tag: int\n'': int\n" + strings.Repeat("n", 129) + ": int", `w.yaml:1:1: ["a b"]: invalid type name "a b": a name has no spaces and none of [ ] # < > ,
w.yaml:2:1: ["c<d"]: invalid type name "c<d": a name has no spaces and none of [ ] # < > ,
w.yaml:3:1: ["$tag"]: invalid type name "$tag": a name does not begin with $
w.yaml:4:1: [""]: invalid type name "": a name has no spaces and none of [ ] # < > ,
w.yaml:5:1: nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn: invalid type name "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…": a name has at most 128 bytes, not 129: "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"`},
	{"a long name", strings.Repeat("n", 129) + ": int", `w.yaml:1:1: nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn: invalid type name "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…": a name has at most 128 bytes, not 129: "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"`},
	{"names of arms", "A: {variant: {$tag: int, a b: int}}", `w.yaml:1:15: A.variant["$tag"]: invalid name of an arm "$tag": a name does not begin with $
w.yaml:1:26: A.variant["a b"]: invalid name of an arm "a b": a name has no spaces and none of [ ] # < > ,`},
	{"a field without name", "A: {record: {'': int}}", `w.yaml:1:14: A.record[""]: a field needs a name`},
	{"no arm", "A: {variant: {}}", `w.yaml:1:14: A.variant: a variant needs an arm`},
	{"fields that are no mapping", "A: {record: [a]}\nB: {variant: text}", `w.yaml:1:13: A.record: record must be a mapping from names to types, not a list
w.yaml:2:14: B.variant: variant must be a mapping from names to types, not a string: "text"`},
	{"no type", "A: 5\nB:\nC: []\nD: {}", `w.yaml:1:4: A: must be a type such as text, list<text> or {record: {name: text}}, not an integer
w.yaml:2:3: B: must be a type such as text, list<text> or {record: {name: text}}, not null
w.yaml:3:4: C: must be a type such as text, list<text> or {record: {name: text}}, not a list
w.yaml:4:4: D: the type is missing: write text, list<text> or {record: {name: text}}, for example`},
	{"two keys", "A: {list: int, optional: true}\nB: {recrod: {}, x: 1}\nC: {A: {}}", `w.yaml:1:16: A.optional: a type has one key: unexpected "optional" beside list
w.yaml:2:5: B.recrod: unknown type "recrod" (did you mean "record"?)
w.yaml:2:17: B.x: unknown type "x"
w.yaml:3:5: C.A: unknown form of a type "A" (did you mean "{ref: A}"?)`},
	{"parts of what has none", "A: {int: {min: 0}}\nB: {text: null}", "w.yaml:1:10: A.int: int has no parts: write int or {int: {}}\nw.yaml:2:11: B.text: text has no parts: write text or {text: {}}"},
	{"words alone", "A: list\nB: map\nC: record\nD: option", `w.yaml:1:4: A: "list" has a part: write list<text>
w.yaml:2:4: B: "map" has parts: write map<text, int>
w.yaml:3:4: C: "record" has parts: write {record: {name: text}}
w.yaml:4:4: D: "option" has a part: write option<text>`},
	{"angle brackets", "A: list<text\nB: list<text>>\nC: set<>\nD: map<text>\nE: text<int>\nF: A<int>\nG: lst<int>\nH: ''\nI: '<'\nJ: list<text text>\nK: record<int>",
		`w.yaml:1:4: A: list needs its closing >: "list<text"
w.yaml:2:4: B: unexpected ">" after the type: "list<text>>"
w.yaml:3:4: C: a type is missing, found ">": "set<>"
w.yaml:4:4: D: map has a key and a value: write map<text, int>, found ">": "map<text>"
w.yaml:5:4: E: "text" has nothing in angle brackets: only list, set, option and map have: "text<int>"
w.yaml:6:4: F: "A" has nothing in angle brackets: only list, set, option and map have: "A<int>"
w.yaml:7:4: G: unknown type "lst" (did you mean "list"?)
w.yaml:8:4: H: a type is missing
w.yaml:9:4: I: a type is missing, found "<"
w.yaml:10:4: J: list needs its closing >, found "text>": "list<text text>"
w.yaml:11:4: K: "record" has nothing in angle brackets: only list, set, option and map have: "record<int>"`},
	{"two in one text", "A: map<Kee, Vau>\nKey: int\nVal: int", `w.yaml:1:4: A: unknown type "Kee" (did you mean "Key"?)
w.yaml:1:4: A: unknown type "Vau" (did you mean "Val"?)`},
	{"system types elsewhere", "A: sys/EffectStreamFrame@1\nB: list<sys/EffectStreamFrame@1>\nC: {record: {f: {ref: sys/EffectStreamFrame@1}}}",
		`w.yaml:1:4: A: "sys/EffectStreamFrame@1" can only be the type of an arm of a variant
w.yaml:2:4: B: "sys/EffectStreamFrame@1" can only be the type of an arm of a variant: "list<sys/EffectStreamFrame@1>"
w.yaml:3:17: C.record.f: "sys/EffectStreamFrame@1" can only be the type of an arm of a variant`},
	{"depth of a text", "A: " + strings.Repeat("list<", 64) + "int" + strings.Repeat(">", 64), `w.yaml:1:4: A: types nested deeper than 64 levels`},
	{"depth of mappings", "A: " + strings.Repeat("{list: ", 64) + "int" + strings.Repeat("}", 64), `w.yaml:1:1: A: types nested deeper than 64 levels`},
	{"depth of references", chain(64) + "Last: list<T63>", `w.yaml:65:1: Last: types nested deeper than 64 levels`},
}

// chain declares n types, each a list of the one before.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("T0: int\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "T%d: list<T%d>\n", i, i-1)
	}
	return b.String()
}

func TestEachFaultOfATypeIsNamedWithItsPlace(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			ts, faults := schema.Read(node(t, c.text))
			require.EqualError(t, faults.Err(), c.want)
			for _, name := range ts.Names() {
				require.NotNil(t, ts.Lookup(name), "what is declared can be looked up")
			}
		})
	}
}

func TestAllFaultsAreFoundAtOnce(t *testing.T) {
	_, faults := schema.Read(node(t, "A: {record: {a: txt, b: {map: {key: bool, value: lst<int>}}, c: B}}\nB: {variant: {X: A, Y: 5}}\n"))
	require.EqualError(t, faults.Err(), `w.yaml:1:1: A: recursive type "A": a value would have no end, so let it hold a key of the other
w.yaml:1:17: A.record.a: unknown type "txt" (did you mean "text"?)
w.yaml:1:25: A.record.b: map keys must be int, nat, text, uuid or hash, not bool
w.yaml:1:50: A.record.b.map.value: unknown type "lst" (did you mean "list"?)
w.yaml:2:24: B.variant.Y: must be a type such as text, list<text> or {record: {name: text}}, not an integer`)
}

// The use of a refused type is no second fault.
func TestTheUseOfARefusedTypeIsNoFault(t *testing.T) {
	ts, faults := schema.Read(node(t, "A: txt\nB: {record: {b: B}}\n"))
	require.Len(t, faults, 2)
	for _, text := range []string{"A", "list<B>", "{map: {key: A, value: B}}"} {
		_, faults := ts.ReadType(node(t, text))
		require.Empty(t, faults, "%s", text)
	}
	require.Equal(t, schema.Invalid, ts.Lookup("A").Kind)
	_, err := ts.Lookup("A").Normalize(int64(1))
	require.EqualError(t, err, "has a type that was refused")
	bad, faults := ts.ReadType(node(t, "[C]"))
	require.Len(t, faults, 1)
	require.Equal(t, schema.Invalid, bad.Kind)
}

func TestARecursiveTypeIsRefusedOnce(t *testing.T) {
	_, faults := schema.Read(node(t, "T: {record: {a: T, b: list<T>, c: U}}\nU: set<T>\n"))
	require.Len(t, faults, 1)
}

func TestTheDeepestTypeIsRead(t *testing.T) {
	ts := types(t, chain(64)+"Same: Other\nOther: T63\n") // other names add no level
	v := any(int64(7))
	for range 63 {
		v = []any{v}
	}
	n, err := ts.Lookup("T63").Normalize(v)
	require.NoError(t, err)
	require.Equal(t, v, n)
	typ(t, ts, strings.Repeat("list<", 63)+"int"+strings.Repeat(">", 63))
}

func TestNamesAreJudgedInOnePlace(t *testing.T) {
	for _, good := range []string{"order", "com.acme/order@1", "a-b_c", "é", "a<b", strings.Repeat("n", 128)} {
		require.NoError(t, schema.ValidName(good))
	}
	for _, bad := range []string{"", "a b", "a[b", "a]", "#", "a\u00a0b"} {
		require.EqualError(t, schema.ValidName(bad), document.Quote(bad)+": a name has no spaces and none of [ ] #")
	}
	for bad, reason := range map[string]string{
		"\x00": "remove the character U+0000, which cannot be seen", "\xff": "a name is written in UTF-8",
		"a\u202eb": "remove the character U+202E, which cannot be seen",
	} {
		require.EqualError(t, schema.ValidName(bad), document.Quote(bad)+": "+reason)
	}
	require.ErrorContains(t, schema.ValidName(strings.Repeat("n", 129)), "a name has at most 128 bytes, not 129")
}
