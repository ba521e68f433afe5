package machine

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/machine/address"
	"github.com/sluiceflow/sluice/template/value"
)

// Address returns the address of a cell, whose key is in normal form.
func Address(m *Machine, key value.Value) string { return address.Of(m.Name, m.Key, key) }

// Escape returns a name in the form in which the names of calls contain it.
func Escape(name string) string { return address.Escape(name) }

// ParseAddress returns the machine and the key of an address, whether or not the cell exists. A cell has one address:
// another spelling of its key is refused, with the address.
func (w *World) ParseAddress(text string) (*Machine, value.Value, error) {
	name, rest, keyed := strings.Cut(text, "[")
	plain, err := address.Unescape(name)
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
	written, err := address.Unescape(strings.TrimSuffix(rest, "]"))
	if err != nil {
		return nil, nil, err
	}
	key, err := address.Key(m.Key, written)
	if err != nil {
		return nil, nil, fmt.Errorf("invalid key of machine %q in %s: %w", m.Name, document.Quote(text), err)
	}
	if own := Address(m, key); own != text {
		return nil, nil, fmt.Errorf("invalid address %s: this cell is %s", document.Quote(text), own)
	}
	return m, key, nil
}

// unknown returns the error about an unknown name, with the nearest known one.
func unknown(what, name string, known []string) error {
	msg := fmt.Sprintf("unknown %s %s", what, document.Quote(name))
	if near, ok := expr.Nearest(name, known); ok {
		msg += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return fmt.Errorf("%s", msg)
}
