package value_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/sluiceflow/sluice/template/value"
)

// FuzzDecode: for any bytes, Decode returns an error or a Value that encodes to one form.
func FuzzDecode(f *testing.F) {
	for _, v := range []any{nil, 1, -1.5, "é", []any{1, "a", nil}, map[string]any{"a": map[string]any{"b": []any{true}}}} {
		data, err := value.Encode(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0xfb, 0x40, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		requireSameDecoded(t, data)
		v, err := value.Decode(data)
		if err != nil {
			return
		}
		requireModel(t, v)
		canonical, err := value.Encode(v)
		if err != nil {
			t.Fatalf("a decoded value does not encode: %v", err)
		}
		again, err := value.Decode(canonical)
		if err != nil || !reflect.DeepEqual(v, again) {
			t.Fatalf("Decode(Encode(%v)) = %v, %v", v, again, err)
		}
		if size, err := value.Size(v, len(canonical)+9*len(canonical)); err != nil || size < len(canonical) || size > 3*len(canonical) {
			t.Fatalf("Size(%v) = %d, %v: it encodes to %d bytes", v, size, err, len(canonical))
		}
		if len(canonical) > 2*len(data) { // a whole float takes less room than its integer
			t.Fatalf("the canonical form is too long: %x, %x", canonical, data)
		}
	})
}

// FuzzJSON: a parsed value is of the model, and its JSON is parsed to the same.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"a":[1,2.5,-0,1e3,1E-7],"b":"\u00e9\ud800","":null}`, `12345678901234567890`, `1e19`, `[[[[]]]]`, "\"\xff\""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		requireSameParsed(t, text)
		v, err := value.ParseJSON(text)
		if err != nil {
			return
		}
		requireModel(t, v)
		out, err := value.JSON(v)
		if err != nil {
			t.Fatal(err)
		}
		again, err := value.ParseJSON(out)
		if err != nil || !reflect.DeepEqual(v, again) {
			t.Fatalf("%s read again as %v, %v", out, again, err)
		}
	})
}

// FuzzPointer: a pointer that parses prints as written, and looking it up never panics.
func FuzzPointer(f *testing.F) {
	for _, text := range []string{"", "/", "/a/0/b~1c", "/~01", "/list/-", "/list/00", "a", "/~"} {
		f.Add(text)
	}
	doc := map[string]any{"": int64(1), "a": []any{map[string]any{"b/c": nil}}, "list": []any{"x"}}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := value.ParsePointer(text)
		if err != nil {
			return
		}
		if p.String() != text {
			t.Fatalf("%q prints as %q", text, p)
		}
		if _, err := p.Lookup(doc); err != nil {
			var missing *value.MissingError
			if !errors.As(err, &missing) || missing.Error() == "" {
				t.Fatalf("%v", err)
			}
		}
	})
}
