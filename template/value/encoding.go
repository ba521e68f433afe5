package value

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// Encode returns the canonical encoding of v: CBOR under the core deterministic requirements of RFC 8949, section 4.2.1
// (shortest forms, keys sorted bytewise, definite lengths). Equal values have equal encodings, whatever Go types they came
// from: Encode(x) == Encode(Of(x)). It refuses values that Of refuses, and encodings above MaxSizeBytes.
func Encode(v any) ([]byte, error) { return Append(nil, v) }

// Append appends Encode(v) to dst and returns the extended slice; if it fails, dst is unchanged up to its length.
func Append(dst []byte, v any) ([]byte, error) {
	w := writer{b: dst, end: len(dst) + MaxSizeBytes}
	if w.value(v, 0) && len(w.b) <= w.end {
		return w.b, nil
	}
	data, err := encode(v)
	return append(dst, data...), err
}

// encode is Encode for any value, also of those that must be converted or refused.
func encode(v any) ([]byte, error) {
	if r, ok := v.(Raw); ok {
		return reencode(r)
	}
	v, err := Of(v)
	if err != nil {
		return nil, err
	}
	data, err := encMode.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode value: %w", err)
	}
	if len(data) > MaxSizeBytes {
		return nil, fmt.Errorf("%w: encoding of %d bytes, at most %d are allowed", ErrTooLarge, len(data), MaxSizeBytes)
	}
	return data, nil
}

// reencode does not assume that a Raw is canonical: it may come from another program.
func reencode(r Raw) ([]byte, error) {
	v, err := Decode(r)
	if err != nil {
		return nil, err
	}
	return Encode(v)
}

// Decode returns the value encoded in data. It accepts any well-formed CBOR of the model, canonical or not, and refuses
// everything else: trailing bytes, duplicate keys, keys that are not text, tags, byte strings, indefinite lengths, floats
// that are not finite, integers beyond int64, invalid UTF-8, more than MaxSizeBytes or MaxDepth. Memory stays proportional
// to len(data). The result shares no memory with data.
func Decode(data []byte) (Value, error) {
	if len(data) > MaxSizeBytes {
		return nil, fmt.Errorf("%w: encoding of %d bytes, at most %d are allowed", ErrTooLarge, len(data), MaxSizeBytes)
	}
	r := reader{data}
	if v, ok := r.value(0); ok && len(r.b) == 0 {
		return v, nil
	}
	return decode(data)
}

// decode is Decode for any data, also for a value in a rare form, or one to refuse.
func decode(data []byte) (Value, error) {
	var v any
	if err := decMode.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("decode value: %w", err)
	}
	w := walk{from: encoded, left: MaxSizeBytes}
	v, _, err := w.visit(v, 0)
	if err != nil {
		return nil, fmt.Errorf("decoded value %w", err)
	}
	return v, nil
}

// Hash returns the SHA-256 of the encoding of v as 64 lower-case hexadecimal digits: the identity of a value.
func Hash(v any) (string, error) {
	data, err := Encode(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// The modes are part of the format: a change of either changes stored data.
var (
	encMode = mustEncMode()
	decMode = mustDecMode()
)

// mustEncMode returns the core deterministic encoding of section 4.2.1 of RFC 8949.
func mustEncMode() cbor.EncMode {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err)
	}
	return mode
}

// mustDecMode refuses, by options, most data outside the model; the walk after it refuses the rest.
func mustDecMode() cbor.DecMode {
	// The defaults read `undefined` as null; the model has no such thing.
	simple, err := cbor.NewSimpleValueRegistryFromDefaults(cbor.WithRejectedSimpleValue(23))
	if err != nil {
		panic(err)
	}
	mode, err := cbor.DecOptions{
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		IndefLength:      cbor.IndefLengthForbidden,
		TagsMd:           cbor.TagsForbidden,
		IntDec:           cbor.IntDecConvertSignedOrFail,
		NaN:              cbor.NaNDecodeForbidden,
		Inf:              cbor.InfDecodeForbidden,
		UTF8:             cbor.UTF8RejectInvalid,
		DefaultMapType:   mapType,
		SimpleValues:     simple,
		MaxNestedLevels:  MaxDepth,
		MaxArrayElements: MaxSizeBytes, // each takes a byte at least, so that the size is the bound
		MaxMapPairs:      MaxSizeBytes,
	}.DecMode()
	if err != nil {
		panic(err)
	}
	return mode
}
