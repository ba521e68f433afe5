// Package value is the value model of Sluice: the values that steps exchange, expressions compute and journals store.
//
//	a Go value ──Of──▶ Value ──Encode──▶ canonical CBOR      (Encode(x) == Encode(Of(x)), for every x)
//	           ◀─Convert─    ◀─Decode──
//	                         ──JSON────▶ compact JSON, keys sorted
//	                         ◀─ParseJSON─
//
// # The model
//
// A Value is null, a boolean, a number, a string, a list or an object: the data model of JSON (RFC 8259) with one
// refinement. A number is an int64 if it is whole and fits, and a float64 otherwise, however it was written: 2, 2.0 and 2e0
// are the same int64. So a value is the same before and after it has been stored, sent or printed, and counting does not
// lose digits above 2⁵³.
//
// A Go value is converted as by encoding/json (tags, Marshalers, times as RFC 3339 text, bytes as base64 text, invalid UTF-8
// replaced), except for numbers, which stay exact: an integer beyond int64, NaN and the infinities are refused.
//
// # Contracts
//
// Values are shared, not copied: a list or an object that has become part of a Value must not be changed. Convert and
// DecodeInto return copies, which a typed consumer may change. All functions are deterministic and safe for concurrent use;
// none depends on the order of Go's maps. MaxDepth bounds depth, MaxSizeBytes the encoded size, and NodesMax the value of a
// JSON text. Cost is linear in the size of the value unless a comment says otherwise.
package value
