package directory

import (
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// Directory is who can be targeted. Implementations are safe for concurrent use, and answer at once: they are asked in the
// middle of starting an attempt. What they return is never changed by anybody. A panic in Passports fails the step that asks,
// one in Participant the call to that participant; so does a participant without an id, or with one that is not UTF-8.
type Directory interface {
	// Participant gives what is known about a participant, which bindings see as `participant`. It reports false for one
	// that the directory does not know; such a participant can be targeted by name all the same.
	Participant(id string) (about value.Value, ok bool)

	// Passports gives the passports for a capability in the order in which their holders are asked, valid or not; none for a
	// capability that nobody offers.
	Passports(capability string) []template.Passport
}

// Of gives the directory that a document holds; nil is one without participants. The caller must not change d any more.
func Of(d *template.Directory) Directory {
	if d == nil {
		d = &template.Directory{}
	}
	return written{d}
}

// written is a directory as it was written down. It is immutable.
type written struct{ *template.Directory }

func (w written) Participant(id string) (value.Value, bool) {
	about, ok := w.Participants[id]
	return about, ok
}

func (w written) Passports(capability string) []template.Passport { return w.Capabilities[capability] }
