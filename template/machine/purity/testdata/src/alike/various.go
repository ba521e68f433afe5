package alike

import (
	"fmt"
	"github.com/sluiceflow/sluice/template/flow/machine"
	"helper"
	"slices"
	"sort"
	"strings"
	"time"
)

type (
	S = helper.State
	E = helper.Event
	A = helper.Act
)

func firstErr(m map[string]int) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	sort.Sort(sort.Reverse(sort.StringSlice(out)))
	return
}

var _ = machine.Define("reverse", "1", func(a *A, s *S, e E) (*S, error) { s.Names = firstErr(e.Count); return s, nil })

var _ = machine.Define("compact", "1", func(a *A, s *S, e E) (*S, error) {
	for _, n := range e.Count {
		s.Names = append(s.Names, fmt.Sprint(n))
	}
	slices.Sort(s.Names)
	s.Names = slices.Compact(s.Names)
	return s, nil
})

type line struct {
	sku string
	n   int
}

var _ = machine.Define("sorted structs", "1", func(a *A, s *S, e E) (*S, error) {
	var lines []line
	for k, n := range e.Count {
		lines = append(lines, line{k, n})
	}
	slices.SortFunc(lines, func(x, y line) int { return strings.Compare(x.sku, y.sku) })
	for _, l := range lines {
		a.After(l.sku, time.Duration(l.n))
	}
	return s, nil
})

var _ = machine.Define("totals of struct", "1", func(a *A, s *S, e E) (*S, error) {
	var total struct{ n, cents int }
	for _, n := range e.Count {
		total.n++
		total.cents += n
	}
	s.N = total.cents / max(total.n, 1)
	return s, nil
})

var _ = machine.Define("equal maps", "1", func(a *A, s *S, e E) (*S, error) {
	if !equalMaps(s.Count, e.Count) {
		s.Count = e.Count
	}
	return s, nil
})

func equalMaps(x, y map[string]int) bool {
	if len(x) != len(y) {
		return false
	}
	for k, v := range x {
		if w, ok := y[k]; !ok || v != w {
			return false
		}
	}
	return true
}

var _ = machine.Define("nested maps", "1", func(a *A, s *S, e E) (*S, error) {
	out := map[string]map[string]int{}
	for k, n := range e.Count {
		if out[k] == nil {
			out[k] = map[string]int{}
		}
		out[k]["n"] += n
		out[k[:1]] = map[string]int{}
	}
	return s, nil
})

var statusNames = [...]string{"a", "b"}

type status int

func (s status) String() string { return statusNames[s] }

var byName = func() map[string]status {
	m := map[string]status{}
	for i, n := range statusNames {
		m[n] = status(i)
	}
	return m
}()

var _ = machine.Define("enum", "1", func(a *A, s *S, e E) (*S, error) {
	st, ok := byName[s.Text]
	if !ok {
		return s, fmt.Errorf("unknown %v", st)
	}
	return s, nil
})

type validationError struct{ fields []string }

func (v *validationError) Error() string { return strings.Join(v.fields, ",") }

var _ = machine.Define("error type", "1", func(a *A, s *S, e E) (*S, error) {
	v := &validationError{}
	if s.N < 0 {
		v.fields = append(v.fields, "n")
	}
	if len(v.fields) > 0 {
		return nil, v
	}
	return s, nil
})

var _ = machine.Define("filter in place", "1", func(a *A, s *S, e E) (*S, error) {
	s.Names = slices.DeleteFunc(s.Names, func(n string) bool { _, ok := e.Count[n]; return !ok })
	return s, nil
})

var handlers map[string]func(*S) error

func init() {
	handlers = map[string]func(*S) error{"a": func(s *S) error { s.N++; return nil }}
}

var _ = machine.Define("table of handlers", "1", func(a *A, s *S, e E) (*S, error) {
	if h := handlers[s.Text]; h != nil {
		return s, h(s)
	}
	return s, nil
})
