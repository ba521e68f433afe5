// Package gotypes converts between Go values and values of the types of package schema, by codecs that are compiled once for each
// pair of types, and derives the latter from the former.
//
//	Go type ──Derive──▶ document of a type, and of the types that it declares ──schema.Read──▶ *schema.Type
//	Go type + *schema.Type ──Compile──▶ *Codec      Encode: Go value ──▶ value in normal form      Decode: the other way
//
// # Types
//
// These Go types fit these types. Derive chooses the first, unless the tag `type:"…"` of a field names another:
//
//	bool                    bool
//	int int8 … int64        int nat
//	uint uint8 … uint64     nat int
//	string                  text bytes time duration hash uuid dec128
//	[]byte                  bytes
//	time.Time               time
//	time.Duration           duration, more than 0
//	[16]byte                uuid
//	[32]byte                hash
//	struct{}                unit
//	*T                      option, null for nil
//	[]T                     list set
//	map[T]struct{}          set
//	map[K]T                 map; K is a string, an integer, [16]byte or [32]byte
//	struct                  record; variant, if all fields are pointers and exactly one is set
//
// A struct with a name is a declared type of that name; a struct without one is written where it is used. The fields of a
// struct have the names of their json tags, or else those of Go; a field with the tag `json:"-"` is left out. Types and fields
// that cannot be converted are refused when the codec is compiled, with the name of the field: interfaces, floats, complex numbers, functions,
// channels, types within themselves, embedded and unexported fields, pointers to pointers.
//
// # Contracts
//
// The result of Encode is in normal form, its error a *schema.Fault with the place. Decode takes values in normal
// form only, and fails only for numbers that their Go type cannot hold. Neither shares memory that can be written with its
// argument. A Codec is immutable and safe for concurrent use.
package gotypes
