// Package shop has machines as users write them, which are pure.
package shop

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/template/flow/machine"
)

type Charge struct{ Txn string }
type PayParams struct {
	Order string
	Cents int
}
type OrderPlaced struct {
	ID    string
	Items map[string]int
}
type Order struct {
	Status string
	Lines  []Line
	Total  float64
	Memo   *string
	By     map[string]*Line
}
type Line struct {
	SKU string
	N   int
}
type Event struct {
	Placed *OrderPlaced
	Paid   *Charge
}

var Pay = machine.Effect[PayParams, Charge]("pay")
var ErrLate = fmt.Errorf("late")

type policy struct {
	limit int
	fees  map[string]int
	log   func(string)
}

func (p *policy) fee(k string) int      { return p.fees[k] }
func (p policy) withLimit(n int) policy { p.limit = n; return p }

var defaultPolicy = &policy{limit: 3, fees: map[string]int{"a": 1}}

var Orders = machine.Define("order", "3", step, machine.Emits(Pay), machine.Migrate("2", fromV2))

func fromV2(o map[string]any) (*Order, error) {
	o["x"] = 1
	b, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var out Order
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.DisallowUnknownFields()
	return &out, dec.Decode(&out)
}

func step(a *machine.Activation[string], s *Order, e Event) (*Order, error) {
	switch {
	case s == nil && e.Placed != nil:
		Pay.Emit(a, PayParams{Order: a.Key(), Cents: 3})
		a.After("deadline", 30*time.Minute)
		o := &Order{Status: "paying", By: map[string]*Line{}}
		for sku, n := range e.Placed.Items {
			o.Lines = append(o.Lines, Line{sku, n})
			o.By[sku] = &Line{SKU: sku, N: n * defaultPolicy.fee(sku)}
		}
		slices.SortFunc(o.Lines, func(x, y Line) int { return strings.Compare(x.SKU, y.SKU) })
		for _, l := range o.Lines {
			o.Total += float64(l.N)
		}
		return o, nil
	case e.Paid != nil:
		if defaultPolicy.withLimit(4).limit < 3 {
			return nil, errors.Join(ErrLate, fmt.Errorf("paid %s at %s", e.Paid.Txn, a.Now()))
		}
		memo := fmt.Sprintf("%s paid", e.Paid.Txn)
		s.Memo = &memo
		return s, nil
	}
	return s.next(a)
}

func (o *Order) next(a *machine.Activation[string]) (*Order, error) {
	var names []string
	for name := range o.By {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return names[i] < names[j] })
	byN := map[int][]string{}
	for name, l := range o.By {
		byN[l.N] = append(byN[l.N], name)
	}
	for n := range byN {
		sort.Strings(byN[n])
	}
	counts := make(map[string]struct{ n, total int })
	for name, l := range o.By {
		c := counts[name]
		c.n++
		c.total += l.N
		counts[name] = c
	}
	all := true
	for _, l := range o.By {
		if l.N == 0 {
			all = false
		}
	}
	var oldest time.Time
	for _, l := range o.By {
		t := time.Unix(int64(l.N), 0)
		if oldest.IsZero() || t.Before(oldest) {
			oldest = t
		}
	}
	bits := uint64(0)
	for _, l := range o.By {
		bits |= 1 << l.N
		bits |= uint64(l.N)
	}
	if all {
		return nil, nil
	}
	return o, nil
}

// What a step does not name may have any state.
var registry = map[string]func(*Order) error{}
var mu sync.Mutex

func Register(name string, f func(*Order) error) { mu.Lock(); registry[name] = f; mu.Unlock() }

type visitor struct{ seen []string }

func (v *visitor) visit(l Line) { v.seen = append(v.seen, l.SKU) }
func walk(o *Order, f func(Line)) {
	for _, l := range o.Lines {
		f(l)
	}
}

var Visits = machine.Define("visits", "1", func(a *machine.Activation[string], s *Order, e Event) (*Order, error) {
	v := &visitor{}
	walk(s, v.visit)
	count := 0
	walk(s, func(Line) { count++ })
	s.Status = strings.Join(v.seen, ",")
	defer func() {
		if r := recover(); r != nil {
			s.Status = fmt.Sprint(r)
		}
	}()
	return s, nil
})

type Config struct{ Fee int }

func Machines(c Config) []*machine.Definition {
	return []*machine.Definition{
		machine.Define("fees", "1", func(a *machine.Activation[string], s *Order, e Event) (*Order, error) {
			s.Total += float64(c.Fee)
			return s, nil
		}),
		machine.Define("fees2", "1", c.step),
	}
}
func (c Config) step(a *machine.Activation[string], s *Order, e Event) (*Order, error) {
	c.Fee++
	return s, nil
}

func Run() {
	cfg := Config{Fee: time.Now().Second()}
	cfg.Fee = 4
	Machines(cfg)
}

func withLogging(name string, f func(*machine.Activation[string], *Order, Event) (*Order, error)) func(*machine.Activation[string], *Order, Event) (*Order, error) {
	return func(a *machine.Activation[string], s *Order, e Event) (*Order, error) {
		o, err := f(a, s, e)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return o, err
	}
}

var Logged = machine.Define("logged", "1", withLogging("logged", step))
