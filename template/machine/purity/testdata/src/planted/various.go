package planted

import (
	"context"
	"fmt"
	"github.com/sluiceflow/sluice/template/flow/machine"
	"helper"
	"helper/deep"
	"iter"
	"math/rand"
	"os"
	"reflect"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"time"
)

type (
	S = helper.State
	E = helper.Event
	A = helper.Act
)

var roll = func() int { return rand.Int() }() // want `machine "rolled variable" is impure: math/rand\.Int is random at`

var _ = machine.Define("rolled variable", "1", func(a *A, s *S, e E) (*S, error) { return &S{N: roll}, nil })

type clk struct{ now func() time.Time }

var theClk = clk{now: time.Now} // want `machine "field of variable" is impure: time\.Now depends on the clock at`

var _ = machine.Define("field of variable", "1", func(a *A, s *S, e E) (*S, error) { return &S{N: theClk.now().Second()}, nil })

var _ = machine.Define("any then assert", "1", func(a *A, s *S, e E) (*S, error) {
	var v any = deep.Wall{} // want `machine "any then assert" is impure: time\.Now depends on the clock at`
	return &S{N: v.(deep.Clock).Time().Second()}, nil
})

var _ = machine.Define("ctx", "1", func(a *A, s *S, e E) (*S, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 1) // want `machine "ctx" is impure: context\.WithTimeout depends on the clock at`
	defer cancel()
	return s, ctx.Err() // want `machine "ctx" is impure: context\.Context\.Err synchronises goroutines at`
})

var _ = machine.Define("debug", "1", func(a *A, s *S, e E) (*S, error) { return &S{Text: string(debug.Stack())}, nil }) // want `machine "debug" is impure: runtime/debug\.Stack depends on the process at`

var _ = machine.Define("mapkeys", "1", func(a *A, s *S, e E) (*S, error) {
	for _, k := range reflect.ValueOf(e.Count).MapKeys() { // want `machine "mapkeys" is impure: reflect\.Value\.MapKeys has the order of a map, which is random at`
		s.Names = append(s.Names, k.String())
	}
	return s, nil
})

var _ = machine.Define("join", "1", func(a *A, s *S, e E) (*S, error) {
	var parts []string
	for k, v := range e.Count {
		parts = append(parts, fmt.Sprintf("%s=%d", k, v)) // want `machine "join" is impure: the range over the map e\.Count \(line 58\) shows its order: it appends to parts, which is not sorted after it at`
	}
	return &S{Text: strings.Join(parts, ",")}, nil
})

func keys(m map[string]int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) { // want `machine "yield" is impure: the range over the map m \(line 66\) shows its order: it passes each entry to yield at`
				return
			}
		}
	}
}

var _ = machine.Define("yield", "1", func(a *A, s *S, e E) (*S, error) {
	for k := range keys(e.Count) {
		s.Names = append(s.Names, k)
	}
	return s, nil
})

var pool = sync.Pool{New: func() any { return new(S) }}

var _ = machine.Define("pool", "1", func(a *A, s *S, e E) (*S, error) { return pool.Get().(*S), nil }) // want `machine "pool" is impure: sync\.Pool\.Get synchronises goroutines at`

var last S

func keep(s *S) { p := &last; *p = *s } // want `machine "pointer to variable" is impure: keep changes the package variable last at`

var _ = machine.Define("pointer to variable", "1", func(a *A, s *S, e E) (*S, error) { keep(s); return s, nil })

var _ = machine.Define("sum then used as text", "1", func(a *A, s *S, e E) (*S, error) {
	for k := range e.Count {
		if len(s.Names) < 3 { // want `machine "sum then used as text" is impure: the range over the map e\.Count \(line 92\) shows its order: it reads s\.Names, which the entries before have changed at`
			s.Names = append(s.Names, k)
		}
	}
	sort.Strings(s.Names)
	return s, nil
})

var _ = machine.Define("switch in range", "1", func(a *A, s *S, e E) (*S, error) {
	for k, n := range e.Count {
		switch {
		case n > 3:
			s.Text = k // want `machine "switch in range" is impure: the range over the map e\.Count \(line 102\) shows its order: it sets s\.Text to k, and the last entry wins at`
		default:
			if s.Text == "" {
				s.Text = "none"
			}
		}
	}
	return s, nil
})

var _ = machine.Define("pointer alias in range", "1", func(a *A, s *S, e E) (*S, error) {
	p := s
	for k := range e.Count {
		p.Names = append(p.Names, k) // want `machine "pointer alias in range" is impure: the range over the map e\.Count \(line 117\) shows its order: it appends to p\.Names, which is not sorted after it at`
	}
	return s, nil
})

var _ = machine.Define("group pointers", "1", func(a *A, s *S, e E) (*S, error) {
	groups := map[int]*S{}
	for k, n := range e.Count {
		g := groups[n]
		if g == nil {
			g = &S{}
			groups[n] = g
		}
		g.Names = append(g.Names, k) // want `machine "group pointers" is impure: the range over the map e\.Count \(line 125\) shows its order: it appends to g\.Names, which is not sorted after it at`
	}
	return groups[3], nil
})

type repo interface{ Load(string) (string, error) }

type fileRepo struct{ dir string }

func (f fileRepo) Load(n string) (string, error) { b, err := os.ReadFile(n); return string(b), err } // want `the machine of Machines is impure: os\.ReadFile depends on the operating system at`

type svc struct{ repo repo }

func newSvc(r repo) *svc { return &svc{repo: r} }

func (s *svc) step(a *A, st *S, e E) (*S, error) {
	t, err := s.repo.Load("x")
	st.Text = t
	return st, err
}

func (s *svc) Machines() []*machine.Definition {
	return []*machine.Definition{machine.Define("service", "1", s.step)}
}

func Main() { newSvc(fileRepo{"."}).Machines() }

var steps = map[string]func(*A, *S, E) (*S, error){"table": sleepy}

func sleepy(a *A, s *S, e E) (*S, error) { time.Sleep(1); return s, nil } // want `machine n is impure: time\.Sleep depends on the clock at`

func init() {
	for n, st := range steps {
		machine.Define(n, "1", st)
	}
}

var _ = machine.Define("sprint chan", "1", func(a *A, s *S, e E) (*S, error) { return &S{Text: fmt.Sprint(helper.Total)}, nil }) // want `machine "sprint chan" is impure: fmt\.Sprint of helper\.Total, a func\(list \[\]int\) int, prints an address at`

var _ = machine.Define("first", "1", func(a *A, s *S, e E) (*S, error) {
	for k := range e.Count {
		s.Text = k // want `machine "first" is impure: the range over the map e\.Count \(line 171\) shows its order: it sets s\.Text to k, and the last entry wins at`
		break
	}
	return s, nil
})

var _ = machine.Define("raise in nested", "1", func(a *A, s *S, e E) (*S, error) {
	for k := range e.Count {
		func() { a.Note(k) }() // want `machine "raise in nested" is impure: the range over the map e\.Count \(line 179\) shows its order: it calls a\.Note, which changes a, for each entry at`
	}
	return s, nil
})

var _ = machine.Define("draws in map order", "1", func(a *A, s *S, e E) (*S, error) {
	for k := range e.Count {
		s.Count[k] = int(a.Rand()) // want `machine "draws in map order" is impure: the range over the map e\.Count \(line 186\) shows its order: it calls a\.Rand, which changes a, for each entry at`
	}
	return s, nil
})

var cacheVar = map[string]string{}

type cache struct{ m map[string]string }

var c1 = &cache{m: cacheVar}

func (c *cache) get(k string) string {
	if v, ok := c.m[k]; ok {
		return v
	}
	c.m[k] = strings.ToUpper(k)
	return c.m[k]
}

var _ = machine.Define("memo", "1", func(a *A, s *S, e E) (*S, error) { return &S{Text: c1.get(s.Text)}, nil }) // want `machine "memo" is impure: the function literal changes the package variable c1 at`

var fn func() int

func init() { fn = func() int { return os.Getpid() } } // want `machine "function set by init" is impure: os\.Getpid depends on the operating system at`

var _ = machine.Define("function set by init", "1", func(a *A, s *S, e E) (*S, error) { return &S{N: fn()}, nil })
