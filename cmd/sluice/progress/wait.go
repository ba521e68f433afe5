package progress

import (
	"strings"
	"time"

	"github.com/sluiceflow/sluice/reactive/inspect"
)

// WaitText describes a wait and its end for people: `message "approve" until 14:02:11`. The arguments are the kind of an
// inspect.Wait, its text, the outcome of its end, and the instant of its end; zero: it has no end.
func WaitText(kind inspect.WaitKind, what, then string, until time.Time) string {
	what = Clean(what)
	switch {
	case until.IsZero():
		return what
	case kind == inspect.ForTimer, kind == inspect.ForRetry:
		return then + " at " + Soon(until)
	case kind == inspect.ForAnswers && then != "":
		return what + "; " + then + " at " + Soon(until)
	}
	return what + " until " + Soon(until)
}

// Soon returns an instant for people, with its date unless the date is today's.
func Soon(t time.Time) string {
	t = t.Local()
	if now := time.Now(); t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// WaitsFor describes the wait of a step, call or cell for people; "" if none is known.
func WaitsFor(list []inspect.Wait) string {
	var parts []string
	for i := range list {
		w, until := &list[i], time.Time{}
		if w.Due > 0 {
			until = time.Unix(0, w.Due)
		}
		parts = append(parts, WaitText(w.Kind, w.What(), w.Then, until))
	}
	return strings.Join(parts, "; ")
}

// awaited describes the wait of a step that has a line of its own.
func (t *Tree) awaited(key string) string {
	if list := t.awaits[key]; len(list) > 0 {
		return "waits for " + WaitsFor(list)
	}
	return ""
}

// Awaits returns the run's waits, by the key of the step, call or cell. The map is the tree's own.
func (t *Tree) Awaits() inspect.Awaiting { return t.awaits }

// joined joins the texts that are not empty.
func joined(texts ...string) string {
	var parts []string
	for _, text := range texts {
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}
