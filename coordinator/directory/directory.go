package directory

import (
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// Directory lists the participants that calls can target. Implementations are safe for concurrent use and return at once,
// because the start of an attempt waits for them. No caller changes their results. A panic in Passports fails the step that calls it, a
// panic in Participant fails the call to that participant; so does a participant whose id is empty or not UTF-8.
type Directory interface {
	// Participant returns the data about a participant, which bindings read as `participant`. It returns false if the
	// directory does not list it; such a participant can still be targeted by name.
	Participant(id string) (about value.Value, ok bool)

	// Passports returns the passports for a capability, valid or not, in the order in which their holders are asked; none if
	// no participant offers it.
	Passports(capability string) []template.Passport
}

// Of returns the directory of a document; nil makes one without participants. The caller must not change d afterwards.
func Of(d *template.Directory) Directory {
	if d == nil {
		d = &template.Directory{}
	}
	return written{d}
}

// written is a Directory as written in a document. It is immutable.
type written struct{ *template.Directory }

func (w written) Participant(id string) (value.Value, bool) {
	about, ok := w.Participants[id]
	return about, ok
}

func (w written) Passports(capability string) []template.Passport { return w.Capabilities[capability] }
