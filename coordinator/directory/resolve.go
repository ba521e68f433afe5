package directory

import (
	"time"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// Resolve returns the participants of a target at an instant, in the order in which they are asked, each once:
//
//   - static: those that the target names, in its order. The directory need not list them.
//   - capability: the holders of a valid passport for it whose attributes match the filter, in the order of the directory,
//     at most Limit of them.
//   - task_type: the first holder of a valid passport for it.
//
// It returns nil if there is none, also for a nil target. A nil d is a directory without participants. The caller owns the
// result. It takes time proportional to the participants named or to the passports for the capability, at most until the limit
// is reached.
func Resolve(d Directory, t *template.Target, at time.Time) []string {
	switch {
	case t == nil:
		return nil
	case t.Resolve == template.ResolveStatic:
		return distinct(t.Participants)
	case d == nil:
		return nil
	case t.Resolve == template.ResolveCapability:
		return holders(d.Passports(t.CapabilityID), t.Filter, at, t.Limit)
	case t.Resolve == template.ResolveTaskType:
		return holders(d.Passports(t.CapabilityID), nil, at, 1)
	}
	return nil // Check accepts no other
}

// distinct removes repeated ids.
func distinct(ids []string) []string {
	var out chosen
	for _, id := range ids {
		out.add(id)
	}
	return out.ids
}

// holders returns the holders of passports that are valid at an instant and match a filter. A holder of several counts once,
// in the place of the first: a limit is a number of participants, not of passports. Limit 0 means no limit.
func holders(passports []template.Passport, filter map[string]value.Value, at time.Time, limit int) []string {
	var out chosen
	for i := range passports {
		if limit > 0 && len(out.ids) == limit {
			break
		}
		if p := &passports[i]; isValid(p, at) && matches(p.Attributes, filter) {
			out.add(p.Participant)
		}
	}
	return out.ids
}

// isValid reports whether a passport is valid at an instant: from ValidFrom on, and before ValidUntil.
func isValid(p *template.Passport, at time.Time) bool {
	return !p.Revoked &&
		(p.ValidFrom.IsZero() || !at.Before(p.ValidFrom)) &&
		(p.ValidUntil.IsZero() || at.Before(p.ValidUntil))
}

// matches reports whether each key of a filter equals the attribute of that name. A missing attribute equals nothing, not even
// null.
func matches(attributes, filter map[string]value.Value) bool {
	for key, want := range filter {
		if got, ok := attributes[key]; !ok || !value.Equal(got, want) {
			return false
		}
	}
	return true
}

// chosen collects distinct ids. Most targets have a handful of participants, which a search finds without an index.
type chosen struct {
	ids  []string
	seen map[string]bool // nil while there are few
}

const chosenScanned = 16

func (c *chosen) add(id string) {
	if c.has(id) {
		return
	}
	c.ids = append(c.ids, id)
	switch {
	case c.seen != nil:
		c.seen[id] = true
	case len(c.ids) > chosenScanned:
		c.seen = make(map[string]bool, 2*len(c.ids))
		for _, id := range c.ids {
			c.seen[id] = true
		}
	}
}

func (c *chosen) has(id string) bool {
	if c.seen != nil {
		return c.seen[id]
	}
	for _, known := range c.ids {
		if known == id {
			return true
		}
	}
	return false
}
