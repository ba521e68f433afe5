package fields_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/fields"
)

// parsed returns the node of a value in a document.
func parsed(t *testing.T, text string) *document.Node {
	nodes, err := document.Parse("doc.yaml", []byte("key: "+text), document.Limits{})
	require.NoError(t, err)
	return nodes[0].Get("key")
}

// For each kind of value: the value read, and the error for a value of another kind, which is read as zero.
func TestEachReaderTakesOneKind(t *testing.T) {
	for _, c := range []struct {
		name       string
		read       func(r *fields.Reader, n *document.Node) any
		good       string
		want, zero any
		bad, says  string
	}{
		{"text", func(r *fields.Reader, n *document.Node) any { return r.Text(n) }, "a", "a", "", "1", "key must be a string, not an integer"},
		{"argument", func(r *fields.Reader, n *document.Node) any { return r.Argument(n) }, "5", "5", "", "true", "key must be a string, not a boolean"},
		{"boolean", func(r *fields.Reader, n *document.Node) any { return r.Boolean(n) }, "true", true, false, "yes", "key must be a boolean, not a string"},
		{"count", func(r *fields.Reader, n *document.Node) any { return r.Count(n) }, "3", 3, 0, "0", "key must be at least 1"},
		{"count of a fraction", func(r *fields.Reader, n *document.Node) any { return r.Count(n) }, "1", 1, 0, "1.5", "key must be an integer, not a number"},
		{"number", func(r *fields.Reader, n *document.Node) any { return r.Number(n) }, "0.5", 0.5, 0.0, "a", "key must be a number, not a string"},
		{"duration", func(r *fields.Reader, n *document.Node) any { return r.Duration(n) }, "PT2S", 2 * time.Second, time.Duration(0), "30", `invalid duration "30"`},
		{"instant", func(r *fields.Reader, n *document.Node) any { return r.Instant(n) }, "2027-01-31T13:00:00+01:00",
			time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC), time.Time{}, "today", "key must be a time such as"},
		{"texts", func(r *fields.Reader, n *document.Node) any { return r.Texts(n) }, "[a, b]", []string{"a", "b"}, []string(nil), "a", "key must be a list, not a string"},
		{"arguments", func(r *fields.Reader, n *document.Node) any { return r.Arguments(n) }, "[a, 5]", []string{"a", "5"}, []string(nil), "{}", "key must be a list, not a mapping"},
		{"text map", func(r *fields.Reader, n *document.Node) any { return r.TextMap(n) }, "{a: 1}", map[string]string{"a": "1"}, map[string]string(nil), "[]", "key must be a mapping, not a list"},
		{"list", func(r *fields.Reader, n *document.Node) any { return r.List(n) }, "[1]", []any{int64(1)}, []any(nil), "a", "key must be a list, not a string"},
		{"mapping", func(r *fields.Reader, n *document.Node) any { return r.Mapping(n) }, "{a: b}", map[string]any{"a": "b"}, map[string]any(nil), "1", "key must be a mapping, not an integer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r fields.Reader
			require.Equal(t, c.want, c.read(&r, parsed(t, c.good)))
			require.NoError(t, r.Err())
			n := parsed(t, c.bad)
			require.Equal(t, c.zero, c.read(&r, n))
			require.ErrorContains(t, r.Err(), c.says)
			require.True(t, r.IsRefused(n))
		})
	}
}

func TestAMisspeltKeyIsNotMissingToo(t *testing.T) {
	n := parsed(t, "{nmae: a, x-free: b}")
	var r fields.Reader
	r.Object(n, fields.Map{"name": func(*document.Node) {}, "other": func(*document.Node) {}})
	r.Required(n, "name", "other")
	require.EqualError(t, r.Err(), "doc.yaml:1:6: key.other: other is missing\n"+`doc.yaml:1:7: key.nmae: unknown key "nmae" (did you mean "name"?)`)
	require.Equal(t, map[string]bool{"key.name": true, "key.other": true}, r.Refused())
}

// The value that a reader returns for an absent key is not written.
func TestAnObjectLeavesOutWhatIsZero(t *testing.T) {
	write := func(text string, texts []string, m map[string]string, n int, d time.Duration, at time.Time, v any, list []any, mapping map[string]any) fields.Object {
		o := fields.Object{}
		o.Text("text", text)
		o.Texts("texts", texts)
		o.TextMap("map", m)
		o.Count("count", n)
		o.Duration("duration", d)
		o.Instant("instant", at)
		o.Any("any", v)
		o.List("list", list)
		o.Mapping("mapping", mapping)
		return o
	}
	require.Empty(t, write("", nil, nil, 0, 0, time.Time{}, nil, nil, nil))
	require.Equal(t, fields.Object{
		"text": "a", "texts": []any{"b"}, "map": map[string]any{"c": "d"}, "count": int64(1), "duration": "PT1M", "instant": "1970-01-01T00:00:01Z",
		"any": false, "list": []any{nil}, "mapping": map[string]any{"e": nil},
	}, write("a", []string{"b"}, map[string]string{"c": "d"}, 1, time.Minute, time.Unix(1, 0), false, []any{nil}, map[string]any{"e": nil}))
}
