package schema

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
)

// NameBytesMax bounds names of types, and all other names that ValidName judges.
const NameBytesMax = 128

// ValidName returns an error that shows name unless it can be a name in a world: it is printable, without white space and
// [ ] #, because the addresses of cells are composed of names.
func ValidName(name string) error { return validName(name, "[]#") }

// validName is ValidName for names that have none of some characters.
func validName(name, without string) error {
	return document.ValidName("a name", name, without, NameBytesMax)
}

// validTypeName is ValidName for the names of types and arms: texts such as map<K, V> contain them, and an arm differs from $tag and
// $value.
func validTypeName(name string) error {
	if err := validName(name, "[]#<>,"); err != nil {
		return err
	}
	if strings.HasPrefix(name, "$") {
		return fmt.Errorf("%s: a name does not begin with $", document.Quote(name))
	}
	return nil
}

// wordKinds are the kinds by their words in documents.
var wordKinds = func() map[string]Kind {
	words := map[string]Kind{}
	for k := Bool; k <= Option; k++ {
		words[k.String()] = k
	}
	return words
}()

// otherWords are the words of other languages for types of this one, for suggestions.
var otherWords = map[string]string{
	"string": "text", "str": "text", "varchar": "text", "integer": "int", "int32": "int", "int64": "int", "long": "int", "uint": "nat", "uint64": "nat",
	"boolean": "bool", "float": "dec128", "double": "dec128", "number": "dec128", "decimal": "dec128",
	"timestamp": "time", "datetime": "time", "date": "time", "binary": "bytes", "blob": "bytes", "null": "unit", "void": "unit",
	"array": "list", "object": "record", "struct": "record", "enum": "variant", "oneof": "variant", "union": "variant",
	"optional": "option", "nullable": "option", "dict": "map",
}
