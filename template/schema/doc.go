// Package schema has the types of a world's values: their reader, their normal form, and the normal form of their values.
//
//	types:
//	  Order: {record: {id: text, items: list<Item>, memo: option<text>, tags: set<text>}}
//	  Item: {record: {sku: text, cents: nat}}
//
//	document ──Read──▶ Types ──Lookup, ReadType──▶ Type ──Normalize──▶ a value in normal form, or a Fault with its pointer
//	         ◀─Document─                               ──At──▶ the type of a field
//
// # Types
//
// A type is one of
//
//	bool int nat text bytes time duration hash uuid dec128 unit
//	{record: {f: T}}   {variant: {Arm: T}}   {list: T}   {set: T}   {option: T}   {map: {key: T, value: T}}
//	Name   {ref: Name}   list<T>   set<T>   option<T>   map<K, V>   {int: {}}
//
// where the last line has other spellings. A type does not contain itself, and nests at most DepthMax levels. The keys of a
// map are int, nat, text, uuid or hash. The names of ReceiptType, RejectedType and FrameType are declared in every document;
// they stand only in the arms of a variant.
//
// # Normal form of values
//
// Equal values have one normal form, and so one encoding and one hash:
//
//	bool text unit   as they are; unit is null
//	int nat          integers of 64 bits with their sign; a nat is at least 0
//	bytes            base64 (RFC 4648), padded
//	time             RFC 3339 in UTC, with as few digits of a second as it has, at most nine
//	duration         as package duration writes it: P1DT2H30M0.5S
//	hash             sha256: and 64 digits in lower case; no other spelling is read
//	uuid             in lower case
//	dec128           without exponent, leading and trailing zeros, as -12.5; at most 34 digits
//	record           an object with exactly its fields; an option that was left out is null
//	variant          {$tag: Arm, $value: V}, read also as {Arm: V}
//	set              a list in the order of the encodings of its elements, each once
//	map              an object; int and nat keys in decimal
//	option           null or a value. An option of an option has the values of the option
//
// # Contracts
//
// Types are immutable once they are read, and safe for concurrent use. Normalize never changes its argument, and returns it
// without a copy if it is in normal form. Time is linear in the size of the value, and n log n for a set; each set around a
// value orders it once more. No function expands references: time and memory are bounded by the document and the value,
// however often one type occurs in others.
package schema
