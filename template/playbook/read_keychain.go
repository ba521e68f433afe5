package playbook

import (
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/secret"
)

// secrets reads the keychain, and records the secrets that expressions read.
type secrets struct {
	expressions
	ring secret.Reader
}

// keychain reads the sources of secrets.
func (r *secrets) keychain(n *document.Node) {
	r.ring = secret.Reader{
		Reader: &r.Reader.Reader, Names: []string{"workload", keychainName},
		Compile: func(n *document.Node, names []string) secret.Expr {
			if e := r.expression(n, names); e != nil {
				return e
			}
			return nil
		},
		NoEffect: func(n *document.Node, why string) { r.noEffect(why)(n) },
	}
	r.ring.Read(n)
	r.book.Keychain = r.ring.Entries
}

// secretsOf returns the marks of the secrets that an expression reads.
func (r *secrets) secretsOf(pos document.Pos, e Expr) []string {
	if e == nil {
		return nil
	}
	r.ring.Reader = &r.Reader.Reader
	return r.ring.Marks(pos, e)
}
