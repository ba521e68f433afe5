// Package value is the one value model of Sluice: what flows between steps, what expressions compute with and what the
// journal keeps.
//
//	a Go value ──Of──▶ Value ──Encode──▶ canonical CBOR      (Encode(x) == Encode(Of(x)), for every x)
//	           ◀─Convert─    ◀─Decode──
//	                         ──JSON────▶ compact JSON, keys sorted
//	                         ◀─ParseJSON─
//
// # The model
//
// A Value is null, a boolean, a number, a string, a list or an object: the data model of JSON (RFC 8259) with one
// refinement. A number is an int64 when it is whole and fits, and a float64 otherwise, whatever it was written as: 2, 2.0
// and 2e0 are the same int64. So a value is the same before and after it has been stored, sent or printed, and counting
// does not lose digits above 2⁵³.
//
// What encoding/json makes of a Go value is what the model makes of it (tags, Marshalers, times as RFC 3339 text, bytes
// as base64 text, invalid UTF-8 replaced), apart from numbers, which stay exact: an integer beyond int64, NaN and the
// infinities are refused.
//
// # Contracts
//
// Values are shared, not copied: a list or an object that has become part of a Value must not be changed. Convert and
// DecodeInto hand out copies, so a typed consumer may do as it likes. Everything here is deterministic and safe for
// concurrent use; nothing depends on the order in which Go ranges over a map. Depth is bounded by MaxDepth, encoded size
// by MaxSizeBytes, and what is made of a JSON text by NodesMax. Cost is linear in the size of the value unless a comment says otherwise.
package value
