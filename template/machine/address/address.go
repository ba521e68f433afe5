// Package address writes the addresses of cells, which the names of calls and child runs are made of.
package address

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// Of returns the address of a cell: machine[key], or only the name of a machine without a key. A key whose type is not text is
// written as compact JSON, so the texts of all other types stand in quotes. White space and / [ ] # % are escaped, so that names
// made of an address are unambiguous. The key is in normal form; its type is nil for a machine without a key.
func Of(machine string, of *schema.Type, key value.Value) string {
	if of == nil {
		return Escape(machine)
	}
	text, isText := key.(string)
	if !isText || of.Kind != schema.Text {
		data, err := value.JSON(key)
		if err != nil {
			panic(fmt.Sprintf("address: a key in normal form has no JSON: %v", err))
		}
		text = string(data)
	}
	return Escape(machine) + "[" + Escape(text) + "]"
}

// Key returns the key between the brackets of an address, in normal form. It also takes a text
// without its quotes, and JSON that is not in normal form: the address of the key has the normal form.
func Key(of *schema.Type, written string) (value.Value, error) {
	if of.Kind == schema.Text {
		return of.Normalize(written)
	}
	v, err := value.ParseJSON([]byte(written))
	if err == nil {
		v, err = of.Normalize(v)
	}
	if err == nil {
		return v, nil
	}
	if plain, plainErr := of.Normalize(written); plainErr == nil {
		return plain, nil
	}
	return nil, err
}

// Escape writes white space, control characters and / [ ] # % of a name as %XX, for the bytes of their UTF-8.
func Escape(name string) string {
	if !strings.ContainsFunc(name, escaped) {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		if !escaped(r) {
			b.WriteRune(r)
			continue
		}
		for _, c := range utf8.AppendRune(nil, r) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func escaped(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("/[]#%", r)
}

// Unescape returns the name that Escape writes so. It is strict, so that a cell has one address.
func Unescape(text string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			b.WriteByte(text[i])
			continue
		}
		var c byte
		if i+2 >= len(text) {
			return "", fmt.Errorf("invalid address %s: %%XX stands for a byte", document.Quote(text))
		}
		if n, err := fmt.Sscanf(text[i+1:i+3], "%02X", &c); n != 1 || err != nil {
			return "", fmt.Errorf("invalid address %s: %%XX stands for a byte", document.Quote(text))
		}
		b.WriteByte(c)
		i += 2
	}
	if plain := b.String(); Escape(plain) == text && utf8.ValidString(plain) {
		return plain, nil
	}
	return "", fmt.Errorf("invalid address %s: white space and / [ ] # %% are written %%XX, and nothing else is", document.Quote(text))
}
