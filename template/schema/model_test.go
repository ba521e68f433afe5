package schema_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// model defines normal forms once more, in the simplest way: it interprets the documents of types.
type model map[string]any // declarations in normal form

// normal returns the normal form of v, or false.
func (m model) normal(typ any, v any) (any, bool) {
	for word, of := range typ.(map[string]any) {
		parts, _ := of.(map[string]any)
		switch word {
		case "ref":
			if m[of.(string)] == nil { // a type of the system
				return nil, false
			}
			return m.normal(m[of.(string)], v)
		case "option":
			if v == nil {
				return nil, true
			}
			return m.normal(of, v)
		case "record":
			return m.record(parts, v)
		case "variant":
			return m.variant(parts, v)
		case "map":
			return m.dictionary(parts, v)
		case "list", "set":
			return m.list(word, of, v)
		}
		return plain(word, v)
	}
	panic("no type")
}

func (m model) isOption(typ any) bool {
	t, _ := typ.(map[string]any)
	if name, ok := t["ref"]; ok {
		return m.isOption(m[name.(string)])
	}
	return t["option"] != nil
}

func (m model) record(fields map[string]any, v any) (any, bool) {
	object, ok := v.(map[string]any)
	out := map[string]any{}
	for name, typ := range fields {
		item, has := object[name]
		if !has && !m.isOption(typ) {
			return nil, false
		}
		n, fits := m.normal(typ, item)
		ok = ok && fits
		out[name] = n
	}
	for name := range object {
		ok = ok && fields[name] != nil
	}
	return out, ok
}

func (m model) variant(arms map[string]any, v any) (any, bool) {
	object, _ := v.(map[string]any)
	for name, arm := range arms {
		if item, ok := object[name]; ok && len(object) == 1 {
			n, ok := m.normal(arm, item)
			return map[string]any{"$tag": name, "$value": n}, ok
		}
		if object["$tag"] == name {
			n, ok := m.record(map[string]any{"$tag": map[string]any{"text": nil}, "$value": arm}, object)
			return n, ok
		}
	}
	return nil, false
}

func (m model) list(word string, elem any, v any) (any, bool) {
	list, ok := v.([]any)
	out := []any{}
	for _, item := range list {
		n, fits := m.normal(elem, item)
		ok = ok && fits
		out = append(out, n)
	}
	if word == "list" || !ok {
		return out, ok
	}
	byEncoding := map[string]any{}
	for _, item := range out {
		encoding, _ := value.Encode(item)
		byEncoding[string(encoding)] = item
	}
	out = out[:0]
	for _, encoding := range slices.Sorted(maps.Keys(byEncoding)) {
		out = append(out, byEncoding[encoding])
	}
	return out, true
}

func (m model) dictionary(parts map[string]any, v any) (any, bool) {
	object, ok := v.(map[string]any)
	out := map[string]any{}
	for key, item := range object {
		n, fits := m.normal(parts["value"], item)
		name, named := m.key(parts["key"], key)
		ok = ok && fits && named
		out[name] = n
	}
	return out, ok && len(out) == len(object)
}

func (m model) key(typ any, key string) (string, bool) {
	for word, of := range typ.(map[string]any) {
		switch word {
		case "ref":
			return m.key(m[of.(string)], key)
		case "int", "nat":
			n, ok := new(big.Int).SetString(key, 10)
			if !ok || !n.IsInt64() || word == "nat" && n.Sign() < 0 {
				return "", false
			}
			return n.String(), true
		}
		n, ok := plain(word, key)
		text, _ := n.(string)
		return text, ok
	}
	panic("no type")
}

var (
	timePattern    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
	decimalPattern = regexp.MustCompile(`^-?\d+(\.\d+)?([eE][+-]?\d{1,6})?$`)
	hashPattern    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	uuidPattern    = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
)

// plain is normal for the types without parts.
func plain(word string, v any) (any, bool) {
	n, isInt := v.(int64)
	text, isText := v.(string)
	switch word {
	case "bool":
		return v, v == true || v == false
	case "int":
		return v, isInt
	case "nat":
		return v, isInt && n >= 0
	case "unit":
		return nil, v == nil
	case "text":
		return v, isText
	case "bytes":
		data, err := base64.StdEncoding.Strict().DecodeString(text)
		return v, isText && err == nil && base64.StdEncoding.EncodeToString(data) == text
	case "time":
		t, err := time.Parse(time.RFC3339, text)
		out := t.UTC().Format(time.RFC3339Nano)
		return out, isText && err == nil && timePattern.MatchString(text) && timePattern.MatchString(out)
	case "duration":
		d, err := duration.Parse(text)
		return duration.Format(d), isText && err == nil
	case "hash":
		return v, isText && hashPattern.MatchString(text)
	case "uuid":
		return strings.ToLower(text), isText && uuidPattern.MatchString(strings.ToLower(text))
	case "dec128":
		if !isText || !decimalPattern.MatchString(text) {
			return nil, false
		}
		r, ok := new(big.Rat).SetString(text)
		places, _ := r.FloatPrec()
		out := r.FloatString(places)
		digits := strings.TrimLeft(strings.Replace(strings.Trim(out, "-"), ".", "", 1), "0")
		return out, ok && places <= 34 && len(digits) <= 34 && len(strings.Split(strings.Trim(out, "-"), ".")[0]) <= 34
	}
	panic(word)
}

// samples are texts of the types that have their own, good and bad, and the keys of maps.
var samples = map[string][]string{
	"bytes":    {"", "AAECAw==", "+/8=", "+/9=", "AAE", "A===", "=", "AA\n==", "QUJD", "____"},
	"time":     {"2027-01-31T12:00:00Z", "2027-01-31T13:00:00.10+01:00", "2024-02-29T00:00:00-23:59", "2023-02-29T00:00:00Z", "0000-01-01T00:00:00+01:00", "2027-01-31T24:00:00Z", "2027-01-31T12:00:60Z", "2027-01-31T12:00:00.Z", "2027-01-31T12:00:00,1Z", "2027-01-31t12:00:00z", "2027-01-31T12:00:00.1234567890Z", "2027-01-31T12:00:00+24:00"},
	"duration": {"PT90S", "PT1M30S", "P1W", "PT0.5M", "PT0S", "P1M", "PT9223372036.854775S", "P106751DT23H47M16.854775S", "P106751DT23H47M16.854775807S", "PT9223372036.85477S"},
	"hash":     {"sha256:" + zeros, "sha256:" + zeros[1:] + "f", "sha256:" + zeros[1:] + "F", "sha256:" + zeros[1:], zeros},
	"uuid":     {"F81D4FAE-7dec-11d0-A765-00A0C91E6BF6", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "00000000-0000-0000-0000-000000000000", "{f81d4fae-7dec-11d0-a765-00a0c91e6bf6}", "f81d4fae-7dec-11d0-a765_00a0c91e6bf6"},
	"dec128":   {"0", "-0", "00.10", "1.50", "-12.5", "15e-1", "1E2", "1e33", "1e34", "1e-34", "1e-35", "0e999", ".5", "5.", "+1", "0x1", "1_0", "9999999999999999999999999999999999", "99999999999999999999999999999999999", "12345678901234567.12345678901234567"},
	"int":      {"7", "07", "-7", "-0", "+7", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1_0", "0x1", "", " 1", "7.0"},
	"nat":      {"7", "07", "-7", "-0", "0", "x"},
	"text":     {"", "a", "b", "aa", "é", "a/b~"},
}

// names of fields and arms; few, so that values have the same.
var fieldNames = []string{"a", "b", "bb", "a/b", "é"}

// drawType draws a type in any spelling, and returns it with its normal form. It refers to the first n of T0, T1, ….
func drawType(t *rapid.T, depth, n int) (spelling, normal any) {
	if kind := rapid.IntRange(0, 9).Draw(t, "kind"); depth == 0 || kind < 3 {
		return drawLeaf(t, n)
	} else if kind < 7 {
		word := rapid.SampledFrom([]string{"list", "set", "option", "map"}).Draw(t, "word")
		of, normalOf := drawType(t, depth-1, n)
		text, isText := of.(string)
		isText = isText && rapid.Bool().Draw(t, "as text")
		if word == "map" {
			key := rapid.SampledFrom([]string{"int", "nat", "text", "uuid", "hash"}).Draw(t, "key")
			normal := map[string]any{"map": map[string]any{"key": map[string]any{key: map[string]any{}}, "value": normalOf}}
			if isText {
				return "map<" + key + ", " + text + ">", normal
			}
			return map[string]any{"map": map[string]any{"key": key, "value": of}}, normal
		}
		if isText {
			return word + "<" + text + ">", map[string]any{word: normalOf}
		}
		return map[string]any{word: of}, map[string]any{word: normalOf}
	}
	word := rapid.SampledFrom([]string{"record", "record", "variant"}).Draw(t, "word")
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(fieldNames), map[string]int{"variant": 1}[word], 4, rapid.ID[string]).Draw(t, "names")
	fields, normals := map[string]any{}, map[string]any{}
	for _, name := range names {
		fields[name], normals[name] = drawType(t, depth-1, n)
	}
	return map[string]any{word: fields}, map[string]any{word: normals}
}

func drawLeaf(t *rapid.T, n int) (spelling, normal any) {
	if n > 0 && rapid.Bool().Draw(t, "refer") {
		name := fmt.Sprint("T", rapid.IntRange(0, n-1).Draw(t, "name"))
		normal = map[string]any{"ref": name}
		return rapid.SampledFrom([]any{name, normal}).Draw(t, "spelling"), normal
	}
	word := rapid.SampledFrom([]string{"bool", "int", "nat", "text", "bytes", "time", "duration", "hash", "uuid", "dec128", "unit"}).Draw(t, "word")
	normal = map[string]any{word: map[string]any{}}
	return rapid.SampledFrom([]any{word, normal}).Draw(t, "spelling"), normal
}

// drawTypes draws declarations T0, T1, …, each of which may refer to those before.
func drawTypes(t *rapid.T) (spelling map[string]any, normal model) {
	spelling, normal = map[string]any{}, model{}
	for i := range rapid.IntRange(1, 4).Draw(t, "types") {
		name := fmt.Sprint("T", i)
		spelling[name], normal[name] = drawType(t, 3, i)
	}
	return spelling, normal
}

// drawValue draws a value that is often of a type.
func (m model) drawValue(t *rapid.T, typ any) any {
	if rapid.IntRange(0, 24).Draw(t, "other") == 0 {
		return rapid.SampledFrom([]any{nil, true, int64(-1), int64(7), 1.5, 1e19, "", "a", []any{}, []any{int64(1)}, map[string]any{}, map[string]any{"a": nil}}).Draw(t, "any")
	}
	for word, of := range typ.(map[string]any) {
		parts, _ := of.(map[string]any)
		switch word {
		case "ref":
			return m.drawValue(t, m[of.(string)])
		case "option":
			if rapid.Bool().Draw(t, "null") {
				return nil
			}
			return m.drawValue(t, of)
		case "record":
			return m.drawRecord(t, parts)
		case "variant":
			arm := rapid.SampledFrom(slices.Sorted(maps.Keys(parts))).Draw(t, "arm")
			if rapid.Bool().Draw(t, "short") {
				return map[string]any{arm: m.drawValue(t, parts[arm])}
			}
			return map[string]any{"$tag": arm, "$value": m.drawValue(t, parts[arm])}
		case "list", "set":
			return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return m.drawValue(t, of) }), 0, 4).Draw(t, "list")
		case "map":
			key := slices.Collect(maps.Keys(parts["key"].(map[string]any)))[0]
			return rapid.MapOfN(rapid.SampledFrom(samples[key]), rapid.Custom(func(t *rapid.T) any { return m.drawValue(t, parts["value"]) }), 0, 3).Draw(t, "map")
		case "bool":
			return rapid.Bool().Draw(t, "bool")
		case "int":
			return rapid.OneOf(rapid.Int64Range(-300, 300), rapid.Int64()).Draw(t, "int")
		case "nat":
			return rapid.Int64Range(-1, 300).Draw(t, "nat")
		case "unit":
			return nil
		}
		return rapid.SampledFrom(samples[word]).Draw(t, "text")
	}
	panic("no type")
}

func (m model) drawRecord(t *rapid.T, fields map[string]any) any {
	object := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if m.isOption(fields[name]) && rapid.Bool().Draw(t, "left out") || rapid.IntRange(0, 49).Draw(t, "missing") == 0 {
			continue
		}
		object[name] = m.drawValue(t, fields[name])
	}
	if rapid.IntRange(0, 49).Draw(t, "extra") == 0 {
		object[rapid.SampledFrom(fieldNames).Draw(t, "name")] = nil
	}
	return object
}

// reread reads a document that is a value.
func reread(t require.TestingT, v any) *document.Node {
	text, err := value.JSON(v)
	require.NoError(t, err)
	nodes, err := document.Parse("w.json", text, document.Limits{})
	require.NoError(t, err)
	return nodes[0]
}

func TestWhatIsWrittenOfATypeReadsAsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spelling, normal := drawTypes(t)
		ts, faults := schema.Read(reread(t, spelling))
		require.NoError(t, faults.Err())
		require.Equal(t, map[string]any(normal), ts.Document())
		again, faults := schema.Read(reread(t, ts.Document()))
		require.NoError(t, faults.Err())
		require.Equal(t, ts.Document(), again.Document())
		for _, name := range ts.Names() {
			require.True(t, ts.Lookup(name).Equal(again.Lookup(name)))
		}
		inline, normalInline := drawType(t, 3, len(normal))
		one, faults := ts.ReadType(reread(t, inline))
		require.NoError(t, faults.Err())
		require.Equal(t, normalInline, one.Document())
		other, faults := again.ReadType(reread(t, one.Document()))
		require.NoError(t, faults.Err())
		require.True(t, one.Equal(other))
	})
}

func TestNormalFormsAreThoseOfTheModel(t *testing.T) {
	fits, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		spelling, normal := drawTypes(t)
		ts, faults := schema.Read(reread(t, spelling))
		require.NoError(t, faults.Err())
		name := fmt.Sprint("T", len(normal)-1)
		for range 5 {
			v := normal.drawValue(t, map[string]any{"ref": name})
			if requireNormal(t, ts.Lookup(name), v, normal, map[string]any{"ref": name}) {
				fits++
			} else {
				refused++
			}
		}
	})
	require.Positive(t, fits)
	require.Positive(t, refused)
}

// requireNormal compares the normal form of a value with that of the model, and reports whether it has one.
func requireNormal(t require.TestingT, typ *schema.Type, v any, m model, doc any) bool {
	before, err := value.Encode(v)
	require.NoError(t, err)
	want, fits := m.normal(doc, v)
	n, err := typ.Normalize(v)
	after, _ := value.Encode(v)
	require.True(t, bytes.Equal(before, after), "Normalize has changed its argument")
	if !fits {
		require.Error(t, err, "%v of %v", v, m)
		requirePlace(t, v, err)
		_, again := typ.Normalize(v)
		require.EqualError(t, again, err.Error(), "the same fault each time")
		return false
	}
	require.NoError(t, err, "%v of %v", v, m)
	require.Equal(t, want, n, "%v of %v", v, m)
	second, err := typ.Normalize(n)
	require.NoError(t, err)
	require.Equal(t, n, second, "the normal form is its own")
	return true
}

// requirePlace requires that a fault is in the value, or in an object of it that lacks something.
func requirePlace(t require.TestingT, v any, err error) {
	fault, ok := err.(*schema.Fault)
	require.True(t, ok, "%T", err)
	require.NotEmpty(t, fault.Text)
	p := fault.Pointer
	if strings.HasPrefix(fault.Text, "is missing") {
		parent, err := p[:len(p)-1].Lookup(v)
		require.NoError(t, err)
		require.NotContains(t, parent, p[len(p)-1])
		return
	}
	_, err = p.Lookup(v)
	require.NoError(t, err, "%v", fault)
}
