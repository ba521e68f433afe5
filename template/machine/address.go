package machine

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/schema"
	"github.com/sluiceflow/sluice/template/value"
)

// Address returns the address of a cell: machine[key], or only the name of a machine without a key. A key that is no text is
// written as compact JSON. White space and / [ ] # % are escaped, so that names made of an address are unambiguous. The key is
// in normal form.
func Address(m *Machine, key value.Value) string {
	if m.Key == nil {
		return Escape(m.Name)
	}
	text, isText := key.(string)
	if !isText || !textual(m.Key) {
		data, err := value.JSON(key)
		if err != nil {
			panic(fmt.Sprintf("machine: a key in normal form has no JSON: %v", err))
		}
		text = string(data)
	}
	return Escape(m.Name) + "[" + Escape(text) + "]"
}

// textual reports whether the values of a type are texts that only that type can mean: they are addressed without quotes.
func textual(t *schema.Type) bool {
	switch t.Kind {
	case schema.Text, schema.Bytes, schema.Time, schema.Duration, schema.Hash, schema.UUID, schema.Dec128:
		return true
	}
	return false
}

// ParseAddress returns the machine and the key of an address. It does not say whether there is such a cell.
func (w *World) ParseAddress(text string) (*Machine, value.Value, error) {
	name, rest, keyed := strings.Cut(text, "[")
	plain, err := unescape(name)
	if err != nil {
		return nil, nil, err
	}
	m := w.Machine(plain)
	if m == nil {
		return nil, nil, unknown("machine", plain, w.MachineNames())
	}
	switch {
	case m.Key == nil && keyed:
		return nil, nil, fmt.Errorf("machine %q has no key: its cell is %s", m.Name, Address(m, nil))
	case m.Key == nil:
		return m, nil, nil
	case !keyed || !strings.HasSuffix(rest, "]"):
		return nil, nil, fmt.Errorf("machine %q is keyed: a cell of it is %s[KEY]", m.Name, Escape(m.Name))
	}
	written, err := unescape(strings.TrimSuffix(rest, "]"))
	if err != nil {
		return nil, nil, err
	}
	key, err := m.readKey(written)
	if err != nil {
		return nil, nil, fmt.Errorf("invalid key of machine %q in %s: %w", m.Name, document.Quote(text), err)
	}
	return m, key, nil
}

func (m *Machine) readKey(written string) (value.Value, error) {
	var v value.Value = written
	if !textual(m.Key) {
		var err error
		if v, err = value.ParseJSON([]byte(written)); err != nil {
			return nil, err
		}
	}
	return m.Key.Normalize(v)
}

// unknown is the error for a name that is not there, with the one that was meant.
func unknown(what, name string, known []string) error {
	msg := fmt.Sprintf("unknown %s %s", what, document.Quote(name))
	if near, ok := expr.Nearest(name, known); ok {
		msg += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return fmt.Errorf("%s", msg)
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

// unescape is strict, so that a cell has one address.
func unescape(text string) (string, error) {
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
