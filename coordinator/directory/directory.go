package directory

import (
	"time"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// Directory says who can be targeted. It is safe for concurrent use.
type Directory interface {
	// Participant is what bindings see of a participant; false when the directory does not know it.
	Participant(id string) (about map[string]any, ok bool)

	// Passports are those for a capability, valid or not, in order.
	Passports(capability string) []template.Passport
}

// Resolve gives the participants that a target means at an instant, each once, in order.
func Resolve(d Directory, t *template.Target, at time.Time) []string {
	if t.Resolve == template.ResolveStatic {
		return distinct(t.Participants, 0)
	}
	limit := t.Limit
	if t.Resolve == template.ResolveTaskType {
		limit = 1
	}
	var list []string
	for _, p := range d.Passports(t.CapabilityID) {
		if valid(&p, at) && matches(&p, t.Filter) {
			list = append(list, p.Participant)
		}
	}
	return distinct(list, limit)
}

// valid reports whether a passport holds at an instant. Its last instant is the one before ValidUntil.
func valid(p *template.Passport, at time.Time) bool {
	return !p.Revoked && !at.Before(p.ValidFrom) && (p.ValidUntil.IsZero() || at.Before(p.ValidUntil))
}

// matches reports whether each key of the filter equals the attribute of that name.
func matches(p *template.Passport, filter map[string]value.Value) bool {
	for key, want := range filter {
		have, ok := p.Attributes[key]
		if !ok || !value.Equal(have, want) {
			return false
		}
	}
	return true
}

func distinct(ids []string, limit int) []string {
	var list []string
	seen := map[string]bool{}
	for _, id := range ids {
		if limit > 0 && len(list) == limit {
			break
		}
		if !seen[id] {
			seen[id] = true
			list = append(list, id)
		}
	}
	return list
}

// Of is the directory that a document holds; nil is one that knows nobody.
func Of(d *template.Directory) Directory {
	if d == nil {
		d = &template.Directory{}
	}
	return fixed{d}
}

type fixed struct{ d *template.Directory }

func (f fixed) Participant(id string) (map[string]any, bool) {
	v, ok := f.d.Participants[id]
	about, _ := v.(map[string]any)
	return about, ok
}

func (f fixed) Passports(capability string) []template.Passport { return f.d.Capabilities[capability] }
