package net

import (
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// keychain is what the templates of tools see of the keychain: a mark in the place of every secret. Whoever makes the call
// puts the secrets in.
func (n *Net) keychain() value.Value {
	out := map[string]any{}
	for i := range n.book.Keychain {
		s := &n.book.Keychain[i]
		entry := map[string]any{}
		for k := range s.Data {
			entry[k] = playbook.Mark(s.Name, k)
		}
		out[s.Name] = entry
	}
	return out
}
