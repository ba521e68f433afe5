package gotypes

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// scalar returns the form of a type without parts. It reports false if the Go type does not fit.
func scalar(t reflect.Type, k schema.Kind) (form, bool) {
	switch own := plain(t); {
	case own == "int" && (k == schema.Int || k == schema.Nat):
		return integer(k), true
	case own == "nat" && (k == schema.Int || k == schema.Nat):
		return unsigned(), true
	case own == "text" && k != schema.Text:
		return text(k)
	case own != k.String():
		return form{}, false
	}
	switch k {
	case schema.Bool:
		return form{
			encode: func(v reflect.Value) (value.Value, error) { return v.Bool(), nil },
			decode: func(v value.Value, into reflect.Value) error {
				b, ok := v.(bool)
				into.SetBool(b)
				return must(ok, "a boolean", v)
			},
		}, true
	case schema.Unit:
		return form{
			encode: func(reflect.Value) (value.Value, error) { return nil, nil },
			decode: func(value.Value, reflect.Value) error { return nil },
		}, true
	case schema.Text:
		return plainText(), true
	case schema.Time:
		return instants(), true
	case schema.Duration:
		return durations(), true
	case schema.Bytes:
		return byteSlices(), true
	case schema.UUID:
		return arrays(writeUUID, readUUID), true
	case schema.Hash:
		return arrays(writeHash, readHash), true
	}
	return form{}, false
}

// must refuses a value of another kind.
func must(ok bool, want string, v value.Value) error {
	if ok {
		return nil
	}
	return fault("must be %s, not %s", want, value.Describe(v))
}

// integer is the form of signed integers.
func integer(k schema.Kind) form {
	return form{
		encode: func(v reflect.Value) (value.Value, error) {
			if v.Int() < 0 && k == schema.Nat {
				return nil, fault("must be at least 0")
			}
			return v.Int(), nil
		},
		decode: func(v value.Value, into reflect.Value) error {
			n, ok := v.(int64)
			if ok && into.OverflowInt(n) {
				return fault("%d does not fit %s", n, into.Type())
			}
			into.SetInt(n)
			return must(ok, "an integer", v)
		},
	}
}

// unsigned is the form of unsigned integers.
func unsigned() form {
	return form{
		encode: func(v reflect.Value) (value.Value, error) {
			if v.Uint() > math.MaxInt64 {
				return nil, fault("must be at most %d", int64(math.MaxInt64))
			}
			return int64(v.Uint()), nil
		},
		decode: func(v value.Value, into reflect.Value) error {
			n, ok := v.(int64)
			if ok && (n < 0 || into.OverflowUint(uint64(n))) {
				return fault("%d does not fit %s", n, into.Type())
			}
			into.SetUint(uint64(n))
			return must(ok, "an integer", v)
		},
	}
}

// plainText is the form of strings that are texts.
func plainText() form {
	return form{
		encode: func(v reflect.Value) (value.Value, error) {
			if !utf8.ValidString(v.String()) {
				return nil, fault("is not valid UTF-8")
			}
			return v.String(), nil
		},
		decode: readText,
	}
}

func readText(v value.Value, into reflect.Value) error {
	s, ok := v.(string)
	into.SetString(s)
	return must(ok, "a text", v)
}

// text is the form of strings that are texts of another type. Package schema defines their normal form.
func text(k schema.Kind) (form, bool) {
	switch k {
	case schema.Bytes, schema.Time, schema.Duration, schema.Hash, schema.UUID, schema.Dec128:
	default:
		return form{}, false
	}
	s := &schema.Type{Kind: k}
	return form{
		encode: func(v reflect.Value) (value.Value, error) { return s.Normalize(v.String()) },
		decode: readText,
	}, true
}

func instants() form {
	return form{
		encode: func(v reflect.Value) (value.Value, error) {
			t := v.Interface().(time.Time).UTC()
			if t.Year() < 0 || t.Year() > 9999 {
				return nil, fault("must be in the years 0 to 9999 of UTC, not %d", t.Year())
			}
			return t.Format(time.RFC3339Nano), nil
		},
		decode: func(v value.Value, into reflect.Value) error {
			s, _ := v.(string)
			t, err := time.Parse(time.RFC3339Nano, s)
			if err != nil {
				return must(false, "a time", v)
			}
			into.Set(reflect.ValueOf(t.UTC()))
			return nil
		},
	}
}

func durations() form {
	return form{
		encode: func(v reflect.Value) (value.Value, error) {
			if v.Int() <= 0 {
				return nil, fault("must be more than 0, as durations are: use a pointer for none")
			}
			return duration.Format(time.Duration(v.Int())), nil
		},
		decode: func(v value.Value, into reflect.Value) error {
			s, ok := v.(string)
			d, err := duration.Parse(s)
			if !ok || err != nil {
				return must(false, "a duration", v)
			}
			into.SetInt(int64(d))
			return nil
		},
	}
}

func byteSlices() form {
	return form{
		encode: func(v reflect.Value) (value.Value, error) { return base64.StdEncoding.EncodeToString(v.Bytes()), nil },
		decode: func(v value.Value, into reflect.Value) error {
			s, ok := v.(string)
			data, err := base64.StdEncoding.DecodeString(s)
			if !ok || err != nil {
				return must(false, "base64", v)
			}
			if len(data) > 0 {
				into.SetBytes(data)
			}
			return nil
		},
	}
}

// arrays is the form of arrays of bytes, which are texts in values.
func arrays(write func([]byte) string, read func(string) ([]byte, error)) form {
	return form{
		encode: func(v reflect.Value) (value.Value, error) {
			data := make([]byte, v.Len())
			for i := range data {
				data[i] = byte(v.Index(i).Uint())
			}
			return write(data), nil
		},
		decode: func(v value.Value, into reflect.Value) error {
			s, _ := v.(string)
			data, err := read(s)
			if err != nil || len(data) != into.Len() {
				return must(false, "in normal form", v)
			}
			for i, b := range data {
				into.Index(i).SetUint(uint64(b))
			}
			return nil
		},
	}
}

const hashPrefix = "sha256:"

func writeHash(data []byte) string { return hashPrefix + hex.EncodeToString(data) }

func readHash(s string) ([]byte, error) { return hex.DecodeString(s[min(len(s), len(hashPrefix)):]) }

func writeUUID(data []byte) string {
	s := hex.EncodeToString(data)
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

func readUUID(s string) ([]byte, error) {
	if len(s) != 36 {
		return nil, hex.ErrLength
	}
	return hex.DecodeString(s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:])
}
