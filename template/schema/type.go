package schema

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/expr"
)

// Kind is the form of a type.
type Kind uint8

// The kinds of types. Invalid is the kind of a refused type, System the kind of values that a run makes itself, such as
// receipts.
const (
	Invalid Kind = iota
	Bool
	Int
	Nat
	Text
	Bytes
	Time
	Duration
	Hash
	UUID
	Dec128
	Unit
	Record
	Variant
	List
	Set
	Map
	Option
	System
)

// kindNames are the words of documents, by kind.
var kindNames = [...]string{"an invalid type", "bool", "int", "nat", "text", "bytes", "time", "duration", "hash", "uuid", "dec128",
	"unit", "record", "variant", "list", "set", "map", "option", "a type of the system"}

// String returns the word for the kind in documents.
func (k Kind) String() string { return kindNames[k] }

// isPlain reports whether a type of the kind has no parts.
func (k Kind) isPlain() bool { return Bool <= k && k <= Unit }

// isKey reports whether a type of the kind can be the key of a map.
func (k Kind) isKey() bool {
	switch k {
	case Int, Nat, Text, UUID, Hash:
		return true
	}
	return false
}

// DepthMax bounds how deep types nest, including the types that they refer to.
const DepthMax = 64

// Names of types that every document has; Receipt, Rejected and Frame are short for them. A run makes their values; no message contains
// them.
const (
	ReceiptType  = "sys/EffectReceiptEnvelope@1" // how an effect has ended
	RejectedType = "sys/EffectReceiptRejected@1" // a receipt whose payload is not of its type
	FrameType    = "sys/EffectStreamFrame@1"     // a report of an effect before its end
)

// Type is a type of values. A reference is the declared type itself, so a type that is used twice is one Type. It is
// immutable and safe for concurrent use.
type Type struct {
	Kind   Kind    // Invalid of a type that was refused
	Name   string  // under which it is declared; "" if it is written where it is used
	Fields []Field // of a record, or the arms of a variant; by name
	Elem   *Type   // of a list, a set or an option; of a map, that of its values
	Key    *Type   // of a map

	alias *Type            // the declared type that this declared type is another name of
	arms  map[string]*Type // of a variant
	depth int              // levels of types within each other; see resolve
	sum   [sha256.Size]byte
}

// Field is a field of a record, or an arm of a variant.
type Field struct {
	Name string // not empty
	Type *Type  // not nil
}

// Field returns the type of a field of a record or of an arm of a variant, or nil.
func (t *Type) Field(name string) *Type {
	i, ok := slices.BinarySearchFunc(t.Fields, name, func(f Field, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return nil
	}
	return t.Fields[i].Type
}

// Equal reports whether two types have the same values and the same normal forms. Names of types make no difference.
func (t *Type) Equal(u *Type) bool { return t.sum == u.sum }

// Types are the declared types of a document.
type Types struct {
	byName  map[string]*Type
	speller expr.Speller
}

// Names returns the names of the declared types, sorted.
func (ts *Types) Names() []string { return slices.Sorted(maps.Keys(ts.byName)) }

// Lookup returns the type with a name, declared or of every document; nil if there is none.
func (ts *Types) Lookup(name string) *Type {
	if t := ts.byName[name]; t != nil {
		return t
	}
	return systemTypes[name]
}

// systemTypes are the types that every document has, each with a short name too.
var systemTypes = func() map[string]*Type {
	all := map[string]*Type{}
	for short, name := range map[string]string{"Receipt": ReceiptType, "Rejected": RejectedType, "Frame": FrameType} {
		t := systemType(name)
		all[name], all[short] = t, t
	}
	return all
}()

func systemType(name string) *Type {
	return &Type{Kind: System, Name: name, depth: 1, sum: sha256.Sum256([]byte(name))}
}
